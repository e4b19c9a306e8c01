/**
 * The whole life of a ServiceCIDR with the Coordinator's object dying at every point in turn, and random lives with random deaths. Clients
 * repeat their requests until they see what they want. The owners' own configurations are checked after each event.
 */
import { describe, expect, it } from "vitest";
import type { OwnerConfig } from "../../../../src/addresses/rpc/service-cidr";
import { onlyCoveredBy } from "../../../../src/addresses/topology/coverage";
import { type DrawChoice, drawOwner } from "../../../../src/addresses/topology/route";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import { checkOwnership, CoordinatorWorld } from "../../../support/worlds/coordinator-world";
import { firstSeeds, itOfSeeds } from "../../../support/sim/platform/seeds";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

/** Repeats a client's request, which a crash may lose, until the wanted state is there. */
async function persist(world: CoordinatorWorld, request: () => Promise<unknown>, isDone: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 50 && !isDone(); attempt++) {
    void request();
    const end = world.nowMs + 30_000;
    await world.until(() => isDone() || world.nowMs >= end - 1, 31_000).catch(() => undefined);
  }
  expect(isDone(), String(isDone)).toBe(true);
}

/** Checks: Ready shows after the owners know the range, deletion shows after they have lost it, epochs grow, one epoch has one content. */
function watch(world: CoordinatorWorld): void {
  const epochs = new Map<string, { epoch: number; text: string }>();
  let seen = 0;
  world.check = (w) => {
    checkOwnership(w);
    for (const { uid, config } of w.pushed.slice(seen)) {
      const before = epochs.get(uid);
      const text = JSON.stringify(config);
      if (before && config.epoch === before.epoch && text !== before.text) throw new Error(`epoch ${config.epoch} has two contents`);
      if (!before || config.epoch > before.epoch) epochs.set(uid, { epoch: config.epoch, text });
    }
    seen = w.pushed.length;
    for (const [name, object] of Object.entries(w.storage.contents.objects))
      checkObject(w, name, object.metadata?.deletionTimestamp !== undefined);
  };
}

function checkObject(world: CoordinatorWorld, name: string, deleting: boolean): void {
  const isReady = world.readyOf(name)?.status === "True";
  for (const prefix of world.object(name)?.spec?.cidrs ?? []) {
    const holders = configs(world).filter(
      ({ config }) => onlyCoveredBy(config.owned.map(storedPrefix), []).length > 0 && meets(config, prefix),
    );
    const knowing = holders.filter(({ config }) => config.ranges.includes(prefix));
    const isNamedByOther = Object.entries(world.storage.contents.objects).some(
      ([other, object]) => other !== name && object.spec?.cidrs?.includes(prefix),
    );
    if (deleting && !isNamedByOther && knowing.length > 0) throw new Error(`${name} is shown deleting, and ${prefix} gives out addresses`);
    const isFencing = Object.values(world.storage.contents.cidrs).some((row) => row.name === name && row.fencedUntil > 0);
    const isReopening = Object.values(world.storage.contents.ranges).some((row) => row.prefix === prefix && !row.ready);
    if (isReady && !deleting && !isFencing && !isReopening && knowing.length < holders.length)
      throw new Error(`${name} is Ready before its owners know`);
  }
}

function configs(world: CoordinatorWorld): { uid: string; config: OwnerConfig }[] {
  return [...world.ownerStorages.keys()].flatMap((uid) => {
    const config = world.configOf(uid);
    return config ? [{ uid, config }] : [];
  });
}

function meets(config: OwnerConfig, prefix: string): boolean {
  const wanted = storedPrefix(prefix);
  const without = onlyCoveredBy([wanted], config.owned.map(storedPrefix));
  return JSON.stringify(without) !== JSON.stringify(onlyCoveredBy([wanted], []));
}

async function life(crashAt: number): Promise<CoordinatorWorld> {
  const world = new CoordinatorWorld({ ranges: ["10.0.0.0/26"], crashAt });
  watch(world);
  world.userAddresses.set("10.0.0.200", {
    address: "10.0.0.200",
    token: "seed",
    holder: { kind: "ipaddress", namespace: "", name: "10.0.0.200", uid: "seed" },
  });
  const uidOf = (name: string): string => world.object(name)?.metadata?.uid ?? "";
  await persist(
    world,
    () => world.coordinator.topology(),
    () => world.readyOf("kubernetes")?.status === "True",
  );
  await persist(
    world,
    () => world.create("extra", ["10.0.0.0/24"]),
    () => world.readyOf("extra")?.status === "True",
  );
  const extra = uidOf("extra");
  expect(await world.allocate(extra, "10.0.0.200")).toMatchObject({ ok: false, reason: "taken" });
  const inner = await world.allocate(uidOf("kubernetes"), "10.0.0.9");
  const outer = await world.allocate(extra, "10.0.0.99");
  expect([inner.ok, outer.ok]).toEqual([true, true]);
  world.userAddresses.delete("10.0.0.200");
  await world.run(world.owner(extra).release([{ address: "10.0.0.200", token: "seed" }]));
  await persist(
    world,
    () => world.remove("extra"),
    () => world.readyOf("extra")?.reason === "Terminating",
  );
  await world.run(world.owner(extra).release([{ address: "10.0.0.99", token: outer.token }]));
  await persist(
    world,
    () => world.coordinator.maintain(),
    () => world.object("extra") === undefined,
  );
  await persist(
    world,
    () => world.coordinator.maintain(),
    () => world.configOf(extra)?.retired === true,
  );
  await persist(
    world,
    () => world.create("extra", ["10.0.0.0/24"]),
    () => world.readyOf("extra")?.status === "True",
  );
  expect(uidOf("extra")).not.toBe(extra);
  expect(await world.allocate(uidOf("kubernetes"), "10.0.0.9")).toMatchObject({ ok: false, reason: "taken" });
  expect(await world.allocate(uidOf("extra"), "10.0.0.99")).toMatchObject({ ok: true });
  await world.pass(120_000);
  expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
  expect(world.storage.contents.seedings).toEqual({});
  return world;
}

