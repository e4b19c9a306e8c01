/** Pools, claims and addresses as a check judges them. */
import { describe, expect, it } from "vitest";
import type { AddressClaim, AddressPool, PoolAddress, PoolSpec } from "../../../../src/api/registry/ipam/ipam";
import { checkCluster } from "../../../../src/tools/check/check-cluster";
import { isWhole } from "../../../../src/tools/check/observed";
import { type CheckedCluster, healthy, type PoolObjects, serviceCIDR, sourceOf } from "../../../support/worlds/checked-cluster";
import { quickClock } from "../../../support/worlds/quick-clock";

const GROUP = "ipam.cluster.x-k8s.io";
const poolRef = { apiGroup: GROUP, kind: "InClusterIPPool", name: "p" };

function pool(name: string, addresses: string[], spec: PoolSpec = {}, annotations: Record<string, string> = {}): AddressPool {
  const counts = { total: 9, free: 7, used: 2, outOfRange: 0 };
  const metadata = { name, namespace: "ns", uid: `uid-${name}`, annotations };
  return { metadata, spec: { addresses, prefix: 24, ...spec }, status: { ipAddresses: counts } };
}

function claim(name: string, address: string | undefined = name): AddressClaim {
  const condition = { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "" };
  return {
    metadata: { name, namespace: "ns", uid: `uid-${name}` },
    spec: { poolRef },
    status: { ...(address !== "" && { addressRef: { name: address } }), conditions: [condition] },
  };
}

function address(name: string, text: string, more: { pool?: string; kind?: string; owner?: string | undefined } = {}): PoolAddress {
  const { pool: of = "p", kind = "InClusterIPPool" } = more;
  const owner = "owner" in more ? more.owner : `uid-${name}`;
  const reference = { apiVersion: `${GROUP}/v1beta2`, kind: "IPAddressClaim", name, uid: owner ?? "", controller: true };
  return {
    metadata: { name, namespace: "ns", uid: `uid-of-${name}`, ...(owner !== undefined && { ownerReferences: [reference] }) },
    spec: { claimRef: { name }, poolRef: { ...poolRef, name: of, kind }, address: text, prefix: 24 },
  };
}

const WIDE = { ...poolRef, kind: "InClusterPrefixPool", name: "wide" };

function prefix(name: string, first: string, length: number): PoolAddress {
  const { metadata, spec } = address(name, first);
  return { metadata, spec: { ...spec, poolRef: WIDE, address: first, prefix: length } };
}

/** A pool with two claims that have their addresses. */
function whole(): PoolObjects {
  return {
    pools: [pool("p", ["192.0.2.1-192.0.2.9"])],
    globalPools: [],
    claims: [claim("a"), claim("b")],
    addresses: [address("a", "192.0.2.1"), address("b", "192.0.2.2")],
  };
}

async function found(damage: (pools: PoolObjects, cluster: CheckedCluster) => void): Promise<string[]> {
  const cluster = healthy();
  cluster.pools = whole();
  damage(cluster.pools, cluster);
  const report = await checkCluster(
    sourceOf(() => cluster),
    quickClock(),
  );
  return [...report.wrong, ...report.notices].map(({ rule, message }) => `${rule}: ${message}`);
}

