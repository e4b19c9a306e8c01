import { describe, expect, it } from "vitest";
import type { EndpointSlice } from "../../../../../src/api/meta/kubernetes";
import { endpointSlicesDefinition as definition } from "../../../../../src/api/registry/endpoint-slices/definition";
import { create, update } from "../outcomes";

const sent: EndpointSlice = {
  metadata: { name: "a" },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"] }],
  ports: [{ port: 80 }],
};

describe("defaults", () => {
  it("ports and endpoints: ports get name and protocol, endpoints get conditions", () => {
    const { object } = create(definition, sent);
    expect(object.ports).toEqual([{ name: "", protocol: "TCP", port: 80 }]);
    expect(object.endpoints).toEqual([{ addresses: ["10.0.0.1"], conditions: {} }]);
  });

  it("empty lists: present as null", () => {
    const bare = { metadata: { name: "a" }, addressType: "IPv4" } as EndpointSlice;
    expect(create(definition, bare).object).toMatchObject({ endpoints: null, ports: null });
    expect(create(definition, { ...sent, endpoints: [], ports: [] }).object).toMatchObject({ endpoints: null, ports: null });
  });
});

it("update of addressType: refused", () => {
  const before = create(definition, sent).object;
  const after = { ...sent, addressType: "FQDN", endpoints: [] };
  expect(update(definition, { after, before }).errors).toEqual(['addressType: Invalid value: "FQDN": field is immutable']);
});

describe("deprecatedTopology", () => {
  const withTopology = (hostname: string): EndpointSlice => ({
    ...sent,
    endpoints: [{ addresses: ["10.0.0.2"], deprecatedTopology: { "kubernetes.io/hostname": hostname, x: "y" } }],
  });

  it("create: dropped", () => {
    expect(create(definition, withTopology("n")).object.endpoints).toEqual([{ addresses: ["10.0.0.2"], conditions: {} }]);
  });

  it("update: the node's name of the stored object moves into nodeName", () => {
    const before: EndpointSlice = {
      ...withTopology("n"),
      endpoints: [{ addresses: ["10.0.0.9"], deprecatedTopology: { "kubernetes.io/hostname": "n" } }],
    };
    expect(update(definition, { after: withTopology("n"), before }).object.endpoints).toEqual([
      { addresses: ["10.0.0.2"], conditions: {}, nodeName: "n" },
    ]);
    expect(update(definition, { after: withTopology("m"), before }).object.endpoints).toEqual([
      { addresses: ["10.0.0.2"], conditions: {} },
    ]);
  });

  it("update without a change of the endpoints: kept", () => {
    const before = withTopology("n");
    expect(update(definition, { after: withTopology("n"), before }).object.endpoints[0]).toHaveProperty("deprecatedTopology");
  });
});

describe("warnings", () => {
  it("addressType FQDN: a warning on create only", () => {
    const slice: EndpointSlice = { ...sent, addressType: "FQDN", endpoints: [{ addresses: ["example.com"] }] };
    const created = create(definition, slice);
    expect(created.warnings).toEqual(["spec.addressType: FQDN endpoints are deprecated"]);
    expect(update(definition, { after: slice, before: created.object }).warnings).toEqual([]);
  });

  it("a slice of a built-in controller: no warning", () => {
    const slice = (managedBy: string): EndpointSlice => ({
      metadata: { name: "a", labels: { "endpointslice.kubernetes.io/managed-by": managedBy } },
      addressType: "IPv6",
      endpoints: [{ addresses: ["2001:DB8::1"] }],
      ports: [],
    });
    const warning = 'endpoints[0].addresses[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")';
    expect(definition.strategy.warnings(slice("me"))).toEqual([warning]);
    expect(definition.strategy.warnings(slice("endpointslice-controller.k8s.io"))).toEqual([]);
  });
});

it.each<{ name: string; given: Partial<EndpointSlice>; want: [string, string] }>([
  { name: "nothing", given: { endpoints: [], ports: [] }, want: ["<unset>", "<unset>"] },
  {
    name: "names stand in for numbers",
    given: { ports: [{ name: "http", port: 80 }, { name: "any" }, {}], endpoints: [{ addresses: ["10.0.0.1", "10.0.0.2"] }] },
    want: ["80,any,*", "10.0.0.1,10.0.0.2"],
  },
  { name: "empty names", given: { ports: [{ name: "" }, { name: "", port: 80 }, { name: "" }] }, want: [",80,", "<unset>"] },
  { name: "one empty name", given: { ports: [{ name: "" }] }, want: ["<unset>", "<unset>"] },
  {
    name: "more than three",
    given: {
      ports: [1, 2, 3, 4].map((port) => ({ port })),
      endpoints: [1, 2, 3, 4, 5].map((n) => ({ addresses: [`10.0.0.${String(n)}`] })),
    },
    want: ["1,2,3 + 1 more...", "10.0.0.1,10.0.0.2,10.0.0.3 + 2 more..."],
  },
])("$name: cells as kubectl shows them upstream", ({ given, want }) => {
  const slice = { metadata: { name: "a" }, addressType: "IPv4", endpoints: [], ...given } as EndpointSlice;
  expect(definition.cells(slice, 0)).toEqual(["a", "IPv4", ...want, "<unknown>"]);
});
