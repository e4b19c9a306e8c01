/** Pools of prefixes on the book and the controller that pools of addresses have, too. */
import { describe, expect, it } from "vitest";
import type { AddressClaim, PoolAddress } from "../../../src/api/registry/ipam/ipam";
import type { WriteResult } from "../../../src/api/rpc/store";
import { leftIn, lifeOfPrefixes } from "../../support/pools/life-of-claims";
import { PoolsWorld } from "../../support/pools/pools-world";

const LONG = 120_000;
const SOON = 1_500;
/** Deaths at all places: pools-pass.further.test.ts. */
const EACH = 13;
const KIND = "InClusterPrefixPool";
const V4 = { prefixes: ["10.0.0.0/22"], allocationPrefixLength: 24 };

function shown(answer: WriteResult): string {
  return answer.ok ? "ok" : `${String(answer.status.code)} ${answer.status.message}`;
}

function length(text: number): { annotations: Record<string, string> } {
  return { annotations: { "servicenet.dev/prefix-length": String(text) } };
}

function messageOf(world: PoolsWorld, name: string): string | undefined {
  const { status } = world.objectOf<AddressClaim>("claims", `ns/${name}`) ?? {};
  return status?.conditions?.find(({ type }) => type === "Ready")?.message;
}

describe("claims on a pool of prefixes", () => {
  it("wherever the controller dies: each claim gets one prefix, in its turn, and everything goes again", async () => {
    const { points } = (await lifeOfPrefixes()).world;
    expect(points).toBeGreaterThan(60);
    for (let at = 0; at <= points; at += EACH) expect(leftIn(await lifeOfPrefixes(at)), `death ${at}`).toEqual([[], [], [], []]);
  });

  it("an IPAddress: has the first address and the length of its prefix, gateway and owners", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", { ...V4, gateway: "10.9.0.1", excludedPrefixes: ["10.0.0.7"] });
    await world.claim("a", "p", KIND);
    await world.pass(SOON);
    const { metadata, spec } = world.objectOf<PoolAddress>("addresses", "ns/a") ?? {};
    expect(spec).toEqual({
      claimRef: { name: "a" },
      poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: KIND, name: "p" },
      address: "10.0.1.0",
      prefix: 24,
      gateway: "10.9.0.1",
    });
    expect(metadata?.ownerReferences?.map(({ kind }) => kind)).toEqual(["IPAddressClaim", KIND]);
    expect([world.claims, world.counts("p", "prefixPools")]).toEqual([["a Ready a"], "1/3 free 2 outside 0"]);
  });

  it("IPv6, from a global pool: counts are those of the prefixes, 2^63-1 at most", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", { prefixes: ["fd00::/48"] }, {});
    await world.prefixPool("wide", { prefixes: ["fc00::/8"], allocationPrefixLength: 96 });
    await world.claim("a", "p", "GlobalInClusterPrefixPool");
    await world.claim("a", "p", "GlobalInClusterPrefixPool", { namespace: "other" });
    await world.claim("b", "wide", KIND);
    await world.pass(LONG);
    expect(world.givenPrefixes.toSorted()).toEqual(["a fd00:0:0:1::/64", "a fd00::/64", "b fc00::/96"]);
    const { data = "" } = world.world.stores.prefixPools.storage.objectGet("ns/wide") ?? {};
    expect(data).toContain('"ipAddresses":{"total":9223372036854775807,"free":9223372036854775807,"used":1,"outOfRange":0}');
  });

  it("several lengths: each is aligned, and comes from the smallest room; the status counts the pool's own length", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", { prefixes: ["10.0.0.0/20", "10.1.0.0/22"], allocationPrefixLength: 24 });
    await world.claim("a", "p", KIND);
    await world.pass(SOON);
    await world.claim("b", "p", KIND, length(21));
    await world.pass(SOON);
    await world.claim("c", "p", KIND, length(23));
    await world.claim("d", "p", KIND, length(20));
    await world.claim("e", "p", KIND, length(25));
    await world.pass(LONG);
    expect(world.givenPrefixes).toEqual(["a 10.1.0.0/24", "b 10.0.0.0/21", "c 10.1.2.0/23"]);
    expect(world.claims.slice(3)).toEqual(["d PoolExhausted -", "e AllocationFailed -"]);
    expect([messageOf(world, "d"), messageOf(world, "e")]).toEqual([
      'no prefix of length 20 available in InClusterPrefixPool "ns/p"',
      'InClusterPrefixPool "ns/p" gives out prefixes of length 24, and none of length 25',
    ]);
    expect(world.counts("p", "prefixPools")).toBe("11/20 free 9 outside 0");
    // What is given back is one room again.
    await world.remove("claims", "ns/b");
    await world.pass(LONG);
    expect(world.givenPrefixes).toEqual(["a 10.1.0.0/24", "c 10.1.2.0/23", "d 10.0.0.0/20"]);
  });

  it("as many units as a claim asks for are free, and not together: it is told so once, and served when they are", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", V4);
    for (const name of ["a", "b", "c", "d"]) {
      await world.claim(name, "p", KIND);
      await world.pass(SOON);
    }
    await world.remove("claims", "ns/a");
    await world.remove("claims", "ns/c");
    await world.claim("wide", "p", KIND, length(23));
    await world.pass(LONG);
    expect(world.claims.at(-1)).toBe("wide PoolExhausted -");
    await world.remove("claims", "ns/b");
    await world.pass(LONG);
    expect(world.givenPrefixes).toEqual(["d 10.0.3.0/24", "wide 10.0.0.0/23"]);
  });

  it("256 claims at once: all different; one more has no room", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", { prefixes: ["10.0.0.0/12"], allocationPrefixLength: 20 });
    const names = Array.from({ length: 257 }, (_, i) => `c${i}`);
    await world.claimsAtOnce(names, "p", KIND);
    await world.pass(LONG);
    expect(new Set(world.given.map((one) => one.split(" ")[1])).size).toBe(256);
    expect(world.claims.filter((claim) => claim.includes("PoolExhausted"))).toHaveLength(1);
    expect(world.counts("p", "prefixPools")).toBe("256/256 free 0 outside 0");
  });

  it("grace: claim and prefix stay for it", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", { prefixes: ["10.0.0.0/24"], allocationPrefixLength: 24, addressReuseGracePeriodSeconds: 60 });
    await world.claim("a", "p", KIND);
    await world.pass(SOON);
    await world.claim("b", "p", KIND);
    await world.remove("claims", "ns/a");
    await world.pass(50_000);
    expect(world.givenPrefixes).toEqual(["a 10.0.0.0/24"]);
    await world.pass(15_000);
    expect(world.givenPrefixes).toEqual(["b 10.0.0.0/24"]);
  });

  it("a claim that a cluster has: keeps its prefix, although somebody deletes it, until the cluster lets it go", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", V4);
    await world.claim("a", "p", KIND, { finalizers: ["servicenet.dev/cluster-range"] });
    await world.pass(SOON);
    await world.remove("claims", "ns/a");
    await world.claim("b", "p", KIND);
    await world.pass(LONG);
    expect([world.givenPrefixes, world.claims]).toEqual([
      ["a 10.0.0.0/24", "b 10.0.1.0/24"],
      ["a Ready a", "b Ready b"],
    ]);
    const claim = world.objectOf<AddressClaim>("claims", "ns/a");
    const finalizers = claim?.metadata?.finalizers?.filter((one) => one !== "servicenet.dev/cluster-range") ?? [];
    await world.world.stores.claims.update({ ...claim, metadata: { ...claim?.metadata, finalizers } }, { group: "ipam.cluster.x-k8s.io" });
    await world.pass(SOON);
    expect([world.givenPrefixes, world.counts("p", "prefixPools")]).toEqual([["b 10.0.1.0/24"], "1/4 free 3 outside 0"]);
  });

  it("an IPAddress that a client has made: is taken over if it is what the claim asks for, and never overlaps another one", async () => {
    const world = new PoolsWorld();
    const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: KIND, name: "p" };
    const make = (name: string, address: string, prefix: number) => world.address(name, address, "p", { poolRef, prefix });
    await world.prefixPool("p", V4);
    await world.pass(SOON);
    expect(shown(await make("a", "10.0.2.0", 24))).toBe("ok");
    expect(shown(await make("b", "10.0.2.0", 23))).toContain('spec.address: Invalid value: "10.0.2.0": IPAddress "ns/a" has it');
    expect(shown(await make("b", "10.0.2.1", 24))).toContain("must be the first address of its prefix");
    expect(shown(await make("b", "10.0.1.0", 25))).toContain("its pool gives out prefixes of length 24, and none that are longer");
    expect(shown(await make("c", "10.0.0.0", 23))).toBe("ok");
    await world.claim("a", "p", KIND);
    await world.claim("c", "p", KIND);
    await world.pass(SOON);
    expect(world.claims).toEqual(["a Ready a", "c AllocationFailed -"]);
    expect(messageOf(world, "c")).toBe('IPAddress "ns/c" is of another length');
    expect(world.counts("p", "prefixPools")).toBe("3/4 free 1 outside 0");
  });
});

