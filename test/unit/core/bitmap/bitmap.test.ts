import { describe, expect, it } from "vitest";
import type { Random } from "../../../../src/core/base/ports";
import type { Bitmap } from "../../../../src/core/bitmap/bitmap";
import { decodePage, encodePage } from "../../../../src/core/bitmap/codec";
import { DenseBitmap } from "../../../../src/core/bitmap/dense-bitmap";
import { SparseBitmap } from "../../../../src/core/bitmap/sparse-bitmap";
import { NaiveBitmap } from "../../../model/naive-bitmap";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { expectSame } from "../../../support/values/same";

/** Both kinds with bigint offsets, so that one list of events drives them. */
interface Subject {
  readonly takenCount: number;
  isTaken(offset: bigint): boolean;
  take(offset: bigint): boolean;
  release(offset: bigint): boolean;
  takenIn(first: bigint, last: bigint): number;
  freeIn(first: bigint, last: bigint): bigint;
  kthFree(first: bigint, last: bigint, k: bigint): bigint;
  pickFree(first: bigint, last: bigint, random: Random): bigint;
  taken(): bigint[];
  /** a new bitmap of the same kind with the pages that are stored */
  reloaded(): Subject;
  verify(): void;
}

function subjectOf<Offset extends number | bigint>(make: () => Bitmap<Offset>, to: (offset: bigint) => Offset): Subject {
  const stored = new Map<bigint, Uint8Array>();
  const wrap = (bitmap: Bitmap<Offset>): Subject => ({
    get takenCount() {
      return bitmap.takenCount;
    },
    isTaken: (offset) => bitmap.isTaken(to(offset)),
    take: (offset) => bitmap.take(to(offset)),
    release: (offset) => bitmap.release(to(offset)),
    takenIn: (first, last) => bitmap.takenIn(to(first), to(last)),
    freeIn: (first, last) => BigInt(bitmap.freeIn(to(first), to(last))),
    kthFree: (first, last, k) => BigInt(bitmap.kthFree(to(first), to(last), to(k))),
    pickFree: (first, last, random) => BigInt(bitmap.pickFree(to(first), to(last), bitmap.freeIn(to(first), to(last)), random)),
    taken: () => [...bitmap.taken()].map(BigInt),
    verify: () => bitmap.verify(),
    reloaded: () => {
      for (const { index, page } of bitmap.takeDirtyPages()) {
        if (page === undefined) stored.delete(BigInt(index));
        else stored.set(BigInt(index), encodePage(page));
      }
      const copy = make();
      for (const [index, bytes] of stored) {
        const page = decodePage(bytes);
        if (!page.ok) throw new Error(page.error);
        copy.loadPage(to(index), page.value);
      }
      expect(copy.takeDirtyPages()).toEqual([]);
      return wrap(copy);
    },
  });
  return wrap(make());
}

const dense = (bits: number) => subjectOf<number>(() => new DenseBitmap(bits), Number);
const sparse = (bits: number) =>
  subjectOf<bigint>(
    () => new SparseBitmap(bits),
    (offset) => offset,
  );

const KINDS: { kind: string; make: (bits: number) => Subject; bits: number }[] = [
  { kind: "dense", make: dense, bits: 0 },
  { kind: "dense", make: dense, bits: 1 },
  { kind: "dense", make: dense, bits: 5 },
  { kind: "dense", make: dense, bits: 12 },
  { kind: "dense", make: dense, bits: 14 },
  { kind: "dense", make: dense, bits: 20 },
  { kind: "dense", make: dense, bits: 28 },
  { kind: "sparse", make: sparse, bits: 1 },
  { kind: "sparse", make: sparse, bits: 12 },
  { kind: "sparse", make: sparse, bits: 14 },
  { kind: "sparse", make: sparse, bits: 29 },
  { kind: "sparse", make: sparse, bits: 64 },
  { kind: "sparse", make: sparse, bits: 128 },
];

