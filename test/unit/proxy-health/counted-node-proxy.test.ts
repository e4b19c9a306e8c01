import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/core/base/ports";
import {
  CountedNodeProxy,
  EAGER_MESSAGES,
  REPEAT_MS,
  REPEATS_MAX,
  TELL_APART_MS,
  TELL_DELAY_MS,
} from "../../../src/proxy-health/counted-node-proxy";
import type { HealthTally } from "../../../src/proxy-health/pushed/health-tally";
import { MemoryNodeStorage } from "../../support/memory/node-storage";

const START = Date.UTC(2025, 0, 1);

class World {
  now = START;
  readonly told: HealthTally[] = [];
  isControllerAway = false;
  messages = 0;
  readonly #timers = new Set<{ at: number; work: () => void }>();
  readonly object: CountedNodeProxy;

  constructor() {
    const clock: Clock = {
      now: () => this.now,
      sleep: () => Promise.resolve(),
      after: (delayMs, work) => {
        const timer = { at: this.now + delayMs, work };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
      nextTurn: () => Promise.resolve(),
    };
    this.object = new CountedNodeProxy(
      {
        storage: new MemoryNodeStorage(),
        clock,
        recorder: { log: () => undefined },
        node: (name) => Promise.resolve(name.startsWith("n") ? "{}" : null),
        state: () => Promise.resolve(null),
        wakeAt: () => undefined,
        alarmAt: () => Promise.resolve(null),
        tell: (tally) => {
          this.messages++;
          if (this.isControllerAway) return Promise.reject(new Error("away"));
          this.told.push(tally);
          return Promise.resolve();
        },
      },
      { syncPeriodMs: 30_000, serverStartedAt: 0, drainingTaints: [], drainsTerminatingNodes: true },
    );
  }

  async pass(durationMs: number): Promise<void> {
    this.now += durationMs;
    for (const timer of this.#timers) {
      if (timer.at > this.now) continue;
      this.#timers.delete(timer);
      timer.work();
    }
    for (let i = 0; i < 50; i++) await Promise.resolve();
  }

  get isIdle(): boolean {
    return this.#timers.size === 0;
  }
}

describe("answers of an object with the health of nodes", () => {
  it("checks that come together: one message behind them; then nothing waits, so that the object sleeps", async () => {
    const world = new World();
    for (let i = 0; i < 100; i++) await world.object.health("n1", "/livez");
    await world.pass(TELL_DELAY_MS);
    expect(world.told.map(({ answers }) => answers)).toEqual([{ "/livez 200": 100 }]);
    expect(world.isIdle).toBe(true);
    await world.object.health("unknown", "/healthz");
    await world.pass(TELL_DELAY_MS);
    expect(world.told.map(({ life, answers }) => [life, answers])[1]).toEqual([START, { "/livez 200": 100, "/healthz 503": 1 }]);
    expect([world.told.length, world.isIdle]).toEqual([2, true]);
  });

  it("checks that go on: the first ones are told, then one message a minute with all of them; no timer waits for it", async () => {
    const world = new World();
    const check = async (): Promise<void> => {
      await world.object.health("n1", "/livez");
      await world.pass(TELL_DELAY_MS);
      expect(world.isIdle).toBe(true);
    };
    const seconds = TELL_APART_MS / TELL_DELAY_MS;
    for (let i = 0; i < EAGER_MESSAGES + seconds; i++) await check();
    expect(world.told).toHaveLength(EAGER_MESSAGES);
    await check();
    expect(world.told.at(-1)?.answers).toEqual({ "/livez 200": EAGER_MESSAGES + seconds + 1 });
    expect(world.told).toHaveLength(EAGER_MESSAGES + 1);
  });

  it("a state that changes while checks go on: is told at once; a clock that was set back holds up nothing", async () => {
    const world = new World();
    for (let i = 0; i <= EAGER_MESSAGES; i++) {
      await world.object.report("n1", {});
      await world.pass(TELL_DELAY_MS);
    }
    expect(world.told).toHaveLength(EAGER_MESSAGES);
    await world.object.report("n1", { IPv4: { healthy: false } });
    await world.pass(TELL_DELAY_MS);
    expect(world.told.at(-1)?.nodes).toEqual({ healthy: 0, late: 1, silent: 0 });
    world.now -= 2 * TELL_APART_MS;
    await world.object.health("n1", "/livez");
    world.now += TELL_DELAY_MS;
    await world.pass(2 * TELL_APART_MS);
    expect(world.told.at(-1)?.answers).toEqual({ "/livez 503": 1 });
  });

  it("answers that count only for a Node: those of a name without one do not", async () => {
    const world = new World();
    for (const name of ["unknown", "n1"]) await world.object.health(name, "/healthz", "ofNodes");
    await world.object.health("unknown", "/livez");
    await world.pass(TELL_DELAY_MS);
    expect(world.told.map(({ answers }) => answers)).toEqual([{ "/healthz 200": 1, "/livez 200": 1 }]);
  });

  it("a controller that is away: answers go on, and the next message has everything", async () => {
    const world = new World();
    world.isControllerAway = true;
    await world.object.health("n1", "/livez");
    await world.pass(TELL_DELAY_MS);
    expect((await world.object.health("n1", "/livez")).code).toBe(200);
    world.isControllerAway = false;
    await world.pass(REPEAT_MS);
    expect([world.told.map(({ answers }) => answers), world.isIdle]).toEqual([[{ "/livez 200": 2 }], true]);
  });

  it("a controller that stays away: without news some more messages, so that the object sleeps; the next check brings everything", async () => {
    const world = new World();
    world.isControllerAway = true;
    for (let times = 1; times <= 2; times++) {
      await world.object.health("n1", "/livez");
      for (let i = 0; i < 2 * REPEATS_MAX; i++) await world.pass(REPEAT_MS);
      expect([world.messages, world.isIdle]).toEqual([times * (REPEATS_MAX + 1), true]);
    }
    world.isControllerAway = false;
    await world.object.health("n1", "/livez");
    await world.pass(TELL_APART_MS);
    expect([world.told.map(({ answers }) => answers), world.isIdle]).toEqual([[{ "/livez 200": 3 }], true]);
  });

  it("nodes with an agent: by state", async () => {
    const world = new World();
    await world.object.report("n1", {});
    await world.object.report("n2", { IPv4: { healthy: false } });
    await world.pass(TELL_DELAY_MS);
    expect(world.told.at(-1)?.nodes).toEqual({ healthy: 1, late: 1, silent: 0 });
    await world.pass(TELL_APART_MS);
    await world.object.report("n2", {});
    await world.object.alarm();
    await world.pass(TELL_APART_MS);
    expect(world.told.at(-1)?.nodes).toEqual({ healthy: 1, late: 0, silent: 1 });
  });

  it("families of nodes with an agent: how many are late, and the oldest change and sync; silent nodes are left out", async () => {
    const world = new World();
    await world.object.report("n1", { IPv4: { appliedAgoMs: 5_000, queuedForMs: 61_000 }, IPv6: { appliedAgoMs: 1_000 } });
    await world.object.report("n2", { IPv4: { appliedAgoMs: 9_000, queuedForMs: 10 }, IPv6: { healthy: false } });
    // Queued and never applied: upstream does not count such a family.
    await world.object.report("n3", { IPv4: { queuedForMs: 99_000 } });
    await world.object.report("n4", {});
    await world.pass(TELL_DELAY_MS);
    expect(world.told.at(-1)?.families).toEqual({
      IPv4: { late: 1, queuedSince: START - 61_000, syncedAt: START - 9_000 },
      IPv6: { late: 1, syncedAt: START - 1_000 },
    });
    await world.pass(TELL_APART_MS);
    await world.object.report("n1", { IPv4: { appliedAgoMs: 0 } });
    await world.object.alarm();
    await world.pass(TELL_APART_MS);
    expect(world.told.at(-1)?.families).toEqual({ IPv4: { late: 0, syncedAt: START + TELL_DELAY_MS + TELL_APART_MS } });
  });

  it("a Node that is gone: counts no more, at once and without a check", async () => {
    const world = new World();
    await world.object.report("n1", {});
    await world.object.report("n2", {});
    await world.pass(TELL_DELAY_MS);
    const facts = { isTerminating: false, taints: [] };
    await world.object.push({ to: { epoch: 1, sequence: 1 }, nodes: { n1: { facts, counts: {} } }, checks: [] });
    await world.object.push({ from: { epoch: 1, sequence: 1 }, to: { epoch: 1, sequence: 2 }, nodes: { n1: null } });
    await world.pass(TELL_DELAY_MS);
    expect(world.told.map(({ nodes }) => nodes.healthy)).toEqual([2, 1]);
  });
});
