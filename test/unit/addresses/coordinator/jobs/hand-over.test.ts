/** Hand-offs from the owner of a ServiceCIDR that goes to the owners of those that cover its segments. */
import { describe, expect, it } from "vitest";
import { HANDOFF_TIMEOUT_MS } from "../../../../../src/addresses/rpc/limits";
import { TERMINATING } from "../../../../../src/addresses/coordinator/state/service-cidr-object";
import { ownerOf } from "../../../../../src/addresses/topology/route";
import { checkOwnership, CoordinatorWorld, startedWorld, type WorldOptions } from "../../../../support/worlds/coordinator-world";

/** The default range lies far from everything that moves. */
const RANGES = ["10.9.0.0/28"];

/** The Coordinator's claims, owner by segment, without the default range. */
function claims(world: CoordinatorWorld): Record<string, string> {
  const names = new Map(Object.values(world.storage.contents.cidrs).map(({ uid, name }) => [uid, name]));
  const rows = world.storage.load().claims.filter(({ prefix }) => prefix !== "10.9.0.0/28");
  return Object.fromEntries(rows.map(({ prefix, ownerUid }) => [prefix, names.get(ownerUid) ?? "(gone)"]));
}

/** `old` owns 10.0.1.0/24 and holds 10.0.1.9; `new` covers it. */
async function aboutToMove(options: WorldOptions = {}) {
  const world = await startedWorld({ ranges: RANGES, ...options });
  const source = await world.created("old", ["10.0.1.0/24"]);
  const held = await world.allocate(source, "10.0.1.9");
  const target = await world.created("new", ["10.0.1.0/24"]);
  return { world, source, target, held };
}

async function forceAway(world: CoordinatorWorld, name: string): Promise<void> {
  await world.run(world.dropFinalizers(name));
}

const isOver = (world: CoordinatorWorld) => (): boolean => Object.keys(world.storage.contents.handoffs).length === 0;

describe("targets of a hand-off", () => {
  it.each<{ name: string; before: [string, string[]][]; remove: string; after: Record<string, string> }>([
    {
      name: "same prefix: the segment moves",
      before: [
        ["a", ["10.0.0.0/24"]],
        ["b", ["10.0.0.0/24"]],
      ],
      remove: "a",
      after: { "10.0.0.0/24": "b" },
    },
    {
      name: "innermost of three nested: its segment goes to the largest",
      before: [
        ["small", ["10.0.0.0/24"]],
        ["middle", ["10.0.0.0/13"]],
        ["large", ["10.0.0.0/12"]],
      ],
      remove: "small",
      after: { "10.0.0.0/24": "large", "10.0.1.0/24": "middle", "10.0.2.0/23": "middle" },
    },
    {
      name: "half of a segment covered: this half moves, the other is dropped",
      before: [
        ["whole", ["10.0.0.0/24"]],
        ["half", ["10.0.0.128/25"]],
      ],
      remove: "whole",
      after: { "10.0.0.128/25": "half" },
    },
    {
      name: "parts for several owners: each gets its own, and neighbours of one owner are joined",
      before: [
        ["whole", ["10.0.0.0/22"]],
        ["low", ["10.0.0.0/24"]],
        ["lower", ["10.0.0.0/25"]],
        ["high", ["10.0.2.0/23"]],
      ],
      remove: "whole",
      after: { "10.0.0.0/24": "low", "10.0.2.0/23": "high" },
    },
    {
      name: "both families: both segments move",
      before: [
        ["a", ["10.0.0.0/24", "fd00::/64"]],
        ["b", ["fd00::/48", "10.0.0.0/23"]],
      ],
      remove: "a",
      after: { "10.0.0.0/23": "b", "fd00::/48": "b" },
    },
    {
      name: "outer of two nested: its inner part moves",
      before: [
        ["outer", ["10.0.0.0/23"]],
        ["inner", ["10.0.0.0/24"]],
      ],
      remove: "outer",
      after: { "10.0.0.0/24": "inner" },
    },
  ])("$name", async ({ before, remove, after }) => {
    const world = await startedWorld({ ranges: RANGES });
    for (const [name, cidrs] of before) await world.created(name, cidrs);
    const gone = world.uidOf(remove);
    await world.run(world.remove(remove));
    await world.until(() => world.object(remove) === undefined && world.configOf(gone)?.retired === true);
    await world.pass(60_000);
    const found = claims(world);
    for (const [prefix, name] of Object.entries(after)) expect(found, prefix).toMatchObject({ [prefix]: name });
    expect(Object.values(found)).not.toContain("(gone)");
    expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
  });

  it("addresses that are not on the move: given out during the hand-off", async () => {
    const { world, source, target } = await aboutToMove();
    await world.created("other", ["10.0.2.0/24"]);
    const other = world.uidOf("other");
    world.intercept = async (call) => {
      if (!call.startsWith("copyOut")) return;
      const got = await world
        .owner(other)
        .allocate([{ token: "meanwhile", family: "IPv4", address: "", holder: { kind: "service", namespace: "", name: "", uid: "" } }]);
      expect(got.results[0]).toMatchObject({ ok: true });
    };
    await world.run(world.remove("old"));
    await world.until(() => world.configOf(source)?.retired === true);
    expect(await world.allocate(target, "10.0.1.9")).toMatchObject({ ok: false, reason: "taken" });
  });
});