/** Events work inside a window, so that small and huge spaces both get dense spots, empty stretches and page borders. */
describe.each(KINDS)("$kind bitmap of 2^$bits offsets", ({ make, bits }) => {
  const size = 1n << BigInt(bits);

  it.each([1, 2, 3])("variant %i: the answers of the naive model", (variant) => {
    const seed = 4600 + bits * 10 + variant;
    const random = seededRandom(seed);
    const window = size < 9000n ? size : 9000n;
    const windowStart = random.belowBig(size - window + 1n);
    // Release is off in about half of the variants: then the window fills up.
    const weights = {
      take: 1 + random.below(10),
      run: random.below(2),
      release: random.below(2) * random.below(8),
      anywhere: random.below(3),
    };
    const total = weights.take + weights.run + weights.release + weights.anywhere;
    const context = `seed ${seed}, weights ${JSON.stringify(weights)}`;
    let subject = make(bits);
    const model = new NaiveBitmap();
    const inWindow = () => windowStart + random.belowBig(window);
    const change = (kind: "take" | "release", offset: bigint) =>
      expectSame(subject[kind](offset), model[kind](offset), () => `${context}: ${kind} ${offset}`);

    for (let event = 0; event < 300; event++) {
      const draw = random.below(total);
      if (draw < weights.take) change("take", inWindow());
      else if (draw < weights.take + weights.run) {
        const start = inWindow();
        for (let offset = start; offset < start + 150n && offset < size; offset++) change("take", offset);
      } else if (draw < weights.take + weights.run + weights.release) {
        const taken = model.taken();
        change("release", taken[random.below(Math.max(1, taken.length))] ?? inWindow());
      } else change("take", random.belowBig(size));

      const [a, b] = random.below(4) === 0 ? [random.belowBig(size), random.belowBig(size)] : [inWindow(), inWindow()];
      const [first, last] = a < b ? [a, b] : [b, a];
      const free = model.freeIn(first, last);
      const answers = [subject.takenCount, subject.isTaken(a), subject.takenIn(first, last), subject.freeIn(first, last)];
      expectSame(answers, [model.takenCount, model.isTaken(a), model.takenIn(first, last), free], () => context);
      if (free === 0n) {
        expect(() => subject.kthFree(first, last, 0n)).toThrow("not that many free");
      } else {
        for (const k of [0n, free - 1n, random.belowBig(free)]) {
          expectSame(subject.kthFree(first, last, k), model.kthFree(first, last, k), () => `${context}: free ${k} of ${first}..${last}`);
        }
        const picked = subject.pickFree(first, last, random);
        expectSame(picked >= first && picked <= last && !model.isTaken(picked), true, () => context);
      }
      if (event % 100 === 99) {
        subject.verify();
        subject = subject.reloaded();
        expect(subject.taken(), context).toEqual(model.taken());
      }
    }
  });
});

describe("bitmap: refusals", () => {
  it.each([
    ["dense", dense],
    ["sparse", sparse],
  ] as const)("%s: an offset or an interval outside the space fails an assertion", (_, make) => {
    const subject = make(5);
    for (const offset of [-1n, 32n]) {
      expect(() => subject.take(offset)).toThrow("outside the space");
      expect(() => subject.release(offset)).toThrow("outside the space");
      expect(() => subject.isTaken(offset)).toThrow("outside the space");
    }
    expect(() => subject.takenIn(0n, 32n)).toThrow("outside the space");
    expect(() => subject.takenIn(3n, 2n)).toThrow("is empty");
    expect(() => subject.kthFree(0n, 31n, 32n)).toThrow("not that many free");
  });

  it("page with bits outside the space, or loaded twice: fails an assertion", () => {
    const wide = new DenseBitmap(12);
    wide.take(40);
    const page = wide.takeDirtyPages()[0]?.page;
    if (page === undefined) throw new Error("no page");
    expect(() => new DenseBitmap(5).loadPage(0, page)).toThrow("outside the space");
    expect(() => new SparseBitmap(5).loadPage(0n, page)).toThrow("outside the space");
    expect(() => wide.loadPage(0, page)).toThrow("loaded already");
    expect(() => new DenseBitmap(12).loadPage(1, page)).toThrow("no such page");
  });

  it("space beyond the limits: refused", () => {
    expect(() => new DenseBitmap(29)).toThrow("too many bits");
    expect(() => new SparseBitmap(129)).toThrow("too many bits");
  });
});

describe("bitmap: changed pages", () => {
  it("takeDirtyPages: has each once, and undefined for a page that became all free", () => {
    const bitmap = new DenseBitmap(20);
    for (const offset of [5, 5000, 5001]) bitmap.take(offset);
    expect(bitmap.takeDirtyPages().map(({ index, page }) => [index, page?.count])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(bitmap.takeDirtyPages()).toEqual([]);
    bitmap.take(5);
    bitmap.release(6);
    expect(bitmap.takeDirtyPages()).toEqual([]);
    bitmap.release(5);
    expect(bitmap.takeDirtyPages()).toEqual([{ index: 0, page: undefined }]);
  });
});