describe("writes of pools of prefixes", () => {
  it("overlap: with pools of either sort, in whatever namespace, addresses and ranges of Services", async () => {
    const world = new PoolsWorld();
    world.serviceRanges = [{ name: "r", natDomain: "", cidrs: ["10.96.0.0/16"] }];
    await world.prefixPool("p", { prefixes: ["10.0.0.0/16"], allocationPrefixLength: 24, excludedPrefixes: ["10.0.9.1"] });
    const refused = (name: string, value: string, why: string): string =>
      `422 InClusterPrefixPool.ipam.cluster.x-k8s.io "${name}" is invalid: spec.prefixes: Invalid value: ["${value}"]: ${why}`;
    const met = 'overlaps with InClusterPrefixPool "ns/p"';
    const make = async (name: string, prefix: string, metadata = {}) =>
      shown(await world.prefixPool(name, { prefixes: [prefix], allocationPrefixLength: 26 }, { namespace: "ns", ...metadata }));
    expect(await make("q", "10.0.5.0/24")).toBe(refused("q", "10.0.5.0/24", met));
    expect(await make("q", "10.96.128.0/20")).toBe(refused("q", "10.96.128.0/20", 'overlaps with ServiceCIDR "r" (10.96.0.0/16)'));
    expect(shown(await world.pool("q", { addresses: ["10.0.5.7"] }))).toContain(met);
    // What a pool does not give out is free for others.
    expect(await make("free", "10.0.9.0/24")).toBe("ok");
    const apart = (domain: string) => ({ annotations: { "servicenet.dev/nat-domain": domain } });
    expect(await make("x", "10.7.0.0/24", apart("x"))).toBe("ok");
    expect(await make("y", "10.7.0.0/24", apart("y"))).toBe("ok");
    expect(await make("z", "10.7.0.0/24")).toContain("overlaps with");
    await world.pool("single", { addresses: ["10.8.0.1"] });
    expect(await make("q", "10.8.0.0/24")).toContain('overlaps with InClusterIPPool "ns/single"');
    const range = await world.book.askPools({
      does: "meet",
      ranges: [{ family: "IPv4", intervals: [[String(0x0a000000), String(0x0a0000ff)]], natDomain: "", keepsOutside: false }],
    });
    expect(range).toMatchObject({ kind: "overlaps", pool: "InClusterPrefixPool/ns/p" });
  });

  it("a prefix that somebody has outside of its pool: is met as a whole, and named as a prefix", async () => {
    const world = new PoolsWorld();
    const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: KIND, name: "later" };
    const keep = { annotations: { "servicenet.dev/keep-out-of-range": "true" } };
    await world.prefixPool("later", { prefixes: ["10.9.0.0/24"], allocationPrefixLength: 24 }, { namespace: "ns", ...keep });
    expect(shown(await world.address("a", "10.3.0.0", "later", { poolRef, prefix: 20 }))).toBe("ok");
    expect(shown(await world.prefixPool("p", { prefixes: ["10.3.8.0/22"], allocationPrefixLength: 24 }))).toContain(
      'IPAddress "ns/a" of InClusterPrefixPool "ns/later" has 10.3.0.0/20',
    );
    expect(shown(await world.pool("p", { addresses: ["10.3.15.9"] }))).toContain("has 10.3.0.0/20");
    expect(shown(await world.address("b", "10.3.15.9", "other"))).toContain('IPAddress "ns/a" has it');
    expect(shown(await world.pool("p", { addresses: ["10.3.16.9"] }))).toBe("ok");
  });

  it("an IPAddress that a client makes for a prefix: 422 unless its pool is there and has the whole of it", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", {
      prefixes: ["10.3.0.0/20", "10.3.16.0/24"],
      allocationPrefixLength: 24,
      excludedPrefixes: ["10.3.9.0/24"],
    });
    const make = async (name: string, pool: string, address: string, prefix: number) => {
      const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: KIND, name: pool };
      return shown(await world.address(name, address, pool, { poolRef, prefix }));
    };
    const refused = (name: string, address: string) =>
      `422 IPAddress.ipam.cluster.x-k8s.io "${name}" is invalid: spec.address: Invalid value: "${address}": the referenced pool does not have this prefix`;
    for (const [name, pool, address, prefix] of [
      ["everything", "none", "::", 0],
      ["half", "none", "128.0.0.0", 1],
      ["wider", "p", "10.0.0.0", 8],
      ["end", "p", "10.3.16.0", 23],
      ["excluded", "p", "10.3.8.0", 23],
      ["family", "p", "a00::", 7],
    ] as const)
      expect(await make(name, pool, address, prefix), name).toBe(refused(name, address));
    expect(await make("whole", "p", "10.3.0.0", 21)).toBe("ok");
    expect(shown(await world.pool("q", { addresses: ["10.2.0.1-10.2.0.9"] }))).toBe("ok");
  });

  it("shrinking below what is used, another length, and a deletion in use: 400 with upstream's texts", async () => {
    const world = new PoolsWorld();
    await world.prefixPool("p", { prefixes: ["10.0.0.0/22"], allocationPrefixLength: 24 });
    for (const name of ["a", "b", "c"]) await world.claim(name, "p", KIND);
    await world.pass(SOON);
    const update = async (spec: object, metadata = {}) => shown(await world.updatePool("p", spec, metadata, "prefixPools"));
    expect(await update({ prefixes: ["10.0.0.0/24"] })).toBe("400 existing allocations become non-allocatable: [10.0.1.0 10.0.2.0]");
    expect(await update({ excludedPrefixes: ["10.0.2.77"] })).toBe("400 existing allocations become non-allocatable: [10.0.2.0]");
    expect(await update({ allocationPrefixLength: 25 })).toBe("400 spec.allocationPrefixLength is immutable");
    expect(shown(await world.remove("prefixPools", "ns/p"))).toBe(
      "400 Pool has IPAddresses allocated. Cannot delete Pool until all IPAddresses have been removed.",
    );
    const keep = { annotations: { "servicenet.dev/keep-out-of-range": "true" } };
    expect(await update({ prefixes: ["10.0.0.0/23"] }, keep)).toBe("ok");
    await world.pass(LONG);
    expect(world.counts("p", "prefixPools")).toBe("3/2 free 0 outside 1");
    expect(world.claims).toEqual(["a Ready a", "b Ready b", "c Ready c"]);
  });
});
