/** The name of a claim is taken by an address that is not the claim's to have. */
import { describe, expect, it } from "vitest";
import { type AddressClaim, IPAM_GROUP, type PoolAddress } from "../../../src/api/registry/ipam/ipam";
import { PoolsWorld } from "../../support/pools/pools-world";

const SOON = 1_500;
const LONG = 120_000;
/** Reads of a pass, with what a change of its facts adds. Who spins makes thousands. */
const CALLS_MAX = 60;

interface Asked {
  address: string;
  kind?: string;
  pool?: string;
  claim?: string;
  metadata?: PoolAddress["metadata"];
}

/** An address that a client makes under the name `m`. */
async function strange(world: PoolsWorld, { address, kind = "InClusterIPPool", pool = "p", claim = "m", metadata }: Asked): Promise<void> {
  const spec = { claimRef: { name: claim }, poolRef: { apiGroup: IPAM_GROUP, kind, name: pool }, address, prefix: 24 };
  const object: PoolAddress = { metadata: { ...metadata, namespace: "ns", name: "m" }, spec };
  expect((await world.world.stores.addresses.create(object, { group: IPAM_GROUP })).ok).toBe(true);
}

function messageOf(world: PoolsWorld): string | undefined {
  return world.objectOf<AddressClaim>("claims", "ns/m")?.status?.conditions?.[0]?.message;
}

async function poolOfNine(): Promise<PoolsWorld> {
  const world = new PoolsWorld();
  await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
  await world.claim("a", "p");
  await world.pass(SOON);
  return world;
}

describe("an address that has the name of a claim", () => {
  it.each<[string, Asked, string]>([
    ["of a pool of somebody else", { address: "10.0.7.1", kind: "OtherPool" }, "is of another pool"],
    ["of another pool", { address: "10.0.3.1", pool: "q" }, "is of another pool"],
    ["that no pool covers", { address: "10.9.0.1" }, "is not given out by its pool"],
  ])("%s: the claim says so, no one spins, and others go on", async (_, asked, why) => {
    const world = await poolOfNine();
    await strange(world, asked);
    world.world.takeCalls();
    await world.claim("m", "p");
    await world.claim("n", "p");
    await world.pass(LONG);
    expect(world.claims).toEqual(["a Ready a", "m AllocationFailed -", "n Ready n"]);
    expect(messageOf(world)).toBe(`IPAddress "ns/m" ${why}`);
    expect(world.given).toEqual(["a 10.0.0.1", `m ${asked.address}`, "n 10.0.0.2"]);
    expect(world.world.takeCalls().length).toBeLessThan(CALLS_MAX);
    expect(world.objectOf<PoolAddress>("addresses", "ns/m")?.metadata?.ownerReferences).toBeUndefined();
    await world.remove("addresses", "ns/m");
    await world.pass(SOON);
    expect(world.claims).toEqual(["a Ready a", "m Ready m", "n Ready n"]);
    expect(world.given).toEqual(["a 10.0.0.1", "m 10.0.0.3", "n 10.0.0.2"]);
  });

  it("for another claim, from before the store refused that: the claim says so, and none of both goes with the other", async () => {
    const world = await poolOfNine();
    await strange(world, { address: "10.0.0.7" });
    const { storage } = world.world.stores.addresses;
    const stored = storage.objectGet("ns/m");
    const object = world.objectOf<PoolAddress>("addresses", "ns/m");
    const data = JSON.stringify({ ...object, spec: { ...object?.spec, claimRef: { name: "zzz" } } });
    if (stored) storage.objectPut({ ...stored, data });
    world.world.takeCalls();
    await world.claim("m", "p");
    await world.pass(LONG);
    expect([world.claims, messageOf(world)]).toEqual([["a Ready a", "m AllocationFailed -"], 'IPAddress "ns/m" is for another claim']);
    expect(world.world.takeCalls().length).toBeLessThan(CALLS_MAX);
    await world.remove("claims", "ns/m");
    await world.pass(LONG);
    expect([world.given, world.claims]).toEqual([["a 10.0.0.1", "m 10.0.0.7"], ["a Ready a"]]);
  });

  it("of a pool of somebody else: stays when the claim goes", async () => {
    const asked = { address: "10.0.7.1", kind: "OtherPool" };
    const world = await poolOfNine();
    await strange(world, asked);
    await world.claim("m", "p");
    await world.pass(SOON);
    await world.remove("claims", "ns/m");
    await world.pass(LONG);
    expect([world.given, world.claims]).toEqual([["a 10.0.0.1", `m ${asked.address}`], ["a Ready a"]]);
  });

  it("that says it belongs to the claim: is not taken over either, where the pool does not give it out", async () => {
    const world = await poolOfNine();
    await world.updatePool("p", {}, { annotations: { "cluster.x-k8s.io/paused": "" } });
    await world.claim("m", "p");
    const uid = world.objectOf<AddressClaim>("claims", "ns/m")?.metadata?.uid ?? "";
    const owner = { apiVersion: `${IPAM_GROUP}/v1beta2`, kind: "IPAddressClaim", name: "m", uid, controller: true };
    await strange(world, { address: "10.9.0.1", metadata: { ownerReferences: [owner] } });
    await world.updatePool("p", {}, { annotations: {} });
    await world.pass(SOON);
    expect(world.claims).toEqual(["a Ready a", "m AllocationFailed -"]);
  });

  it("outside of a pool that keeps such ones: is taken over", async () => {
    const world = await poolOfNine();
    await world.updatePool("p", {}, { annotations: { "servicenet.dev/keep-out-of-range": "true" } });
    await strange(world, { address: "10.9.0.1" });
    await world.claim("m", "p");
    await world.pass(SOON);
    expect(world.claims).toEqual(["a Ready a", "m Ready m"]);
  });

  it("whose pool is not there, or goes: the claim waits for the pool", async () => {
    const world = new PoolsWorld();
    await strange(world, { address: "10.0.0.7" });
    await world.claim("m", "p");
    await world.pass(SOON);
    expect(world.claims).toEqual(["m PoolNotReady -"]);
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
    await world.pass(SOON);
    expect([world.given, world.claims]).toEqual([["m 10.0.0.7"], ["m Ready m"]]);
  });

  it("of the other family, whose number is that of an address that is given: changes nothing about that", async () => {
    const world = await poolOfNine();
    await strange(world, { address: "::a00:1" });
    await world.pass(SOON);
    expect(world.counts("p")).toBe("2/9 free 7 outside 1");
    await world.remove("addresses", "ns/m");
    await world.claim("n", "p");
    await world.pass(SOON);
    expect(world.given).toEqual(["a 10.0.0.1", "n 10.0.0.2"]);
  });
});
