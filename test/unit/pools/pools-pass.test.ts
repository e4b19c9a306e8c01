import { describe, expect, it } from "vitest";
import type { AddressClaim, AddressPool, PoolAddress } from "../../../src/api/registry/ipam/ipam";
import { leftIn, lifeOfClaims } from "../../support/pools/life-of-claims";
import { PoolsWorld } from "../../support/pools/pools-world";

const LONG = 120_000;
const SOON = 1_500;
/** Deaths at all places: pools-pass.further.test.ts. */
const EACH = 9;

describe("the controller of pools", () => {
  it("wherever its object dies, or if it does not: each claim gets one address, in its turn, and everything goes again", async () => {
    const { points } = (await lifeOfClaims()).world;
    expect(points).toBeGreaterThan(60);
    for (let at = 0; at <= points; at += EACH) expect(leftIn(await lifeOfClaims(at)), `death ${at}`).toEqual([[], [], [], []]);
  });

  it("an address: is named as its claim, belongs to claim and pool, and has prefix, gateway and cluster", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.0/24"], gateway: "10.0.0.1" });
    await world.claim("a", "p", "InClusterIPPool", { labels: { "cluster.x-k8s.io/cluster-name": "blue", other: "x" } });
    await world.pass(SOON);
    const claim = world.objectOf<AddressClaim>("claims", "ns/a");
    const pool = world.objectOf<AddressPool>("pools", "ns/p");
    const { metadata, spec } = world.objectOf<PoolAddress>("addresses", "ns/a") ?? {};
    expect(spec).toEqual({
      claimRef: { name: "a" },
      poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" },
      address: "10.0.0.2",
      prefix: 24,
      gateway: "10.0.0.1",
    });
    expect(metadata?.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "blue" });
    expect(metadata?.finalizers).toEqual(["ipam.cluster.x-k8s.io/ProtectAddress"]);
    expect(metadata?.ownerReferences).toEqual([
      {
        ...{ apiVersion: "ipam.cluster.x-k8s.io/v1beta2", kind: "IPAddressClaim", name: "a", uid: claim?.metadata?.uid },
        ...{ controller: true, blockOwnerDeletion: true },
      },
      {
        ...{ apiVersion: "ipam.cluster.x-k8s.io/v1alpha2", kind: "InClusterIPPool", name: "p", uid: pool?.metadata?.uid },
        ...{ controller: false, blockOwnerDeletion: true },
      },
    ]);
    expect(claim?.metadata?.finalizers).toEqual(["ipam.cluster.x-k8s.io/ReleaseAddress"]);
    expect(claim?.status).toMatchObject({ addressRef: { name: "a" }, conditions: [{ type: "Ready", status: "True", reason: "Ready" }] });
  });

  it("1,000 claims at once: all different", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.0/22"], prefix: 22 });
    await world.claimsAtOnce(
      Array.from({ length: 1_000 }, (_, i) => `c${i}`),
      "p",
    );
    await world.pass(LONG);
    const addresses = world.world.objects<PoolAddress>("addresses").map(({ spec }) => spec?.address);
    expect(new Set(addresses).size).toBe(1_000);
    expect(world.claims.every((claim) => claim.includes(" Ready "))).toBe(true);
    expect(world.counts("p")).toBe("1000/1022 free 22 outside 0");
  });

  it("a claim without a pool: says so; one on a pool of somebody else is left alone", async () => {
    const world = new PoolsWorld();
    await world.claim("a", "p");
    await world.world.stores.claims.create(
      {
        metadata: { namespace: "ns", name: "theirs" },
        spec: { poolRef: { apiGroup: "example.com", kind: "IPPool", name: "p" } },
      } as AddressClaim,
      { group: "ipam.cluster.x-k8s.io" },
    );
    await world.pass(SOON);
    expect(world.claims).toEqual(["a PoolNotReady -", "theirs - -"]);
    expect(world.objectOf("claims", "ns/theirs")?.metadata?.finalizers).toBeUndefined();
  });

  it("a global pool: serves all namespaces, and claims of one name in two of them get two addresses", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] }, {});
    await world.pool("p", { addresses: ["10.0.1.1-10.0.1.9"] }, { namespace: "ns" });
    await world.claim("a", "p", "GlobalInClusterIPPool");
    await world.claim("a", "p", "GlobalInClusterIPPool", { namespace: "other" });
    await world.claim("local", "p");
    await world.pass(SOON);
    expect(world.given.toSorted()).toEqual(["a 10.0.0.1", "a 10.0.0.2", "local 10.0.1.1"]);
  });

  it("grace: claim and address stay for it, counted as used; without it in a pool that goes", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1"], addressReuseGracePeriodSeconds: 60 });
    await world.claim("a", "p");
    await world.pass(SOON);
    await world.claim("b", "p");
    await world.remove("claims", "ns/a");
    await world.pass(50_000);
    expect([world.given, world.counts("p")]).toEqual([["a 10.0.0.1"], "1/1 free 0 outside 0"]);
    await world.pass(15_000);
    expect([world.given, world.claims]).toEqual([["b 10.0.0.1"], ["b Ready b"]]);
  });

  it("paused: neither gives nor takes back; later it does both", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
    await world.claim("a", "p");
    await world.pass(SOON);
    await world.updatePool("p", {}, { annotations: { "cluster.x-k8s.io/paused": "" } });
    await world.claim("b", "p");
    await world.remove("claims", "ns/a");
    await world.pass(LONG);
    expect([world.given, world.claims]).toEqual([["a 10.0.0.1"], ["a Ready a", "b - -"]]);
    await world.updatePool("p", {}, { annotations: {} });
    await world.pass(SOON);
    expect([world.given, world.claims]).toEqual([["b 10.0.0.2"], ["b Ready b"]]);
  });

  it("an address that is there without an owner: the claim of its name takes it", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
    await world.address("a", "10.0.0.7", "p");
    await world.claim("a", "p");
    await world.pass(SOON);
    expect([world.given, world.claims]).toEqual([["a 10.0.0.7"], ["a Ready a"]]);
    const { metadata } = world.objectOf<PoolAddress>("addresses", "ns/a") ?? {};
    expect(metadata?.ownerReferences?.map(({ kind }) => kind)).toEqual(["IPAddressClaim", "InClusterIPPool"]);
    expect(metadata?.finalizers).toEqual(["ipam.cluster.x-k8s.io/ProtectAddress"]);
  });

  it("a claim that comes again under another uid: inherits nothing", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
    await world.claim("a", "p");
    await world.pass(SOON);
    const first = world.objectOf<PoolAddress>("addresses", "ns/a")?.metadata?.uid;
    // Somebody takes its finalizer away by force.
    await world.updatePool("p", {}, { annotations: { "cluster.x-k8s.io/paused": "" } });
    await world.remove("claims", "ns/a");
    const claim = world.objectOf<AddressClaim>("claims", "ns/a");
    await world.world.stores.claims.update(
      { ...claim, metadata: { ...claim?.metadata, finalizers: [] } },
      { group: "ipam.cluster.x-k8s.io" },
    );
    await world.claim("a", "p");
    await world.updatePool("p", {}, { annotations: {} });
    await world.pass(LONG);
    const address = world.objectOf<PoolAddress>("addresses", "ns/a");
    expect(address?.metadata?.uid).not.toBe(first);
    expect(world.claims).toEqual(["a Ready a"]);
  });

  it("an address that somebody deletes: stays until its claim goes", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
    await world.claim("a", "p");
    await world.pass(SOON);
    await world.remove("addresses", "ns/a");
    await world.pass(LONG);
    expect([world.given, world.claims]).toEqual([["a 10.0.0.1"], ["a Ready a"]]);
    await world.remove("claims", "ns/a");
    await world.pass(SOON);
    expect([world.given, world.claims]).toEqual([[], []]);
  });

  it("a further pass: reads, and writes nothing", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
    await world.claim("a", "p");
    await world.pass(LONG);
    world.world.takeCalls();
    world.world.poke();
    await world.pass(LONG);
    expect(world.world.takeCalls().filter((call) => !call.includes("objectsSince"))).toEqual([]);
  });
});

it("a claim that is gone before its poke comes: is read once more, and no round repeats what is nothing any more", async () => {
  const world = new PoolsWorld();
  await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
  await world.pass(SOON);
  world.world.fault = (call) => {
    // Nobody hears of it: the store is changed behind the back of everybody.
    if (call === "claims objectsNamed") world.world.stores.claims.storage.objectDelete("ns/a");
    return undefined;
  };
  world.world.takeCalls();
  await world.claim("a", "p");
  await world.pass(SOON);
  expect(world.given).toEqual([]);
  expect(world.world.takeCalls().filter((call) => call === "claims objectsNamed").length).toBeLessThan(10);
});