describe("/24 inside /16 inside /8", () => {
  const CIDRS: Readonly<Record<string, string>> = { small: "10.0.0.0/24", middle: "10.0.0.0/16", large: "10.0.0.0/8" };
  /** An address and the ranges that it is in. */
  const HELD: readonly (readonly [string, readonly string[]])[] = [
    ["10.0.0.9", ["small", "middle", "large"]],
    ["10.0.9.9", ["middle", "large"]],
    ["10.9.9.9", ["large"]],
  ];
  const ORDERS = [
    ["small", "middle", "large"],
    ["small", "large", "middle"],
    ["middle", "small", "large"],
    ["middle", "large", "small"],
    ["large", "small", "middle"],
    ["large", "middle", "small"],
  ];

  it.each(ORDERS.flatMap((made) => ORDERS.map((removed) => ({ made: made.join(), removed: removed.join() }))))(
    "made $made, deleted $removed: each address has one owner until it is released, and its last cover waits",
    async ({ made, removed }) => {
      const world = await startedWorld({ ranges: ["192.168.9.0/28"] });
      world.check = checkOwnership;
      const ownerOfAddress = async (address: string): Promise<string> =>
        ownerOf(await world.run(world.coordinator.topology()), address) ?? "";
      const tokens = new Map<string, string>();
      for (const name of made.split(",")) await world.created(name, [CIDRS[name] ?? ""]);
      for (const [address] of HELD) {
        const got = await world.allocate(await ownerOfAddress(address), address);
        expect(got).toMatchObject({ ok: true });
        tokens.set(address, got.token);
      }
      const left = new Set(Object.keys(CIDRS));
      for (const name of removed.split(",")) {
        left.delete(name);
        await world.run(world.remove(name));
        const last = HELD.filter(([address, ranges]) => tokens.has(address) && !ranges.some((range) => left.has(range)));
        if (last.length > 0) {
          await world.until(() => world.readyOf(name)?.reason === TERMINATING.reason);
          await world.pass(60_000);
          expect(world.object(name), "waits").toBeDefined();
        }
        for (const [address] of last) {
          const release = world.owner(await ownerOfAddress(address)).release([{ address, token: tokens.get(address) ?? "" }]);
          expect(await world.run(release)).toEqual(["released"]);
          tokens.delete(address);
        }
        await world.until(() => world.object(name) === undefined);
        await world.pass(60_000);
        expect((await world.held()).map(({ address, token }) => [address, token]).sort()).toEqual([...tokens].sort());
        for (const [address] of tokens) {
          expect(await world.allocate(await ownerOfAddress(address), address), address).toMatchObject({ ok: false, reason: "taken" });
        }
      }
      expect(world.storage.load().claims.map(({ prefix }) => prefix)).toEqual(["192.168.9.0/28"]);
      expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
    },
  );
});

