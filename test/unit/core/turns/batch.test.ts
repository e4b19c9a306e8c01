import { describe, expect, it } from "vitest";
import { Batcher } from "../../../../src/core/turns/batch";

/** A clock whose turns end when the test says so. */
function manualClock() {
  let waiting: (() => void)[] = [];
  return {
    nextTurn: () => new Promise<void>((resolve) => waiting.push(resolve)),
    after: () => () => undefined,
    armed: () => waiting.length,
    async turn() {
      const now = waiting;
      waiting = [];
      for (const resolve of now) resolve();
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

function doubling(overrides: { queueWeightMax?: number; weigh?: (n: number) => number } = {}) {
  const clock = manualClock();
  const drained: number[][] = [];
  const failures: unknown[] = [];
  const state = { poison: -1, recoveryBroken: false };
  const batcher = new Batcher<number, number | "full">({
    clock,
    apply(operations) {
      drained.push([...operations]);
      if (operations.includes(state.poison)) throw new Error("disk");
      return operations.map((n) => n * 2);
    },
    refuse: () => "full",
    onFailure(error) {
      failures.push(error);
      if (state.recoveryBroken) throw new Error("still broken");
    },
    queueWeightMax: overrides.queueWeightMax ?? 100,
    ...(overrides.weigh ? { weigh: overrides.weigh } : {}),
  });
  return { clock, batcher, drained, failures, state };
}

describe("submit", () => {
  it("submissions of one turn: one drain, each gets its own result", async () => {
    const { clock, batcher, drained } = doubling();
    const answers = Promise.all([1, 2, 3].map((n) => batcher.submit(n)));
    expect(clock.armed()).toBe(1);
    expect(batcher.queued).toBe(3);
    await clock.turn();
    expect(await answers).toEqual([2, 4, 6]);
    expect(drained).toEqual([[1, 2, 3]]);
    expect(batcher.counters).toEqual({ drains: 1, operations: 3, weight: 3, failures: 0, refused: 0 });
  });

  it("before the turn ends: nothing is applied", async () => {
    const { clock, batcher, drained } = doubling();
    const answer = batcher.submit(1);
    await Promise.resolve();
    expect(drained).toEqual([]);
    await clock.turn();
    expect(await answer).toBe(2);
  });

  it("a submission of the next turn: a drain of its own", async () => {
    const { clock, batcher, drained } = doubling();
    const first = batcher.submit(1);
    await clock.turn();
    const second = batcher.submit(2);
    await clock.turn();
    expect([await first, await second]).toEqual([2, 4]);
    expect(drained).toEqual([[1], [2]]);
  });

  it("a full queue: refuses at once and keeps what it has", async () => {
    const { clock, batcher } = doubling({ queueWeightMax: 2 });
    const answers = [batcher.submit(1), batcher.submit(2)];
    expect(await batcher.submit(3)).toBe("full");
    await clock.turn();
    expect(await Promise.all(answers)).toEqual([2, 4]);
    expect(batcher.counters.refused).toBe(1);
  });

  it("weights: the queue counts them, and an empty queue takes a heavy operation", async () => {
    const { clock, batcher } = doubling({ queueWeightMax: 10, weigh: (n) => n });
    const heavy = batcher.submit(50);
    expect(await batcher.submit(1)).toBe("full");
    await clock.turn();
    expect(await heavy).toBe(100);
    expect(batcher.counters.weight).toBe(50);
  });
});

describe("a lost transaction", () => {
  it("two waiters: memory is rebuilt, then both are rejected, and the next drain works", async () => {
    const { clock, batcher, failures, state } = doubling();
    state.poison = 2;
    const answers = Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
    await clock.turn();
    expect((await answers).map((a) => a.status)).toEqual(["rejected", "rejected"]);
    expect(failures).toHaveLength(1);
    const next = batcher.submit(3);
    await clock.turn();
    expect(await next).toBe(6);
    expect(failures).toHaveLength(1);
    expect(batcher.counters.failures).toBe(1);
  });

  it("a failed rebuild: nothing is applied until a rebuild succeeds", async () => {
    const { clock, batcher, drained, failures, state } = doubling();
    state.poison = 1;
    state.recoveryBroken = true;
    const first = batcher.submit(1);
    await Promise.all([expect(first).rejects.toThrow("disk"), clock.turn()]);
    const second = batcher.submit(2);
    await Promise.all([expect(second).rejects.toThrow("still broken"), clock.turn()]);
    expect(drained).toEqual([[1]]);
    state.recoveryBroken = false;
    const third = batcher.submit(3);
    await clock.turn();
    expect(await third).toBe(6);
    expect(failures.length).toBeGreaterThanOrEqual(3);
  });
});
