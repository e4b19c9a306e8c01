/** Calls of the controller of pools that are lost or refused: the claim is told, others go on, and nothing stays behind. */
import { describe, expect, it } from "vitest";
import { type AddressClaim, IPAM_GROUP, type PoolAddress } from "../../../src/api/registry/ipam/ipam";
import { poolAddressesDefinition } from "../../../src/api/registry/ipam/definitions";
import { forbidden, invalid, type Status } from "../../../src/api/meta/status";
import { invalidValue } from "../../../src/api/meta/field-errors";
import { PoolsWorld } from "../../support/pools/pools-world";

const SOON = 1_500;
const LONG = 120_000;
const NINE = { addresses: ["10.0.0.1-10.0.0.9"] };
const PAUSED = { annotations: { "cluster.x-k8s.io/paused": "" } };

function refusedAddress(address: string): Status {
  return invalid(poolAddressesDefinition, "x", [invalidValue("spec.address", address, "somebody has it")]);
}

/** Pools `p` and `q`, and a claim `a` on `p` whose address was picked, while no create arrives. */
async function lostCreate(): Promise<PoolsWorld> {
  const world = new PoolsWorld();
  await world.pool("p", { addresses: ["10.0.0.1"] });
  await world.pool("q", { addresses: ["10.0.1.1"] });
  await world.pass(SOON);
  world.world.fault = (call) => (call.startsWith("addresses create") ? new Error("timeout") : undefined);
  await world.claim("a", "p");
  await world.pass(SOON);
  return world;
}

/** The claim goes at once, whoever holds it. */
async function removeByForce(world: PoolsWorld, name: string): Promise<void> {
  await world.remove("claims", `ns/${name}`);
  const claim = world.objectOf<AddressClaim>("claims", `ns/${name}`);
  if (claim) await world.world.stores.claims.update({ ...claim, metadata: { ...claim.metadata, finalizers: [] } }, { group: IPAM_GROUP });
}

describe("a create that was lost", () => {
  it("the pool is deleted meanwhile: it goes, and the claim is told", async () => {
    const world = await lostCreate();
    expect((await world.remove("pools", "ns/p")).ok).toBe(true);
    await world.pass(LONG);
    expect([world.world.names("pools"), world.claims]).toEqual([["q"], ["a PoolNotReady -"]]);
    expect([...world.rows.keys()]).toEqual(["InClusterIPPool/ns/q"]);
  });

  it("the claim goes: the address is free again", async () => {
    const world = await lostCreate();
    await world.remove("claims", "ns/a");
    await world.pass(SOON);
    world.world.fault = () => undefined;
    await world.claim("b", "p");
    await world.pass(LONG);
    expect([world.given, world.claims]).toEqual([["b 10.0.0.1"], ["b Ready b"]]);
  });

  it("the claim comes again for another pool between two reads: the address is free again in its own", async () => {
    const world = await lostCreate();
    world.follows.length = 0;
    await removeByForce(world, "a");
    await world.claim("a", "q");
    world.world.fault = () => undefined;
    world.world.poke();
    await world.pass(SOON);
    world.follows.push("claims", "addresses", "pools");
    await world.claim("b", "p");
    await world.pass(LONG);
    expect([world.given, world.claims]).toEqual([
      ["a 10.0.1.1", "b 10.0.0.1"],
      ["a Ready a", "b Ready b"],
    ]);
  });
});