describe("hand-off in trouble", () => {
  it("hazard 5, copy that times out: given up under a new epoch, thawed, and ended by a later attempt", async () => {
    const { world, source, target, held } = await aboutToMove();
    await world.run(world.remove("old"));
    world.intercept = (call) => (call.startsWith("receive") ? new Promise<void>(() => undefined) : undefined);
    await world.until(() => world.configOf(source)?.frozen.length === 1);
    const frozenAt = world.nowMs;
    await world.until(() => world.configOf(source)?.frozen.length === 0);
    expect(world.nowMs - frozenAt).toBeLessThan(HANDOFF_TIMEOUT_MS + 1_000);
    expect(await world.allocate(source, "10.0.1.10"), "the cover gives it out").toMatchObject({ ok: true });
    expect(await world.run(world.owner(source).release([{ address: "10.0.1.9", token: held.token }]))).toEqual(["released"]);
    world.intercept = () => undefined;
    await world.until(() => world.configOf(source)?.retired === true);
    expect((await world.held()).map(({ uid, address }) => [uid, address])).toEqual([[target, "10.0.1.10"]]);
  });

  it("hazard 5, late calls of an abandoned attempt: refused by owners and Coordinator", async () => {
    const { world, source, target } = await aboutToMove();
    await world.run(world.remove("old"));
    const late: (() => void)[] = [];
    const attempts = (): number => new Set(world.pushed.flatMap(({ config }) => config.receiving.map(({ handoff }) => handoff))).size;
    world.intercept = (call) => {
      if (call.startsWith("receive") && attempts() === 1) return new Promise<void>((resolve) => void late.push(resolve));
    };
    await world.until(() => attempts() === 2 && world.configOf(source)?.retired === true);
    expect(late.length).toBeGreaterThan(1);
    const before = await world.held();
    for (const arrive of late) arrive();
    await world.pass(60_000);
    expect(before).toMatchObject([{ uid: target, address: "10.0.1.9" }]);
    expect(await world.held()).toEqual(before);
  });

  it.each([
    { lost: 1, withinMs: 500 },
    { lost: 3, withinMs: 1_500 },
    { lost: 12, withinMs: 600_000 },
  ])("$lost lost first calls to the target: tried again soon, and later each time", async ({ lost, withinMs }) => {
    const { world, source, target } = await aboutToMove();
    const from = world.nowMs;
    const at: number[] = [];
    world.intercept = (call) => {
      if (call !== `free ${target}`) return undefined;
      at.push(world.nowMs);
      return at.length <= lost ? Promise.reject(new Error("lost")) : undefined;
    };
    await world.run(world.remove("old"));
    await world.until(() => world.configOf(source)?.retired === true, withinMs);
    expect([at.length, world.nowMs - from <= withinMs]).toEqual([lost + 1, true]);
    const gaps = at.slice(1).map((time, i) => time - (at[i] ?? 0));
    const rests = [100, 200, 400, 800, 1_600, 3_200, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000];
    gaps.forEach((gap, i) => expect(gap, `rest ${i}`).toBeGreaterThanOrEqual(rests[i] ?? 0));
  });

  it("hazard 10, target that starts deleting: the hand-off ends, and both wait for the addresses", async () => {
    const { world, source, target, held } = await aboutToMove();
    await world.run(world.remove("old"));
    let stop: (() => void) | undefined;
    world.intercept = (call) => (call.startsWith("receive") ? new Promise<void>((resolve) => (stop = resolve)) : undefined);
    await world.until(() => stop !== undefined);
    await world.run(world.remove("new"));
    expect(world.storage.load().handoffs).toMatchObject([{ phase: "resting", prefixes: [] }]);
    stop?.();
    world.intercept = () => undefined;
    await world.pass(120_000);
    expect(world.readyOf("old")).toMatchObject(TERMINATING);
    expect(world.readyOf("new")).toMatchObject(TERMINATING);
    expect(world.configOf(target)).toMatchObject({ owned: [], receiving: [] });
    expect(await world.held()).toMatchObject([{ uid: source, address: "10.0.1.9" }]);
    await world.run(world.owner(source).release([{ address: "10.0.1.9", token: held.token }]));
    await world.until(() => world.object("old") === undefined && world.object("new") === undefined);
  });

  it("hazard 10, removed by force: neither end retires before the hand-off is over", async () => {
    const { world, source, target } = await aboutToMove();
    world.check = (w) => {
      checkOwnership(w);
      const handoff = Object.values(w.storage.contents.handoffs).find(({ phase }) => phase !== "resting");
      if (!handoff) return;
      for (const uid of [handoff.sourceUid, handoff.targetUid]) {
        if (w.configOf(uid)?.retired) throw new Error(`${uid} is retired in the middle of a hand-off`);
      }
    };
    await world.run(world.remove("old"));
    await forceAway(world, "old");
    await world.until(isOver(world));
    await world.until(() => world.configOf(source)?.retired === true);
    expect(world.configOf(target)?.retired).toBe(false);
  });

  it.each(["partition", "configure", "copyOut", "receive"])(
    "hazard 11, finalizers removed by force at the first %s: the hand-off goes on",
    async (method) => {
      const { world, source, target, held } = await aboutToMove();
      await world.run(world.remove("old"));
      let forced: Promise<void> | undefined;
      world.intercept = (call) => {
        if (call.startsWith(method)) forced ??= forceAway(world, "old").catch(() => undefined);
      };
      await world.until(() => world.configOf(source)?.retired === true);
      expect(forced).toBeDefined();
      expect(world.object("old")).toBeUndefined();
      expect(await world.held()).toMatchObject([{ uid: target, address: "10.0.1.9" }]);
      expect(await world.run(world.owner(target).release([{ address: "10.0.1.9", token: held.token }]))).toEqual(["released"]);
    },
  );

  it("hazard 11, target removed by force: becomes a source in its turn", async () => {
    const { world, source, target } = await aboutToMove();
    await world.run(world.remove("old"));
    await world.until(() => world.storage.load().handoffs[0]?.phase === "activating");
    await world.run(world.remove("new"));
    await forceAway(world, "new");
    await world.until(isOver(world));
    await world.until(() => world.readyOf("old")?.reason === "Terminating");
    expect(await world.held()).toMatchObject([{ uid: target, address: "10.0.1.9" }]);
    const third = await world.created("third", ["10.0.0.0/16"]);
    await world.until(() => world.configOf(target)?.retired === true && world.configOf(source)?.retired === true);
    expect(await world.held()).toMatchObject([{ uid: third, address: "10.0.1.9" }]);
  });

  it("hazard 12, cover that is not Ready: takes nothing over", async () => {
    const { world, source } = await aboutToMove();
    await world.run(world.setReady("new", "False"));
    await world.run(world.remove("old"));
    await world.pass(60_000);
    expect(world.readyOf("old")).toMatchObject(TERMINATING);
    expect(world.storage.load().handoffs).toEqual([]);
    await world.run(world.setReady("new", "True"));
    await world.until(() => world.configOf(source)?.retired === true);
  });

  it("hazard 17, releases sent to the old owner: stale all the while, and the new owner has the row", async () => {
    const { world, source, target, held } = await aboutToMove();
    const release = { address: "10.0.1.9", token: held.token };
    await world.run(world.remove("old"));
    const answers: string[] = [];
    world.intercept = async (call) => {
      if (/^(copyOut|receive|configure)/.test(call) && world.configOf(source)?.frozen.length === 1)
        answers.push(...(await world.owner(source).release([release])));
    };
    await world.until(() => world.configOf(source)?.retired === true);
    expect(answers.length).toBeGreaterThan(2);
    expect(new Set(answers)).toEqual(new Set(["stale"]));
    expect(await world.run(world.owner(source).release([release]))).toEqual(["stale"]);
    expect(await world.run(world.owner(target).release([release]))).toEqual(["released"]);
  });

  it("hazard 19, target that hangs: holds up neither other hand-offs nor other ServiceCIDRs", async () => {
    const { world, target } = await aboutToMove();
    const source = await world.created("old-2", ["10.0.2.0/24"]);
    await world.created("new-2", ["10.0.2.0/24"]);
    world.deaf.add(target);
    await world.run(Promise.all([world.remove("old"), world.remove("old-2")]));
    await world.until(() => world.configOf(source)?.retired === true, 5_000);
    await world.created("another", ["10.0.3.0/24"]);
    expect(world.object("old"), "waits").toBeDefined();
    world.deaf.delete(target);
    await world.until(() => world.object("old") === undefined);
  });
});

