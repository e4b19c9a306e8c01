/** Several loops of one thread, in virtual time: a step keeps the thread for as long as it works, and no two steps run together. */
import { describe, expect, it } from "vitest";
import { GENTLE_TURNS, type LoopTurns, URGENT_TURNS } from "../../../../src/core/base/loop-turns";
import { Pace, REST_GENTLY, REST_URGENTLY } from "../../../../src/core/base/pause";

const WINDOW_MS = 60_000;
const STEP_MS = 10;

/** One thread: a timer fires when nobody computes. */
class Thread {
  now = 1_700_000_000_000;
  readonly timers: { at: number; work(): void }[] = [];
  /** work of each loop so far, in ms */
  readonly work: number[] = [];
  readonly clock = {
    now: () => this.now,
    after: (ms: number, work: () => void) => {
      this.timers.push({ at: this.now + ms, work });
      return () => undefined;
    },
  };

  /** A loop with so many steps. */
  start(pace: (clock: Thread["clock"]) => Pace, steps = Infinity): void {
    const at = this.work.push(0) - 1;
    const own = pace(this.clock);
    void (async () => {
      for (let step = 0; step < steps; step++) {
        this.now += STEP_MS;
        this.work[at] = (this.work[at] ?? 0) + STEP_MS;
        await own.rest();
      }
    })();
  }

  async pass(durationMs: number): Promise<void> {
    const end = this.now + durationMs;
    for (;;) {
      this.timers.sort((a, b) => a.at - b.at);
      const next = this.timers[0];
      if (!next || Math.max(next.at, this.now) >= end) break;
      this.timers.shift();
      this.now = Math.max(this.now, next.at);
      next.work();
      for (let round = 0; round < 10; round++) await Promise.resolve();
    }
    this.now = Math.max(this.now, end);
  }

  /** the loops' parts of the thread from now on */
  async shares(): Promise<number[]> {
    const before = [...this.work];
    await this.pass(WINDOW_MS);
    return this.work.map((workMs, i) => (workMs - (before[i] ?? 0)) / WINDOW_MS);
  }
}

const gently =
  (turns?: (clock: object) => LoopTurns) =>
  (clock: Thread["clock"]): Pace =>
    new Pace(clock, REST_GENTLY, turns?.(clock));
const inTurns = gently((clock) => GENTLE_TURNS.loop(clock));
const first = gently((clock) => GENTLE_TURNS.loop(clock, { isFirst: true }));
const sum = (shares: readonly number[]): number => shares.reduce((all, share) => all + share, 0);

describe("gentle loops of one thread", () => {
  it("three without turns: three tenths", async () => {
    const thread = new Thread();
    for (let i = 0; i < 3; i++) thread.start(gently());
    expect(sum(await thread.shares())).toBeGreaterThan(0.29);
  });

  it("three in turns: a tenth together, a third of it each", async () => {
    const thread = new Thread();
    for (let i = 0; i < 3; i++) thread.start(inTurns);
    const shares = await thread.shares();
    expect(sum(shares)).toBeLessThan(0.11);
    expect(sum(shares)).toBeGreaterThan(0.09);
    for (const share of shares) expect(share).toBeGreaterThan(0.03);
  });

  it("one that is first: has a tenth as if it was alone, and the others go on", async () => {
    const thread = new Thread();
    thread.start(first);
    thread.start(inTurns);
    thread.start(inTurns);
    const [own = 0, ...others] = await thread.shares();
    expect(own).toBeGreaterThan(0.09);
    // Each waits a second at most.
    for (const share of others) expect(share).toBeGreaterThan(0.009);
    expect(sum(others)).toBeLessThan(0.03);
  });

  it("loops with little work: nobody waits for them, and they wait for nobody", async () => {
    const thread = new Thread();
    for (let i = 0; i < 50; i++) thread.start(inTurns, 4);
    await thread.pass(2 * 50 * 4 * STEP_MS);
    expect(sum(thread.work)).toBe(50 * 4 * STEP_MS);
  });

  it("another thread: its loops take turns among themselves", async () => {
    const [one, other] = [new Thread(), new Thread()];
    one.start(inTurns);
    other.start(inTurns);
    expect(sum(await one.shares())).toBeGreaterThan(0.09);
    expect(sum(await other.shares())).toBeGreaterThan(0.09);
  });

  it("clock set back by an hour: a loop waits a second at most", async () => {
    const thread = new Thread();
    const loop = GENTLE_TURNS.loop(thread.clock);
    loop.waitMs(thread.now, 5_000);
    expect(loop.waitMs(thread.now - 3_600_000, STEP_MS)).toBe(1_000);
  });
});

describe("loops that somebody waits for", () => {
  it("three: leave a third of the thread; one alone leaves half", async () => {
    const thread = new Thread();
    const urgently = (clock: Thread["clock"]): Pace => new Pace(clock, REST_URGENTLY, URGENT_TURNS.loop(clock));
    thread.start(urgently);
    expect(sum(await thread.shares())).toBeCloseTo(0.5, 1);
    thread.start(urgently);
    thread.start(urgently);
    expect(sum(await thread.shares())).toBeCloseTo(2 / 3, 1);
  });
});