describe("an address that the store refuses", () => {
  it("is passed over: the claim gets the next one, and it is proposed again later", async () => {
    const world = new PoolsWorld();
    await world.pool("p", NINE);
    world.refusal = ({ spec }) => (spec?.address === "10.0.0.1" ? refusedAddress("10.0.0.1") : undefined);
    await world.claim("a", "p");
    await world.pass(SOON);
    await world.claim("b", "p");
    await world.pass(SOON);
    expect([world.given, world.counts("p")]).toEqual([["a 10.0.0.2", "b 10.0.0.3"], "2/9 free 7 outside 0"]);
    world.refusal = () => undefined;
    await world.pass(LONG);
    await world.claim("c", "p");
    await world.pass(SOON);
    expect(world.given).toEqual(["a 10.0.0.2", "b 10.0.0.3", "c 10.0.0.1"]);
  });

  it("and so every other one: the claim says so, no one spins, claims of other pools go on, and it is served in the end", async () => {
    const world = new PoolsWorld();
    await world.pool("p", NINE);
    await world.pool("q", { addresses: ["10.0.1.1"] });
    world.refusal = ({ spec }) => (spec?.poolRef?.name === "p" ? refusedAddress(spec.address ?? "") : undefined);
    await world.claim("a", "p");
    await world.claim("b", "q");
    world.world.takeCalls();
    await world.pass(LONG);
    expect(world.claims).toEqual(["a AllocationFailed -", "b Ready b"]);
    expect(world.objectOf<AddressClaim>("claims", "ns/a")?.status?.conditions?.[0]?.message).toContain("somebody has it");
    const calls = world.world.takeCalls();
    expect(calls.filter((call) => call.startsWith("addresses create")).length).toBeLessThan(30);
    expect(calls.filter((call) => call === "claims update a").length).toBe(1);
    await world.claim("c", "p");
    await world.pass(SOON);
    expect(world.claims).toContain("c AllocationFailed -");
    world.refusal = () => undefined;
    await world.pass(LONG);
    expect(world.claims).toEqual(["a Ready a", "b Ready b", "c Ready c"]);
    expect(world.given).toEqual(["a 10.0.0.1", "b 10.0.1.1", "c 10.0.0.2"]);
  });

  it("by a rule that is about no address: the claim says so, and the address is free for others", async () => {
    const world = new PoolsWorld();
    await world.pool("p", NINE);
    world.refusal = ({ metadata }) => (metadata?.name === "a" ? forbidden(poolAddressesDefinition, "a", "exceeded quota") : undefined);
    await world.claim("a", "p");
    await world.pass(SOON);
    await world.claim("b", "p");
    await world.pass(SOON);
    expect([world.given, world.claims]).toEqual([["b 10.0.0.1"], ["a AllocationFailed -", "b Ready b"]]);
  });

  it("because of one that nobody told of: it is read, and counts", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1"] });
    await world.pass(SOON);
    world.follows.splice(world.follows.indexOf("addresses"), 1);
    await world.address("x", "10.0.0.1", "p");
    await world.claim("a", "p");
    await world.pass(10_000);
    expect([world.claims, world.counts("p")]).toEqual([["a PoolExhausted -"], "1/1 free 0 outside 0"]);
  });
});

it("an address whose claim comes while it is taken back: stays", async () => {
  const world = new PoolsWorld();
  await world.pool("p", NINE);
  await world.claim("a", "p");
  const metadata = { namespace: "ns", name: "m", finalizers: ["ipam.cluster.x-k8s.io/ProtectAddress"] };
  const poolRef = { apiGroup: IPAM_GROUP, kind: "InClusterIPPool", name: "p" };
  const address: PoolAddress = { metadata, spec: { claimRef: { name: "m" }, poolRef, address: "10.0.0.7", prefix: 24 } };
  await world.world.stores.addresses.create(address, { group: IPAM_GROUP });
  await world.pass(SOON);
  const { storage } = world.world.stores.claims;
  const stored = storage.objectGet("ns/a");
  const claim = world.objectOf<AddressClaim>("claims", "ns/a");
  // Nobody hears of it: the store is changed behind the back of everybody.
  const data = JSON.stringify({ ...claim, metadata: { ...claim?.metadata, name: "m", uid: "another" }, status: {} });
  if (stored) storage.objectPut({ ...stored, key: "ns/m", data });
  await world.pass(700_000);
  expect(world.given).toEqual(["a 10.0.0.1", "m 10.0.0.7"]);
});

it("a pool that goes: is forgotten by the book after its row is closed", async () => {
  const world = new PoolsWorld();
  await world.pool("p", NINE);
  await world.pass(SOON);
  let isDeaf = true;
  const asked: string[] = [];
  world.bookFault = ({ does }) => {
    asked.push(does);
    return isDeaf && does === "settle" ? new Error("no answer") : undefined;
  };
  await world.remove("pools", "ns/p");
  await world.pass(20_000);
  expect([new Set(asked), world.world.names("pools")]).toEqual([new Set(["close", "settle"]), ["p"]]);
  isDeaf = false;
  await world.pass(LONG);
  expect([world.world.names("pools"), [...world.rows]]).toEqual([[], []]);
});