describe("hand-off of many addresses", () => {
  it("lots: frozen one after the other", async () => {
    const world = await startedWorld({ ranges: RANGES });
    const source = await world.created("old", ["10.64.0.0/18"]);
    const holder = { kind: "service", namespace: "", name: "", uid: "" } as const;
    for (let i = 0; i < 9; i++) {
      const items = Array.from({ length: 1_500 }, (_, j) => ({ token: `t-${i}-${j}`, family: "IPv4" as const, address: "", holder }));
      await world.run(world.owner(source).allocate(items));
    }
    const target = await world.created("new", ["10.64.0.0/16"]);
    let most = 0;
    world.check = (w) => {
      checkOwnership(w);
      most = Math.max(most, (w.configOf(source)?.frozen.length ?? 0) / Math.max(1, w.configOf(source)?.owned.length ?? 1));
    };
    await world.run(world.remove("old"));
    await world.until(() => world.configOf(source)?.retired === true);
    expect(world.pushed.filter(({ uid, config }) => uid === target && config.receiving.length > 0).length).toBeGreaterThan(1);
    await world.pass(60_000);
    expect(claims(world)).toEqual({ "10.64.0.0/16": "new" });
    expect((await world.owner(target).countTaken([{ first: "10.64.0.0", last: "10.64.63.255" }])).taken).toEqual([13_500]);
  });
});

