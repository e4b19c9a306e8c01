import { describe, expect, it } from "vitest";
import { type Block, intervalOfBlock } from "../../../src/core/net/block";
import { memberAt, normalize } from "../../../src/core/net/interval";
import { FreePrefixes } from "../../../src/pools/free-prefixes";
import { itOfSeeds } from "../../support/sim/platform/seeds";
import { seededRandom } from "../../support/sim/platform/seeded-random";

const interval = (first: number, last: number) => ({ first: BigInt(first), last: BigInt(last) });
const block = (first: number, bits: number): Block => ({ first: BigInt(first), bits });

/** `first/bits` of what is next; "" = nothing. */
function next(free: FreePrefixes, bits: number): string {
  const found = free.next(bits);
  return found ? `${found.first}/${found.bits}` : "";
}

function take(free: FreePrefixes, bits: number, holder: string): string {
  const found = free.next(bits);
  if (found) free.take(found, holder);
  return found ? `${found.first}/${found.bits}` : "";
}

describe("FreePrefixes", () => {
  it("one length: the lowest free prefix of the smallest room, and again after a release", () => {
    const free = new FreePrefixes();
    free.give([interval(16, 31), interval(48, 55)], 3);
    expect(["a", "b", "c", "d"].map((holder) => take(free, 3, holder))).toEqual(["48/3", "16/3", "24/3", ""]);
    free.release(block(16, 3), "a");
    expect(next(free, 3)).toBe("");
    free.release(block(16, 3), "b");
    expect([next(free, 3), free.counts]).toEqual(["16/3", { total: 3, free: 1, used: 2, outOfRange: 0 }]);
  });

  it("several lengths: each comes from the smallest room that is enough, aligned, and is counted in units", () => {
    const free = new FreePrefixes();
    free.give([interval(0, 255)], 2);
    expect(take(free, 2, "a")).toBe("0/2");
    // 4..127 has room for a half of what 128..255 has.
    free.take(block(128, 2), "x");
    expect([take(free, 4, "b"), take(free, 2, "c")]).toEqual(["16/4", "4/2"]);
    expect([take(free, 6, "d"), take(free, 7, "e")]).toEqual(["64/6", ""]);
    expect(free.counts).toEqual({ total: 64, free: 64 - 1 - 1 - 4 - 1 - 16, used: 23, outOfRange: 0 });
  });

  it("no aligned room for a large one, though as many units are free", () => {
    const free = new FreePrefixes();
    free.give([interval(0, 31)], 2);
    for (const first of [4, 12, 20, 28]) free.take(block(first, 2), `h${first}`);
    expect([next(free, 3), next(free, 2), free.counts.free]).toEqual(["", "0/2", 4]);
    expect([free.room.take(3), free.room.take(2)]).toEqual([false, true]);
    free.release(block(12, 2), "h12");
    expect(next(free, 3)).toBe("8/3");
  });

  it("what is outside: counts as used, to the unit, and comes in when the pool grows", () => {
    const free = new FreePrefixes();
    free.take(block(16, 4), "a");
    free.give([interval(0, 23)], 2);
    expect(free.counts).toEqual({ total: 6, free: 4, used: 4, outOfRange: 2 });
    free.give([interval(0, 63)], 2);
    expect(free.counts).toEqual({ total: 16, free: 12, used: 4, outOfRange: 0 });
    free.release(block(16, 4), "a");
    expect([free.counts.free, next(free, 6)]).toEqual([16, "0/6"]);
  });

  it("what is smaller than a unit: takes all of it", () => {
    const free = new FreePrefixes();
    free.give([interval(0, 15)], 3);
    free.take(block(2, 0), "a");
    expect([next(free, 0), free.counts.used, free.gives(block(2, 0))]).toEqual(["8/3", 1, false]);
    free.release(block(2, 0), "a");
    expect(next(free, 4)).toBe("0/4");
  });

  it("one that two have for a moment, and one inside another: are free when all have let go", () => {
    const free = new FreePrefixes();
    free.give([interval(0, 15)], 0);
    free.take(block(0, 2), "a");
    free.take(block(0, 2), "b");
    free.take(block(1, 0), "c");
    free.release(block(0, 2), "a");
    expect([free.isHeldBy(block(0, 2), "a"), free.isHeldBy(block(0, 2), "b"), next(free, 2)]).toEqual([false, true, "4/2"]);
    free.release(block(0, 2), "b");
    expect([next(free, 0), next(free, 1), next(free, 2)]).toEqual(["0/0", "2/1", "4/2"]);
    free.release(block(1, 0), "c");
    expect([next(free, 4), free.isUsed]).toEqual(["0/4", false]);
  });

  it("a barred one: is not proposed until it is let go; many of them mean that nothing is", () => {
    const free = new FreePrefixes();
    free.give([interval(0, 4_095)], 0);
    free.bar(block(0, 0));
    expect([next(free, 0), free.hasBarred, free.counts.used]).toEqual(["1/0", true, 0]);
    free.take(block(0, 0), "a");
    free.unbar();
    expect([next(free, 0), free.hasBarred, free.counts.used]).toEqual(["1/0", false, 1]);
    for (let i = 1; i <= 1_024; i++) free.bar(block(i, 0));
    expect([next(free, 0), free.room.take(0)]).toEqual(["", false]);
    free.give([interval(0, 4_095)], 0);
    expect(next(free, 0)).toBe("1/0");
  });

  it("counts: 2^63-1 at most", () => {
    const free = new FreePrefixes();
    free.give([{ first: 1n << 128n, last: (1n << 128n) + (1n << 127n) - 1n }], 0);
    expect(free.counts).toEqual({ total: 2n ** 63n - 1n, free: 2n ** 63n - 1n, used: 0, outOfRange: 0 });
    expect(next(free, 127)).toBe(`${1n << 128n}/127`);
  });

  it("a /8 of /20 prefixes, 99.9 % full: a pick looks at what is free, not at what is taken", () => {
    const free = new FreePrefixes();
    free.give([interval(0, 2 ** 24 - 1)], 12);
    for (let i = 0; i < 4_096; i++) if (i % 1_000 !== 999) free.take(block(i * 4_096, 12), `h${i}`);
    expect([next(free, 12), next(free, 13), free.counts.free]).toEqual([`${999 * 4_096}/12`, "", 4]);
  });
});

