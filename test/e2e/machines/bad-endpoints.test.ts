/** Slices, Endpoints and Pods that nobody should send: the Statuses of upstream, and controllers that leave out what they cannot use. */
import { describe, expect, it } from "vitest";
import type { CoreEvent, EndpointSlice } from "../../../src/api/meta/kubernetes";
import { Api, MERGE_PATCH } from "../../support/clients/api";
import { clusterForTests, NODES_ARE_NAMES } from "../../support/server/cluster-for-tests";
import { PATIENCE } from "../../support/server/patience";

const NAMESPACE = "/api/v1/namespaces/default";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const cluster = clusterForTests(NODES_ARE_NAMES);
const api = new Api(() => cluster.url);

function list<T>(count: number, itemAt: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => itemAt(i));
}

const slice = (more: object): object => ({ addressType: "IPv4", endpoints: [], ...more });
const at = (...addresses: string[]): object => slice({ endpoints: addresses.map((address) => ({ addresses: [address] })) });
const subset = (ip: string): object => ({ subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] });

describe.each<[string, string, [string, object, string][]]>([
  [
    SLICES,
    'EndpointSlice.discovery.k8s.io "bad" is invalid: ',
    [
      [
        "1,001 endpoints",
        slice({ endpoints: list(1001, () => ({ addresses: ["10.0.0.1"] })) }),
        "endpoints: Too many: 1001: must have at most 1000 items",
      ],
      [
        "20,001 ports",
        slice({ ports: list(20_001, (i) => ({ name: `p${i}`, port: 1 })) }),
        "ports: Too many: 20001: must have at most 20000 items",
      ],
      ["an address of each family", at("10.0.0.1", "fd00::1"), 'endpoints[1].addresses: Invalid value: "fd00::1": must be an IPv4 address'],
      ["addressType IP", slice({ addressType: "IP" }), 'addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"'],
      ["two ports without a name", slice({ ports: [{ port: 1 }, { port: 2 }] }), 'ports[1].name: Duplicate value: ""'],
      [
        "a loopback address",
        at("127.0.0.1"),
        'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
      [
        "a link-local address",
        at("169.254.1.1"),
        'endpoints[0].addresses[0]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      ],
      [
        "an address that is none",
        at("999.1.1.1"),
        'endpoints[0].addresses[0]: Invalid value: "999.1.1.1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
  ],
  [
    `${NAMESPACE}/endpoints`,
    'Endpoints "bad" is invalid: ',
    [
      [
        "a loopback address",
        subset("127.0.0.1"),
        'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
      [
        "no address",
        { subsets: [{ ports: [{ port: 80 }] }] },
        "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`",
      ],
    ],
  ],
])("a create at %s", (path, prefix, rows) => {
  it.each([
    ...rows,
    [
      "a label value of 100,000 characters",
      path === SLICES ? slice({ metadata: { labels: { a: "x".repeat(100_000) } } }) : { metadata: { labels: { a: "x".repeat(100_000) } } },
      "metadata.labels: Invalid value: ",
    ] as const,
  ])("%s: upstream's Status, and nothing is stored", async (_, { metadata, ...body }: { metadata?: object }, message) => {
    const answer = await api.send("POST", path, { body: { ...body, metadata: { ...metadata, name: "bad" } } });
    expect([answer.code, answer.body.reason]).toEqual([422, "Invalid"]);
    expect(answer.body.message?.startsWith(prefix + message), answer.body.message?.slice(0, 300)).toBe(true);
    expect((await api.get(`${path}/bad`)).code).toBe(404);
  });
});

describe("Pods of a Service that no endpoint can be made of", () => {
  const pod = (name: string, nodeName = "n1"): Promise<unknown> =>
    api.must("POST", `${NAMESPACE}/pods`, {
      body: { metadata: { name, labels: { app: "web" } }, spec: { nodeName, containers: [{ name: "c", image: "i" }] } },
    });
  const status = (name: string, ips: string[]) =>
    api.patch(`${NAMESPACE}/pods/${name}/status`, MERGE_PATCH, {
      status: { phase: "Running", podIP: ips[0], podIPs: ips.map((ip) => ({ ip })), conditions: [{ type: "Ready", status: "True" }] },
    });

  async function addresses(): Promise<string[]> {
    const { items } = await api.must("GET", SLICES, { query: { labelSelector: "kubernetes.io/service-name=web" } });
    const slices = (items ?? []) as unknown as EndpointSlice[];
    return slices
      .flatMap((one) => (one.endpoints ?? []).map((endpoint) => `${endpoint.targetRef?.name ?? ""} ${endpoint.addresses.join()}`))
      .sort();
  }

  it("malformed addresses, or two of one family: the status is refused, and the Pod is in no slice", async () => {
    await api.must("POST", "/api/v1/nodes", { body: { metadata: { name: "n1" } } });
    const spec = { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] };
    await api.must("POST", `${NAMESPACE}/services`, { body: { metadata: { name: "web" }, spec } });
    await pod("malformed");
    for (const [ips, message] of [
      [["999.1.1.1"], 'status.podIPs[0]: Invalid value: "999.1.1.1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
      [["10.1.0.1", "10.1.0.2"], "may specify no more than one IP for each IP family"],
    ] as const) {
      const answer = await status("malformed", [...ips]);
      expect([answer.code, answer.body.message]).toEqual([422, expect.stringContaining(message)]);
    }
  });

  it("no status, a loopback address, a Node that does not exist: left out with an event each, and the rest is written", async () => {
    for (const name of ["statusless", "loopback", "good", "twin"]) await pod(name);
    await pod("homeless", "nowhere");
    expect((await status("loopback", ["127.0.0.1"])).code).toBe(200);
    expect((await status("homeless", ["10.1.0.9"])).code).toBe(200);
    for (const name of ["good", "twin"]) expect((await status(name, ["10.1.0.1"])).code).toBe(200);
    // Two Pods with one address are two endpoints.
    await expect.poll(addresses, PATIENCE).toEqual(["good 10.1.0.1", "twin 10.1.0.1"]);

    const notes = async (): Promise<string[]> => {
      const { items } = await api.must("GET", `${NAMESPACE}/events`, { query: { fieldSelector: "involvedObject.name=web" } });
      return ((items ?? []) as unknown as CoreEvent[]).map(({ type, reason, message }) => `${type} ${reason}: ${message}`).sort();
    };
    const failed = "Warning FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service default/web: ";
    const told = [
      `${failed}skipping Pod homeless for Service default/web: Node nowhere Not Found`,
      `${failed}skipping address 127.0.0.1 of Pod loopback: no endpoint can have it`,
    ];
    await expect.poll(notes, PATIENCE).toEqual(told);
    await api.must("DELETE", `${NAMESPACE}/pods/twin?gracePeriodSeconds=0`);
    await expect.poll(addresses, PATIENCE).toEqual(["good 10.1.0.1"]);
    expect(await notes()).toEqual(told);
  });

  it("all of them go: one empty slice stays", async () => {
    await api.must("DELETE", `${NAMESPACE}/pods`, { query: { gracePeriodSeconds: "0" } });
    await expect.poll(addresses, PATIENCE).toEqual([]);
    const { items } = await api.must("GET", SLICES, { query: { labelSelector: "kubernetes.io/service-name=web" } });
    expect(items).toMatchObject([{ endpoints: null, ports: null }]);
  });
});