describe("crash at every point of a hand-off", () => {
  async function life(crashAt: number): Promise<CoordinatorWorld> {
    const world = new CoordinatorWorld({ ranges: RANGES, crashAt });
    world.check = checkOwnership;
    const persist = async (request: () => Promise<unknown>, isDone: () => boolean): Promise<void> => {
      for (let attempt = 0; attempt < 50 && !isDone(); attempt++) {
        void request();
        const end = world.nowMs + 30_000;
        await world.until(() => isDone() || world.nowMs >= end - 1, 31_000).catch(() => undefined);
      }
      expect(isDone(), String(isDone)).toBe(true);
    };
    const made = (name: string, cidr: string): Promise<void> =>
      persist(
        () => world.create(name, [cidr]),
        () => world.readyOf(name)?.status === "True",
      );
    await made("old", "10.0.0.0/23");
    const source = world.uidOf("old");
    const held = await world.allocate(source, "10.0.1.9");
    await world.allocate(source, "10.0.1.200");
    await made("new", "10.0.1.0/24");
    const target = world.uidOf("new");
    await persist(
      () => world.remove("old"),
      () => world.configOf(source)?.retired === true,
    );
    expect((await world.held()).map(({ uid, address }) => `${uid} ${address}`)).toEqual([`${target} 10.0.1.9`, `${target} 10.0.1.200`]);
    expect(await world.run(world.owner(target).release([{ address: "10.0.1.9", token: held.token }]))).toEqual(["released"]);
    expect(await world.allocate(target, "10.0.1.10")).toMatchObject({ ok: true });
    await world.pass(400_000);
    expect(claims(world)).toEqual({ "10.0.1.0/24": "new" });
    expect(world.storage.contents.handoffs).toEqual({});
    expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
    return world;
  }

  it("each crash: ends as without a crash", { timeout: 120_000 }, async () => {
    const { points } = await life(0);
    for (const step of ["partition", "copyOut", "receive"]) expect(points.some((point) => point.startsWith(step))).toBe(true);
    for (let at = 1; at <= points.length; at++) {
      await life(at).catch((error: unknown) => {
        throw new Error(`crash at point ${at} (${points[at - 1] ?? ""}): ${String(error)}`, { cause: error });
      });
    }
  });
});