it("20,000 prefixes of IPv6, whose low 64 bits are all 0: each is found at once", () => {
  const free = new FreePrefixes();
  const base = 1n << 128n;
  free.give([{ first: base, last: base + (1n << 96n) - 1n }], 64);
  for (let i = 0; i < 20_000; i++) free.take({ first: base + (BigInt(2 * i) << 64n), bits: 64 }, `h${i}`);
  expect(next(free, 64)).toBe(`${base + (1n << 64n)}/64`);
  for (let i = 0; i < 20_000; i++) free.release({ first: base + (BigInt(2 * i) << 64n), bits: 64 }, `h${i}`);
  expect([next(free, 96), free.isUsed]).toEqual([`${base}/96`, false]);
}, 5_000);

/** The rule as a plain search finds it: of the runs of free units with enough room the ones with the least, of these the lowest place. */
function searched(isFree: readonly boolean[], unitBits: number, bits: number): string {
  const unit = 2 ** unitBits;
  const size = 2 ** Math.max(bits, unitBits);
  let best: { room: number; first: number } | undefined;
  for (let at = 0; at < isFree.length; at++) {
    if (!isFree[at] || isFree[at - 1]) continue;
    let end = at;
    while (isFree[end]) end++;
    let room = 0;
    for (let length = unit; length <= isFree.length * unit; length *= 2)
      for (let first = 0; first < isFree.length * unit; first += length)
        if (first >= at * unit && first + length <= end * unit) room = Math.max(room, length);
    const first = Math.ceil((at * unit) / size) * size;
    if (room >= size && (!best || room < best.room)) best = { room, first };
  }
  return best ? `${best.first}/${Math.log2(size)}` : "";
}

itOfSeeds("any history: picks and counts are those of a plain search, seed %i", { fixed: [1, 2, 3], further: 2 }, (seed) => {
  const random = seededRandom(seed);
  const free = new FreePrefixes();
  const units = 64;
  const unitBits = 2;
  const unit = 2 ** unitBits;
  let gives: { first: bigint; last: bigint }[] = [];
  const held = new Map<string, Block>();
  for (let step = 0; step < 600; step++) {
    const what = random.below(10);
    const bits = unitBits + random.below(4);
    if (what === 0) {
      const cuts = Array.from({ length: 1 + random.below(3) }, () => random.below(units)).map((from) => {
        const to = Math.min(units - 1, from + random.below(30));
        return interval(from * unit, (to + 1) * unit - 1);
      });
      gives = normalize(cuts);
      free.give(gives, unitBits);
    } else if (what < 6) {
      const found = free.next(bits);
      if (found) {
        held.set(`h${step}`, found);
        free.take(found, `h${step}`);
      }
    } else if (what < 7) {
      // Somebody else makes one, wherever it is.
      const size = random.below(6);
      const one = block(random.below((units * unit) >> size) << size, size);
      held.set(`h${step}`, one);
      free.take(one, `h${step}`);
    } else {
      const [key = ""] = [...held.keys()].slice(random.below(held.size + 1));
      const one = held.get(key);
      if (one) free.release(one, key);
      held.delete(key);
    }
    const isGiven = Array.from({ length: units }, (_, i) => memberAt(gives, BigInt(i * unit)) !== undefined);
    const isTaken = Array.from({ length: units }, (_, i) =>
      [...held.values()].some((one) => {
        const { first, last } = intervalOfBlock(one);
        return first < BigInt((i + 1) * unit) && last >= BigInt(i * unit);
      }),
    );
    const isFree = isGiven.map((given, i) => given && !isTaken[i]);
    for (const size of [0, 2, 3, 4, 5, 7]) expect(next(free, size), `step ${step}`).toBe(searched(isFree, unitBits, size));
    expect(free.counts.total).toBe(isGiven.filter(Boolean).length);
  }
});
