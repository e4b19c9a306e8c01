import { describe, expect, it } from "vitest";
import { OPERATION_DEADLINE_MS, RPC_TIMEOUT_MS } from "../../../../src/core/base/limits";
import type { Clock } from "../../../../src/core/base/ports";
import { AddressSupply } from "../../../../src/addresses/ledger/address-supply";
import { FreeHints } from "../../../../src/addresses/coordinator/free-hints";
import type { CoordinatorPeers } from "../../../../src/addresses/coordinator/coordinator-ports";
import type { AllocateAnswer } from "../../../../src/addresses/rpc/service-cidr";
import { aHolder } from "../../../support/worlds/owner-world";
import { aTopology, LedgerWorld } from "../../../support/worlds/ledger-world";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

const MINUTE_MS = 60_000;

class HintsWorld {
  readonly scheduler = new SimScheduler();
  readonly clock = this.scheduler.clock();
  readonly asked: { uid: string; at: number }[] = [];
  free = 1;
  answer: (uid: string) => Promise<void> = () => Promise.resolve();
  readonly hints = new FreeHints(this.clock, {
    owner: (uid: string) => ({
      free: async (): Promise<{ epoch: number; free: AllocateAnswer["free"] }> => {
        this.asked.push({ uid, at: this.scheduler.now });
        const counts = { dynamic: this.free, static: 0 };
        await this.answer(uid);
        return { epoch: 1, free: { IPv4: counts, IPv6: counts } };
      },
    }),
  } as unknown as CoordinatorPeers);

  /** Looks at the owners as a call for the topology does; answers those that were asked since the last look. */
  async look(uids: readonly string[], waitMs = 1_000): Promise<string[]> {
    this.hints.renew(uids);
    await this.scheduler.pass(waitMs);
    return this.asked.splice(0).map(({ uid }) => uid);
  }

  known(uids: readonly string[]): Record<string, number> {
    return Object.fromEntries(this.hints.of(uids).map(({ ownerUid, IPv4 }) => [ownerUid, IPv4.dynamic]));
  }
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `owner-${i}`);

