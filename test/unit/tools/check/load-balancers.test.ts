/** Services and their addresses of pools as a check judges them. */
import { describe, expect, it } from "vitest";
import type { AddressPool, PoolAddress } from "../../../../src/api/registry/ipam/ipam";
import { wrongBalancers } from "../../../../src/tools/check/load-balancers";
import { type ObservedPools, observedPool, observedPoolAddress, wrongPools } from "../../../../src/tools/check/pools";

const GROUP = "ipam.cluster.x-k8s.io";

function pool(
  name: string,
  entries: string[],
  annotations: Record<string, string> = { "servicenet.dev/load-balancer": "true" },
): AddressPool {
  return { metadata: { name, uid: name, annotations }, spec: { addresses: entries, prefix: 24 } };
}

/** `port`: it shares the address by it, and by the key `k` */
function row(service: string, address: string, port?: number): PoolAddress {
  const sharing = port === undefined ? undefined : JSON.stringify({ of: "metallb", key: "k", ports: [`TCP/${String(port)}`] });
  const annotations = { "servicenet.dev/service-uid": service, ...(sharing && { "servicenet.dev/sharing": sharing }) };
  const metadata = {
    namespace: "ns",
    name: `${service}-${address}`,
    uid: `row ${service}`,
    annotations,
    finalizers: ["servicenet.dev/load-balancer"],
  };
  const poolRef = { apiGroup: GROUP, kind: "GlobalInClusterIPPool", name: "p" };
  return { metadata, spec: { claimRef: { name: service }, poolRef, address, prefix: 32 } };
}

const service = (name: string, ...shows: string[]) => ({
  metadata: { namespace: "ns", name, uid: name },
  ...(shows.length > 0 && { shows }),
});

function observed(pools: AddressPool[], rows: PoolAddress[]): ObservedPools {
  return {
    pools: pools.map((one) => observedPool("GlobalInClusterIPPool", one)),
    claims: [],
    addresses: rows.map(observedPoolAddress),
    unreadable: [],
  };
}

const P = pool("p", ["192.0.2.1-192.0.2.9"]);

describe("Services at pools for load balancers", () => {
  it.each<[string, ObservedPools, ReturnType<typeof service>[], string[]]>([
    ["who shows what it holds", observed([P], [row("a", "192.0.2.1")]), [service("a", "192.0.2.1")], []],
    [
      "two that share",
      observed([P], [row("a", "192.0.2.1", 80), row("b", "192.0.2.1", 443)]),
      [service("a", "192.0.2.1"), service("b", "192.0.2.1")],
      [],
    ],
    ...[
      { of: "that share nothing", rows: [row("a", "192.0.2.1"), row("b", "192.0.2.1")] },
      { of: "of which one shares", rows: [row("a", "192.0.2.1", 80), row("b", "192.0.2.1")] },
      { of: "with the same port", rows: [row("a", "192.0.2.1", 80), row("b", "192.0.2.1", 80)] },
    ].map(({ of, rows }): [string, ObservedPools, ReturnType<typeof service>[], string[]] => [
      `two ${of}`,
      observed([P], rows),
      [service("a", "192.0.2.1"), service("b", "192.0.2.1")],
      ["pool: 192.0.2.1 is held by IPAddress.ipam ns/a-192.0.2.1 and by IPAddress.ipam ns/b-192.0.2.1"],
    ]),
    [
      "who shows what another one holds",
      observed([P], [row("a", "192.0.2.1")]),
      [service("a", "192.0.2.1"), service("b", "192.0.2.1")],
      ["pool: ns/b shows 192.0.2.1 of GlobalInClusterIPPool p, and does not hold it"],
    ],
    [
      "other addresses, and those of other pools",
      observed([pool("p", ["192.0.2.1"], {})], []),
      [service("a", "192.0.2.1", "h.example")],
      [],
    ],
    [
      "a Service that is gone",
      observed([P], [row("a", "192.0.2.1")]),
      [],
      ["pool: IPAddress.ipam ns/a-192.0.2.1 is of a Service that is gone"],
    ],
    [
      "a Service that does not show its address",
      observed([P], [row("a", "192.0.2.1")]),
      [service("a")],
      ["notice: IPAddress.ipam ns/a-192.0.2.1 is held for ns/a, which does not show it"],
    ],
  ])("%s", (_, pools, services, expected) => {
    const told = [...wrongBalancers(pools, { services }), ...wrongPools(pools, [])].map(({ rule, message }) => `${rule}: ${message}`);
    expect(told).toEqual(expected);
  });

  it("one that cannot be read proves nothing", () => {
    const unreadable = new Set(["Service ns/a"]);
    expect(wrongBalancers(observed([P], [row("a", "192.0.2.1")]), { services: [], unreadable })).toEqual([]);
  });
});

it("ServiceCIDRs that are not served: pools meet the configured ranges", () => {
  const messages = (serviceCIDRs: [] | undefined): string[] =>
    wrongPools(observed([P], []), serviceCIDRs, ["192.0.2.0/24"]).map(({ message }) => message);
  expect(messages(undefined)).toEqual([expect.stringMatching(/configuration.*overlaps with|overlaps with.*configuration/)]);
  expect(messages([])).toEqual([]);
});