it("a growth that came to nothing, and whose end the book never heard of: is settled by a later pass", async () => {
  const world = new PoolsWorld();
  await world.pool("p", NINE);
  await world.pass(SOON);
  const facts = { family: "IPv4", natDomain: "", keepsOutside: false } as const;
  const [before, grown] = ["10.0.0.9", "10.0.0.99"].map((last) => ({ ...facts, intervals: [[number("10.0.0.1"), number(last)]] as const }));
  if (before && grown) world.rows.set("InClusterIPPool/ns/p", { facts: grown, before, token: "t", at: world.world.now });
  world.restartBook();
  const row = (): unknown => world.rows.get("InClusterIPPool/ns/p");
  await world.pass(700_000);
  world.world.poke();
  await world.pass(SOON);
  expect(row()).toEqual({ facts: before });
  await world.claim("a", "p", "InClusterIPPool", PAUSED);
  world.world.takeCalls();
  await world.pass(LONG);
  expect(world.world.takeCalls().filter((call) => call.startsWith("book")).length).toBeLessThan(3);
});

function number(address: string): string {
  return String(address.split(".").reduce((value, part) => value * 256 + Number(part), 0));
}

describe("the finalizer", () => {
  it("of an address, that a client takes away: is there all the same, and a DELETE frees nothing", async () => {
    const world = new PoolsWorld();
    await world.pool("p", NINE);
    await world.claim("a", "p");
    await world.pass(SOON);
    const address = world.objectOf<PoolAddress>("addresses", "ns/a");
    await world.world.stores.addresses.update({ ...address, metadata: { ...address?.metadata, finalizers: [] } }, { group: IPAM_GROUP });
    await world.remove("addresses", "ns/a");
    await world.pass(LONG);
    expect([world.given, world.claims]).toEqual([["a 10.0.0.1"], ["a Ready a"]]);
    expect(world.objectOf("addresses", "ns/a")?.metadata?.uid).toBe(address?.metadata?.uid);
    await world.remove("claims", "ns/a");
    await world.pass(SOON);
    expect([world.given, world.claims]).toEqual([[], []]);
  });

  it("of an address that lacks it, whatever took it away: is put there again", async () => {
    const world = new PoolsWorld();
    await world.pool("p", NINE);
    await world.updatePool("p", {}, PAUSED);
    await world.claim("m", "p");
    const claim = world.objectOf<AddressClaim>("claims", "ns/m");
    const status = { addressRef: { name: "m" }, conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "" }] };
    await world.world.stores.claims.update({ ...claim, status } as AddressClaim, { group: IPAM_GROUP }, "status");
    const owner = {
      apiVersion: `${IPAM_GROUP}/v1beta2`,
      kind: "IPAddressClaim",
      name: "m",
      uid: claim?.metadata?.uid ?? "",
      controller: true,
    };
    const poolRef = { apiGroup: IPAM_GROUP, kind: "InClusterIPPool", name: "p" };
    const metadata = { namespace: "ns", name: "m", ownerReferences: [owner] };
    const address: PoolAddress = { metadata, spec: { claimRef: { name: "m" }, poolRef, address: "10.0.0.7", prefix: 24 } };
    await world.world.stores.addresses.create(address, { group: IPAM_GROUP });
    await world.pass(SOON);
    await world.updatePool("p", {}, { annotations: {} });
    await world.pass(SOON);
    expect(world.claims).toEqual(["m Ready m"]);
    expect(world.objectOf("addresses", "ns/m")?.metadata?.finalizers).toEqual(["ipam.cluster.x-k8s.io/ProtectAddress"]);
  });

  it("of a claim, that a client takes away: its address stays for the grace of the pool, and a claim of its name waits that long", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { ...NINE, addressReuseGracePeriodSeconds: 60 });
    await world.claim("a", "p");
    await world.pass(SOON);
    await removeByForce(world, "a");
    await world.pass(SOON);
    await world.claim("a", "p");
    await world.claim("b", "p");
    await world.pass(50_000);
    expect([world.given, world.claims]).toEqual([
      ["a 10.0.0.1", "b 10.0.0.2"],
      ["a AllocationFailed -", "b Ready b"],
    ]);
    await world.pass(15_000);
    expect([world.given, world.claims]).toEqual([
      ["a 10.0.0.1", "b 10.0.0.2"],
      ["a Ready a", "b Ready b"],
    ]);
  });

  it("of a claim, while its pool is paused: its address stays until the pool goes on", async () => {
    const world = new PoolsWorld();
    await world.pool("p", NINE);
    await world.claim("a", "p");
    await world.pass(SOON);
    await world.updatePool("p", {}, PAUSED);
    await world.pass(SOON);
    await removeByForce(world, "a");
    await world.pass(LONG);
    expect([world.given, world.claims]).toEqual([["a 10.0.0.1"], []]);
    await world.updatePool("p", {}, { annotations: {} });
    await world.pass(SOON);
    expect(world.given).toEqual([]);
  });
});