describe("FreeHints", () => {
  it("order of questions: owners never asked, then those asked longest ago, none twice in ten minutes", async () => {
    const world = new HintsWorld();
    expect(await world.look(["b"])).toEqual(["b"]);
    await world.scheduler.pass(MINUTE_MS);
    expect(await world.look(["a", "b", "c"])).toEqual(["a", "c"]);
    await world.scheduler.pass(5 * MINUTE_MS);
    expect(await world.look(["a", "b", "c"])).toEqual([]);
    world.free = 2;
    await world.scheduler.pass(20 * MINUTE_MS);
    expect(await world.look(["a", "b", "c", "d"])).toEqual(["d", "b", "a", "c"]);
    expect(world.known(["a", "b", "c", "d"])).toEqual({ a: 2, b: 2, c: 2, d: 2 });
    expect(world.known(["a"]), "others are forgotten").toEqual({ a: 2 });
    expect(await world.look(["a", "b"])).toEqual(["b"]);
  });

  it("answer from before the owner was forgotten: not kept, even when it is asked again in the same millisecond", async () => {
    const world = new HintsWorld();
    const answers: (() => void)[] = [];
    world.answer = () => new Promise((resolve) => answers.push(resolve));
    const asking = [world.hints.ask(["a"])];
    world.hints.forget("a");
    world.free = 2;
    asking.push(world.hints.ask(["a"]));
    expect(new Set(world.asked.map(({ at }) => at)).size).toBe(1);
    answers[1]?.();
    await world.scheduler.pass(10);
    answers[0]?.();
    await world.scheduler.run(Promise.all(asking));
    expect(world.known(["a"])).toEqual({ a: 2 });
  });

  it("thousand owners: a few are asked after each look, one after the other, with rests", async () => {
    const world = new HintsWorld();
    const all = numbered(1_000);
    world.answer = () => world.clock.sleep(2);
    const seen: string[] = [];
    for (let look = 0; look < 50; look++) {
      world.hints.renew(all);
      world.hints.renew(all);
      await world.scheduler.pass(1_000);
      const times = world.asked.map(({ at }) => at);
      expect(times.length).toBe(20);
      for (const [i, at] of times.slice(1).entries()) expect(at - (times[i] ?? 0)).toBeGreaterThanOrEqual(2 + 4 * 2);
      seen.push(...world.asked.splice(0).map(({ uid }) => uid));
    }
    expect(new Set(seen).size).toBe(1_000);
  });

  it("owner that does not answer: its known count stays, and it holds up the others for one call only", async () => {
    const world = new HintsWorld();
    await world.look(["a", "b"]);
    await world.scheduler.pass(20 * MINUTE_MS);
    world.answer = (uid) => (uid === "a" ? new Promise<never>(() => undefined) : Promise.resolve());
    world.free = 2;
    expect(await world.look(["a", "b", "c"], 6_000)).toEqual(["c", "a", "b"]);
    expect(world.known(["a", "b", "c"])).toEqual({ a: 1, b: 2, c: 2 });
    expect(await world.look(["a", "b", "c"])).toEqual([]);
  });

  it("owner that fails: asked again within seconds, then later each time; after an answer every ten minutes", async () => {
    const world = new HintsWorld();
    world.answer = () => Promise.reject(new Error("reset"));
    const asked: number[] = [];
    const lookEachSecond = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        world.hints.renew(["a"]);
        await world.scheduler.pass(1_000);
      }
      asked.push(...world.asked.splice(0).map(({ at }) => at));
    };
    await lookEachSecond(300);
    const waits = asked.slice(1).map((at, i) => Math.round((at - (asked[i] ?? 0)) / 1_000));
    expect(waits.slice(0, 7)).toEqual([3, 5, 9, 17, 33, 61, 61]);
    expect(world.known(["a"])).toEqual({});

    world.answer = () => Promise.resolve();
    await lookEachSecond(62);
    expect(world.known(["a"])).toEqual({ a: 1 });
    asked.length = 0;
    await lookEachSecond(500);
    expect(asked).toEqual([]);

    await world.scheduler.pass(10 * MINUTE_MS);
    world.answer = () => Promise.reject(new Error("reset"));
    await lookEachSecond(4);
    expect(asked, "the waits begin anew").toHaveLength(2);
    expect(world.known(["a"]), "what was known stays").toEqual({ a: 1 });
  });

  it("owner that fails when all are asked: asked again soon", async () => {
    const world = new HintsWorld();
    world.answer = (uid) => (uid === "owner-1" ? Promise.reject(new Error("reset")) : Promise.resolve());
    await world.scheduler.run(world.hints.ask(numbered(3)));
    world.answer = () => Promise.resolve();
    world.asked.length = 0;
    await world.scheduler.pass(2_000);
    expect(await world.look(numbered(3))).toEqual(["owner-1"]);
    expect(world.known(numbered(3))).toEqual({ "owner-0": 1, "owner-1": 1, "owner-2": 1 });
  });

  it("forgotten owner: asked again soon, and an answer from before is not kept", async () => {
    const world = new HintsWorld();
    world.answer = () => world.clock.sleep(50);
    world.hints.renew(["a"]);
    await world.scheduler.pass(20);
    world.hints.forget("a");
    await world.scheduler.pass(1_000);
    expect(world.known(["a"])).toEqual({});
    expect(await world.look(["a"])).toEqual(["a", "a"]);
    expect(world.known(["a"])).toEqual({ a: 1 });
  });

  it("ask for a thousand owners: few side by side, with rests for others", async () => {
    const world = new HintsWorld();
    let open = 0;
    let most = 0;
    world.answer = () => {
      most = Math.max(most, ++open);
      return Promise.resolve().then(() => void open--);
    };
    const answers = await world.scheduler.run(world.hints.ask(numbered(1_000)));
    expect(answers.length).toBe(1_000);
    expect(most).toBeLessThanOrEqual(32);
    expect(new Set(world.asked.map(({ at }) => at)).size).toBeGreaterThan(30);
  });

  it("ask for all: has the answers that came in time, and waits less for an owner that left its last question open", async () => {
    const world = new HintsWorld();
    const late = numbered(5).filter((uid) => uid !== "owner-3");
    const took: number[] = [];
    for (const waitMs of [Infinity, Infinity, Infinity, 0, 0]) {
      world.answer = (uid) => (uid === "owner-3" ? new Promise((resolve) => world.clock.after(waitMs, resolve)) : Promise.resolve());
      const begun = world.scheduler.now;
      const answers = await world.scheduler.run(world.hints.ask(numbered(5)));
      took.push(world.scheduler.now - begun);
      expect(answers.map(({ free }) => free.ownerUid).sort()).toEqual(waitMs === 0 ? numbered(5) : late);
    }
    expect(took.slice(0, 3)).toEqual([4_000, 2_000, 2_000]);
    for (const ms of took.slice(3)) expect(ms).toBeLessThan(100);
  });

  it("ask for all: has the answers of owners that always take seconds", async () => {
    const world = new HintsWorld();
    world.answer = (uid) => world.clock.sleep(uid === "owner-700" ? 3_500 : 0);
    for (let round = 0; round < 3; round++) expect(await world.scheduler.run(world.hints.ask(numbered(1_000)))).toHaveLength(1_000);
  });
});

