import { expect, it } from "vitest";
import type { IPAddress } from "../../../../../src/api/meta/kubernetes";
import { ipAddressesDefinition } from "../../../../../src/api/registry/ip-addresses/definition";
import { ipAddressStrategy } from "../../../../../src/api/registry/ip-addresses/strategy";
import { texts } from "../services/a-service";
import { CONTEXT, create, update } from "../outcomes";
import { upstreamRow } from "../../../../conformance/upstream-row";

type ParentRef = NonNullable<IPAddress["spec"]>["parentRef"];

const parentRef = { group: "", resource: "services", namespace: "ns", name: "foo" };

upstreamRow("TestValidateServiceCIDR(+Update), TestValidateIPAddress(+Update)", () => {
  it.each<[string, string[]]>([
    ["10.0.0.1", []],
    ["255.255.255.255", []],
    ["fe80::42:1dff:fe84:f9e2", []],
    ["::", []],
    ["foo", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]],
    ["", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]],
    ["10.0.0.01", ["must not have leading 0s"]],
    ["::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"]],
    ["2001:4860:4860:0::8888", ['must be in canonical form ("2001:4860:4860::8888")']],
    ["2001:DB8::1", ['must be in canonical form ("2001:db8::1")']],
  ])("name %j: accepted only as a canonical address", (name, want) => {
    expect(ipAddressStrategy.validateName(name)).toEqual(want);
  });
});

upstreamRow("TestDeclarativeValidateIPAddress(+Update)", () => {
  it.each<{ name: string; given: unknown; want: (string | RegExp)[] }>([
    { name: "good", given: parentRef, want: [] },
    { name: "of any resource, without a namespace", given: { group: "example.com", resource: "things", name: "x" }, want: [] },
    { name: "absent", given: undefined, want: ["spec.parentRef: Required value"] },
    { name: "null", given: null, want: ["spec.parentRef: Required value"] },
    { name: "empty", given: {}, want: ["spec.parentRef.resource: Required value", "spec.parentRef.name: Required value"] },
    {
      name: "bad group",
      given: { ...parentRef, group: "A_" },
      want: [/^spec\.parentRef\.group: Invalid value: "A_": a lowercase RFC 1123 subdomain/],
    },
    {
      name: "unsafe segments",
      given: { resource: "a/b", namespace: "..", name: "a%b" },
      want: [
        "spec.parentRef.resource: Invalid value: \"a/b\": may not contain '/'",
        "spec.parentRef.name: Invalid value: \"a%b\": may not contain '%'",
        "spec.parentRef.namespace: Invalid value: \"..\": may not be '..'",
      ],
    },
  ])("parentRef, $name: upstream's errors", ({ given, want }) => {
    const got = texts(ipAddressStrategy.validate({ spec: { parentRef: given as ParentRef } }, CONTEXT));
    expect(got).toHaveLength(want.length);
    want.forEach((text, i) => (typeof text === "string" ? expect(got[i]).toBe(text) : expect(got[i]).toMatch(text)));
  });

  it("without spec: parentRef is required", () => {
    expect(texts(ipAddressStrategy.validate({}, CONTEXT))).toEqual(["spec.parentRef: Required value"]);
  });
});

upstreamRow("TestDeclarativeValidateIPAddress(+Update)", () => {
  const before: IPAddress = { metadata: { name: "10.0.0.1" }, spec: { parentRef } };
  const after = (changed: ParentRef | undefined): IPAddress => ({
    metadata: { name: "10.0.0.1", labels: { a: "b" } },
    spec: { parentRef: changed as ParentRef },
  });

  it("update of labels: accepted", () => {
    expect(update(ipAddressesDefinition, { after: after({ ...parentRef }), before }).errors).toEqual([]);
  });

  it("update of the parent: refused", () => {
    expect(update(ipAddressesDefinition, { after: after({ ...parentRef, name: "bar" }), before }).errors).toEqual([
      'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"ns","Name":"bar"}: field is immutable',
    ]);
  });

  it("update without the parent: refused, and Required besides", () => {
    expect(update(ipAddressesDefinition, { after: after(undefined), before }).errors).toEqual([
      "spec.parentRef: Invalid value: null: field is immutable",
      "spec.parentRef: Required value",
    ]);
  });
});

it("create: adds nothing; generateName is validated as a whole name", () => {
  expect(create<IPAddress>(ipAddressesDefinition, { metadata: { name: "10.0.0.1" }, spec: { parentRef } }).object.spec).toEqual({
    parentRef,
  });
  const generated: IPAddress = { metadata: { name: "10.0.0.1", generateName: "10.0.0.1" }, spec: { parentRef } };
  expect(create(ipAddressesDefinition, generated).errors).toEqual([]);
});

it.each<[ParentRef | undefined, string]>([
  [parentRef, "services/ns/foo"],
  [{ group: "Example.com", resource: "Things", name: "X" }, "things.example.com/X"],
  [undefined, "<none>"],
])("ParentRef cell of %j: as kubectl shows it upstream", (given, want) => {
  expect(ipAddressesDefinition.cells({ metadata: { name: "10.0.0.1" }, spec: { parentRef: given } } as IPAddress, 0)).toEqual([
    "10.0.0.1",
    want,
  ]);
});