const cases: [string, (pools: PoolObjects, cluster: CheckedCluster) => void, string[]][] = [
  ["nothing", () => undefined, []],
  [
    "an address twice in one pool",
    (c) => (c.addresses[1] = address("b", "192.0.2.1")),
    ["pool: 192.0.2.1 is held by IPAddress.ipam ns/a and by IPAddress.ipam ns/b"],
  ],
  [
    "an address of two pools in NAT domains that differ: nothing",
    (c) => {
      c.pools = [
        pool("p", ["192.0.2.1-192.0.2.9"], {}, { "servicenet.dev/nat-domain": "x" }),
        pool("q", ["192.0.2.1-192.0.2.9"], {}, { "servicenet.dev/nat-domain": "y" }),
      ];
      c.addresses.push(address("x", "192.0.2.1", { pool: "q" }));
      c.claims.push({ ...claim("x"), spec: { poolRef: { ...poolRef, name: "q" } } });
    },
    [],
  ],
  [
    "two addresses of somebody else: nothing",
    (c) => c.addresses.push(address("x", "203.0.113.1", { kind: "Other" }), address("y", "203.0.113.1", { kind: "Other" })),
    [],
  ],
  [
    "pools that overlap, a range of Services as well",
    (c, cluster) => {
      c.globalPools.push({ ...pool("g", ["192.0.2.8-192.0.2.20"]), metadata: { name: "g", uid: "uid-g" } });
      cluster.serviceCIDRs?.push(serviceCIDR("wide", ["192.0.2.16/28"], false));
    },
    [
      "pool: InClusterIPPool ns/p overlaps with GlobalInClusterIPPool g",
      "pool: GlobalInClusterIPPool g overlaps with ServiceCIDR wide",
      "notice: the ServiceCIDR wide is not Ready (Seeding)",
    ],
  ],
  [
    "a pool that is being deleted, where another one is: nothing",
    (c) => {
      const [first] = c.pools;
      const going = { ...first, metadata: { ...first?.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
      c.pools = [going, pool("q", ["192.0.2.5-192.0.2.20"])];
    },
    [],
  ],
  [
    "an address where another pool is",
    (c) => {
      c.pools.push(pool("q", ["192.0.2.10-192.0.2.20"]));
      c.addresses[1] = address("b", "192.0.2.12");
    },
    [
      "pool: IPAddress.ipam ns/b has 192.0.2.12, which belongs to InClusterIPPool ns/q",
      'pool: IPAddress.ipam ns/b has 192.0.2.12, which InClusterIPPool "ns/p" does not give out',
    ],
  ],
  [
    "prefixes of a pool: one in another one, and one that is half outside",
    (c) => {
      const counts = { total: 16, free: 0, used: 32, outOfRange: 16 };
      const spec = { prefixes: ["10.0.0.0/21", "10.0.8.0/22"], allocationPrefixLength: 24 };
      c.prefixPools = [{ metadata: { name: "wide", namespace: "ns" }, spec, status: { ipAddresses: counts } }];
      c.claims.push(...["c", "d", "e"].map((name) => ({ ...claim(name), spec: { poolRef: WIDE } })));
      c.addresses.push(prefix("c", "10.0.0.0", 22), prefix("d", "10.0.3.0", 24), prefix("e", "10.0.8.0", 21));
    },
    [
      "pool: 10.0.3.0/24 is held by IPAddress.ipam ns/c and by IPAddress.ipam ns/d",
      'notice: IPAddress.ipam ns/e has 10.0.8.0/21, which InClusterPrefixPool "ns/wide" does not give out',
    ],
  ],
  [
    "an address outside that the pool counts",
    (c) => {
      const [first] = c.pools;
      c.pools = [{ ...first, status: { ipAddresses: { total: 9, free: 7, used: 2, outOfRange: 1 } } }];
      c.addresses[1] = address("b", "192.0.2.12");
    },
    ['notice: IPAddress.ipam ns/b has 192.0.2.12, which InClusterIPPool "ns/p" does not give out'],
  ],
  [
    "a claim whose address is missing",
    (c) => c.addresses.pop(),
    ["pool: IPAddressClaim ns/b names IPAddress.ipam ns/b, which does not exist"],
  ],
  [
    "a claim that is Ready without an address",
    (c) => (c.claims[1] = claim("b", "")),
    ["pool: IPAddressClaim ns/b is Ready and names no address"],
  ],
  [
    "a claim that names the address of another",
    (c) => (c.claims[1] = claim("b", "a")),
    ["pool: IPAddressClaim ns/b names IPAddress.ipam ns/a, which is not its own"],
  ],
  ["a claim of somebody else's pool: nothing", (c) => (c.claims[1] = { ...claim("b", "gone"), spec: {} }), []],
  ["an address whose claim is gone", (c) => c.claims.pop(), ["pool: IPAddress.ipam ns/b is of a claim that is gone"]],
  [
    "an address of an earlier claim",
    (c) => (c.addresses[1] = address("b", "192.0.2.2", { owner: "before" })),
    ["pool: IPAddressClaim ns/b names IPAddress.ipam ns/b, which is not its own", "pool: IPAddress.ipam ns/b is of a claim that is gone"],
  ],
  [
    "an address of a client without a claim",
    (c) => c.addresses.push(address("x", "192.0.2.3", { owner: undefined })),
    ["notice: IPAddress.ipam ns/x is of a claim that is gone; no claim has made it, and one of its name takes it over"],
  ],
  [
    "addresses of a pool that is gone",
    (c) => (c.pools = []),
    ["a", "b"].map((name) => `notice: IPAddress.ipam ns/${name} is of InClusterIPPool "ns/p", which does not exist`),
  ],
  [
    "a claim with an address of a pool of the root: nothing",
    (c) => {
      const atRoot = address("x", "203.0.113.1", { kind: "GlobalInClusterIPPool", pool: "fleet" });
      c.addresses.push({ ...atRoot, metadata: { ...atRoot.metadata, annotations: { "servicenet.dev/root-row": "row" } } });
      c.claims.push({ ...claim("x"), spec: { poolRef: { ...poolRef, kind: "GlobalInClusterIPPool", name: "fleet" } } });
    },
    [],
  ],
  [
    "objects that cannot be read: nothing else follows",
    (c, cluster) => {
      c.claims.pop();
      c.addresses.shift();
      cluster.unreadable = ["IPAddressClaim ns/b", "IPAddress.ipam ns/a"];
    },
    ["object: IPAddressClaim ns/b is stored, and cannot be read", "object: IPAddress.ipam ns/a is stored, and cannot be read"],
  ],
  [
    "pools of another server: nothing",
    (c, cluster) => {
      cluster.owners = undefined;
      c.addresses.pop();
    },
    [],
  ],
];

describe("damage that lasts", () => {
  it.each(cases)("%s", async (_name, damage, want) => expect(await found(damage)).toEqual(want));

  it("the report counts pools and claims", async () => {
    const cluster = { ...healthy(), pools: whole() };
    const { checked } = await checkCluster(
      sourceOf(() => cluster),
      quickClock(),
    );
    expect(checked).toMatchObject({ pools: 1, claims: 2 });
  });
});

it("isWhole: what judgements read has the right types", () => {
  expect(isWhole("InClusterIPPool", pool("p", ["192.0.2.1"]))).toBe(true);
  expect(isWhole("InClusterIPPool", { metadata: { name: "p" }, spec: { addresses: "192.0.2.1" } })).toBe(false);
  expect(isWhole("InClusterPrefixPool", { metadata: { name: "p" }, spec: { prefixes: ["10.0.0.0/20"], allocationPrefixLength: 24 } })).toBe(
    true,
  );
  expect(isWhole("InClusterPrefixPool", { metadata: { name: "p" }, spec: { prefixes: "10.0.0.0/20" } })).toBe(false);
  expect(isWhole("InClusterPrefixPool", { metadata: { name: "p" }, spec: { prefixes: [], excludedPrefixes: [1] } })).toBe(false);
  expect(isWhole("InClusterPrefixPool", { metadata: { name: "p" }, spec: { allocationPrefixLength: 24.5 } })).toBe(false);
  expect(isWhole("IPAddressClaim", claim("a"))).toBe(true);
  expect(isWhole("IPAddressClaim", { metadata: { name: "a" }, status: { conditions: {} } })).toBe(false);
  expect(isWhole("IPAddress.ipam", address("a", "192.0.2.1"))).toBe(true);
  expect(isWhole("IPAddress.ipam", { metadata: { name: "a", ownerReferences: [1] } })).toBe(false);
  expect(isWhole("IPAddress.ipam", { metadata: { name: "a" }, spec: { prefix: "24" } })).toBe(false);
});