describe("crash at every point of a ServiceCIDR's life", () => {
  it("each crash: ends as without a crash", { timeout: 120_000 }, async () => {
    const { points } = await life(0);
    expect(points.length).toBeGreaterThan(40);

    for (let at = 1; at <= points.length; at++) {
      await life(at).catch((error: unknown) => {
        throw new Error(`crash at point ${at} (${points[at - 1] ?? ""}): ${String(error)}`, { cause: error });
      });
    }
  });
});

/** Random ServiceCIDRs come and go while Services take and release addresses through topologies of any age. */
async function randomLife(seed: number): Promise<void> {
  const world = new CoordinatorWorld({ ranges: ["10.0.0.0/27"], seed, crashRate: 0.01 });
  const random = seededRandom(seed * 7 + 1);
  watch(world);
  const prefixes = ["10.0.0.0/26", "10.0.0.0/27", "10.0.0.32/27", "10.0.0.0/28", "10.0.0.64/26", "10.0.0.0/25"];
  const names = ["a", "b", "c"];
  const held = new Map<string, { uid: string; token: string }>();
  await persist(
    world,
    () => world.coordinator.readyTopology(5_000),
    () => world.readyOf("kubernetes")?.status === "True",
  );
  let topology = await freshTopology(world);
  for (let step = 0; step < 60; step++) {
    const name = names[random.below(names.length)] ?? "a";
    const dice = random.below(10);
    if (dice < 2) void world.create(name, [prefixes[random.below(prefixes.length)] ?? "10.0.0.0/26"]);
    else if (dice < 4) void world.remove(name);
    else if (dice < 5) topology = await freshTopology(world);
    else if (dice < 6) await world.pass(random.below(3_000));
    else if (dice < 9) {
      const freeOf: DrawChoice["freeOf"] = (_uid, _family, size) => size;
      const full = { dynamic: new Set<string>(), static: new Set<string>() };
      const uid = drawOwner(topology, "IPv4", { random, freeOf, full })?.ownerUid;
      const got = uid === undefined ? undefined : await world.allocate(uid);
      if (uid !== undefined && got?.ok) {
        expect(held.has(got.address), `${got.address} is given out twice`).toBe(false);
        held.set(got.address, { uid, token: got.token });
      }
    } else await release(world, held, random.below(held.size + 1));
  }
  for (const name of names)
    await persist(
      world,
      () => world.coordinator.maintain(),
      () => isStable(world, name),
    );
  const covered = Object.values(world.storage.contents.objects).flatMap((object) => object.spec?.cidrs ?? []);
  for (const address of held.keys()) {
    expect(
      onlyCoveredBy([storedPrefix("10.0.0.0/24")], covered.map(storedPrefix)).some((gap) => inGap(gap, address)),
      `${address} is covered`,
    ).toBe(false);
  }
  // During a hand-off both ends have its rows.
  await world.pass(400_000);
  const rows = (await world.held()).map((row) => row.address);
  expect(rows.sort()).toEqual([...held.keys()].sort());
}

async function freshTopology(world: CoordinatorWorld): Promise<Awaited<ReturnType<CoordinatorWorld["coordinator"]["topology"]>>> {
  for (;;) {
    let answer: Awaited<ReturnType<CoordinatorWorld["coordinator"]["topology"]>> | undefined;
    void world.coordinator.topology().then(
      (topology) => (answer = topology),
      () => undefined,
    );
    await world.pass(100);
    if (answer) return answer;
  }
}

async function release(world: CoordinatorWorld, held: Map<string, { uid: string; token: string }>, index: number): Promise<void> {
  const [address, row] = [...held][index] ?? [];
  if (address === undefined || !row) return;
  if ((await world.run(world.owner(row.uid).release([{ address, token: row.token }])))[0] === "released") held.delete(address);
}

function isStable(world: CoordinatorWorld, name: string): boolean {
  return world.object(name) === undefined || world.readyOf(name) !== undefined;
}

function inGap(gap: { first: string; last: string }, address: string): boolean {
  const number = (text: string): number => Number(text.split(".")[3]);
  return number(gap.first) <= number(address) && number(address) <= number(gap.last);
}

describe("random lives with random deaths", () => {
  itOfSeeds(
    "seed %i: no address is given out twice or loses its cover, and everything comes to rest",
    { fixed: firstSeeds(10), further: 3 },
    randomLife,
  );
});
