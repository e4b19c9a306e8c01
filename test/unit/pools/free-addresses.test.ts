import { describe, expect, it } from "vitest";
import { FreeAddresses } from "../../../src/pools/free-addresses";
import { seededRandom } from "../../support/sim/platform/seeded-random";

const interval = (first: number, last = first) => ({ first: BigInt(first), last: BigInt(last) });

describe("FreeAddresses", () => {
  it("lowest: the lowest of all intervals, and again after a release", () => {
    const free = new FreeAddresses();
    free.give([interval(3, 4), interval(7)]);
    const taken: number[] = [];
    for (let value = free.lowest(); value !== undefined; value = free.lowest()) {
      free.take(value, "a");
      taken.push(Number(value));
    }
    expect(taken).toEqual([3, 4, 7]);
    free.release(7n, "a");
    free.release(3n, "b");
    expect(free.lowest()).toBe(7n);
    free.release(3n, "a");
    expect(free.lowest()).toBe(3n);
  });

  it("what is outside: counts as used, and comes in when the pool grows", () => {
    const free = new FreeAddresses();
    free.take(9n, "a");
    free.give([interval(1, 5)]);
    expect([free.used, free.outside, free.total]).toEqual([1, 1, 5n]);
    free.give([interval(8, 9)]);
    expect([free.used, free.outside, free.lowest()]).toEqual([1, 0, 8n]);
    free.release(9n, "a");
    expect([free.used, free.outside]).toEqual([0, 0]);
  });

  it("one that two have for a moment: is free when both have let go, whoever came first", () => {
    for (const order of [
      ["a", "b"],
      ["b", "a"],
    ] as const) {
      const free = new FreeAddresses();
      free.give([interval(1, 2)]);
      free.take(1n, "a");
      free.take(1n, "b");
      free.release(1n, order[0]);
      expect([free.lowest(), free.used, free.holder(1n)]).toEqual([2n, 1, order[1]]);
      free.release(1n, order[0]);
      free.release(1n, order[1]);
      expect([free.lowest(), free.used]).toEqual([1n, 0]);
    }
  });

  it("a barred one: is not proposed, counts as free, and is the lowest again later; a pool that changes has none", () => {
    const free = new FreeAddresses();
    free.give([interval(1, 3)]);
    free.bar(1n);
    expect([free.lowest(), free.used, free.free, free.hasBarred]).toEqual([2n, 0, 2n, true]);
    free.unbar();
    expect([free.lowest(), free.used, free.free, free.hasBarred]).toEqual([1n, 0, 3n, false]);
    free.bar(1n);
    free.take(1n, "a");
    free.unbar();
    expect([free.lowest(), free.used, free.holder(1n)]).toEqual([2n, 1, "a"]);
    free.bar(2n);
    free.give([interval(1, 4)]);
    expect([free.lowest(), free.used, free.hasBarred]).toEqual([2n, 1, false]);
  });

  it("any history: the pick is the lowest free address, as a plain search finds it", () => {
    const random = seededRandom(7);
    const free = new FreeAddresses();
    let gives: { first: bigint; last: bigint }[] = [];
    const model = new Map<bigint, string>();
    let barred = new Set<bigint>();
    for (let step = 0; step < 5_000; step++) {
      const value = random.belowBig(60n);
      const what = random.below(10);
      if (what === 0) {
        const first = random.below(20);
        gives = [interval(first, first + random.below(15)), interval(first + 20, first + 20 + random.below(10))];
        free.give(gives);
        barred = new Set();
      } else if (what === 1) {
        if (random.below(3) === 0) {
          free.unbar();
          barred = new Set();
        } else if (!model.has(value) && free.gives(value)) {
          free.bar(value);
          barred.add(value);
        }
      } else if (what < 5) {
        const holder = model.get(value);
        if (holder !== undefined) {
          model.delete(value);
          free.release(value, holder);
        }
      } else {
        const lowest = free.lowest();
        const taken = lowest ?? value;
        if (!model.has(taken)) {
          model.set(taken, String(step));
          free.take(taken, String(step));
          barred.delete(taken);
        }
      }
      const all = gives.flatMap(({ first, last }) => Array.from({ length: Number(last - first) + 1 }, (_, i) => first + BigInt(i)));
      expect(free.lowest(), `step ${step}`).toBe(all.find((one) => !model.has(one) && !barred.has(one)));
      expect(free.used).toBe(model.size);
      expect(free.outside).toBe([...model.keys()].filter((one) => !all.includes(one)).length);
    }
  });
});