describe("take from a thousand full owners", () => {
  /** A store with a thousand owners that have nothing left. */
  function fullWorld(answer: (uid: string, clock: Clock) => Promise<unknown>) {
    const world = new LedgerWorld();
    const uids = numbered(1_000);
    world.topology = aTopology(1, Object.fromEntries(uids.map((uid, i) => [uid, `10.${i >> 6}.${(i & 63) << 2}.0/22`])));
    const none = { dynamic: 0, static: 0 };
    const owner = (uid: string) => ({
      free: async () => {
        await answer(uid, world.clock);
        return { epoch: 1, free: { IPv4: none, IPv6: none } };
      },
    });
    const hints = new FreeHints(world.clock, { owner } as unknown as CoordinatorPeers);
    world.countedTopology = async () => ({ ...world.topology, free: (await hints.ask(uids)).map(({ free }) => free) });
    const supply = new AddressSupply(world.supplyPorts);
    let tokens = 0;
    const take = async () => {
      const begun = world.clock.now();
      const wanted = { family: "IPv4", address: "", holder: aHolder() } as const;
      const result = await supply.take(wanted, begun + OPERATION_DEADLINE_MS, () => `token-${++tokens}`);
      return { reason: result.ok ? "" : result.reason, ms: world.clock.now() - begun };
    };
    return { world, take };
  }

  it.each([
    ["that answer at once", () => Promise.resolve(), "full", 1_000],
    ["of which one takes 3 s each time", (uid: string, clock: Clock) => clock.sleep(uid === "owner-500" ? 3_000 : 0), "full", 10_000],
    [
      "of which one does not answer",
      (uid: string) => (uid === "owner-500" ? new Promise(() => undefined) : Promise.resolve()),
      "unavailable",
      OPERATION_DEADLINE_MS + RPC_TIMEOUT_MS,
    ],
  ])("%s: refused in time", async (_, answer, reason, withinMs) => {
    const { world, take } = fullWorld(answer);
    const alone = await world.scheduler.run(take());
    const together = await world.scheduler.run(
      Promise.all(Array.from({ length: 5 }, async (_, i) => world.clock.sleep(i * 700).then(take))),
    );
    for (const taken of [alone, ...together]) {
      expect(taken.reason).toBe(reason);
      expect(taken.ms).toBeLessThan(withinMs);
    }
  });

  it.each([
    [100, 5_000],
    [300, 12_000],
  ])("that each take %s ms to wake: full in time", async (wakeMs, withinMs) => {
    const awake = new Set<string>();
    const wake = async (uid: string): Promise<void> => {
      if (!awake.has(uid)) await world.clock.sleep(wakeMs);
      awake.add(uid);
    };
    const { world, take } = fullWorld(wake);
    world.allocate = (uid) => wake(uid).then(() => ({ ok: false, reason: "full" }));
    const { reason, ms } = await world.scheduler.run(take());
    expect(reason).toBe("full");
    expect(ms).toBeLessThan(withinMs);
  });
});
