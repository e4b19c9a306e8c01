import { expect, it } from "vitest";
import { MisplacedServices } from "../../../../../src/addresses/repair/tenants/misplaced";
import type { Topology } from "../../../../../src/addresses/rpc/topology";
import type { EventReport } from "../../../../../src/api/events/event-recorder";
import type { Service } from "../../../../../src/api/meta/kubernetes";

const RANGES: Topology["ranges"] = [
  { prefix: "10.96.0.0/16", name: "kubernetes" },
  { prefix: "10.98.0.0/24", name: "for-a", selector: "tenant=a", nodePorts: { first: 31_000, last: 31_099 } },
];
const KEPT: Topology = { epoch: 0, claims: [], ranges: RANGES, zoned: true, owners: [], free: [] };

function service(namespace: string, name: string, ...clusterIPs: string[]): Service {
  return { metadata: { namespace, name, uid: `${namespace}/${name}` }, spec: { clusterIP: clusterIPs[0] ?? "", clusterIPs } };
}

function withPorts(namespace: string, clusterIP: string, ...ports: [protocol: string, nodePort: number][]): Service {
  const made = service(namespace, "s", clusterIP);
  return {
    ...made,
    spec: { ...made.spec, type: "NodePort", ports: ports.map(([protocol, nodePort]) => ({ port: 53, protocol, nodePort })) },
  };
}

async function reported(services: Service[], kept: Topology | undefined = KEPT): Promise<{ reports: string[]; read: number }> {
  const reports: string[] = [];
  let read = 0;
  const texts: Record<string, string> = {
    a: JSON.stringify({ metadata: { name: "a", labels: { tenant: "a" } } }),
    b: JSON.stringify({ metadata: { name: "b" } }),
    damaged: "{",
  };
  const misplaced = new MisplacedServices({
    events: {
      report: ({ regarding, note }: EventReport) => void reports.push(`${regarding.name ?? ""}: ${note}`),
      flush: () => Promise.resolve(),
    },
    namespaces: (keys) => (read++, Promise.resolve(keys.map(({ name }) => texts[name] ?? null))),
  });
  await misplaced.report(services, kept);
  return { reports, read };
}

it.each([
  ["in the range of its namespace", service("a", "s", "10.98.0.9"), []],
  ["outside of every range with a selector", service("b", "s", "10.96.0.9"), []],
  ["headless", service("b", "s", "None"), []],
  ["an address that is none", service("b", "s", "x"), []],
  ["in a namespace that is gone", service("gone", "s", "10.98.0.9"), []],
  ["in a namespace that cannot be read", service("damaged", "s", "10.98.0.9"), []],
  ["default/kubernetes", service("default", "kubernetes", "10.98.0.1"), []],
  [
    "in the range of another namespace",
    service("b", "s", "10.98.0.9"),
    [
      's: Cluster IP [IPv4]: 10.98.0.9 does not fit the labels of its namespace any more: ServiceCIDR "for-a" (10.98.0.0/24) is kept for ' +
        'namespaces that match "tenant=a", and namespace "b" does not; please recreate service',
    ],
  ],
  [
    "outside of the range of its namespace",
    service("a", "s", "10.96.0.9", "fd00::9"),
    [
      's: Cluster IP [IPv4]: 10.96.0.9 does not fit the labels of its namespace any more: the Services of namespace "a" take addresses from ' +
        'ServiceCIDR "for-a" (10.98.0.0/24) alone; please recreate service',
    ],
  ],
  ["with a node port of its namespace", withPorts("a", "10.98.0.9", ["TCP", 31_005]), []],
  ["with a node port that nobody keeps", withPorts("b", "10.96.0.9", ["TCP", 30_005]), []],
  [
    "with a node port of another namespace, for two protocols",
    withPorts("b", "10.96.0.9", ["TCP", 31_005], ["UDP", 31_005]),
    [
      's: NodePort 31005 does not fit the labels of its namespace any more: ServiceCIDR "for-a" keeps 31000-31099 for namespaces that match ' +
        '"tenant=a", and namespace "b" does not; please recreate service',
    ],
  ],
  [
    "with a node port outside of those of its namespace",
    withPorts("a", "10.98.0.9", ["TCP", 30_005]),
    [
      's: NodePort 30005 does not fit the labels of its namespace any more: the Services of namespace "a" take node ports from 31000-31099 of ' +
        'ServiceCIDR "for-a" alone; please recreate service',
    ],
  ],
])("%s", async (_, given, want) => {
  expect((await reported([given])).reports).toEqual(want);
});

it("namespaces: are read once each, together; and not at all where no range is kept", async () => {
  const services = [service("a", "s", "10.98.0.9"), service("a", "t", "10.98.0.8"), service("b", "u", "10.96.0.8")];
  expect((await reported(services)).read).toBe(1);
  const misplaced = await reported(services, { ...KEPT, ranges: RANGES.slice(0, 1) });
  expect(misplaced.reports).toEqual([]);
});
