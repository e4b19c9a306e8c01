import { describe, expect, it } from "vitest";
import { beginningAbove, RevisionGaps } from "../../../../../src/api/store/state/revision-gaps";

const DAY_MS = 86_400_000;
const STARTED = Date.UTC(2026, 10, 1);

describe("beginningAbove", () => {
  it.each([
    ["a backup of now", 4_711, 0, 1_000_004_711],
    ["a backup of tomorrow: a clock is wrong", 4_711, -DAY_MS, 1_000_004_711],
    ["a backup of last month", 4_711, 30 * DAY_MS, 4_711 + 30 * 86_400 * 10_000],
    ["a backup without a time", 4_711, STARTED, 4_711 + (STARTED / 1_000) * 10_000],
    ["the last revision that may be", 2 ** 53 - 2 ** 45 - 1_000_000_000, 0, 2 ** 53 - 2 ** 45],
    ["one more", 2 ** 53 - 2 ** 45 - 999_999_999, 0, undefined],
  ])("%s", (_, head, age, expected) => {
    expect(beginningAbove(head, STARTED - age, STARTED)).toBe(expected);
  });
});

describe("a start of the server", () => {
  it("the same start: one gap", () => {
    const gaps = new RevisionGaps(undefined);
    expect([gaps.open(STARTED, 5), gaps.open(STARTED, 9)]).toEqual([true, false]);
    expect(gaps.saved.gaps).toHaveLength(1);
  });

  it("a start of older data: begins above what was written since, at 10,000 in a second", () => {
    const copied = new RevisionGaps(undefined);
    copied.open(STARTED, 100);
    const { saved } = copied;
    const lived = new RevisionGaps(saved);
    lived.open(STARTED + 60_000, lived.newest + 20);
    const seen = lived.newest + 60 * 10_000;
    const again = new RevisionGaps(saved);
    again.open(STARTED + 120_000, copied.newest);
    expect(again.newest).toBeGreaterThanOrEqual(seen);
    expect(again.has(seen)).toBe(again.newest > seen);
    expect([again.has(100), again.has(101), again.has(copied.newest), again.has(again.newest)]).toEqual([false, true, false, false]);
  });

  it("revisions beyond the newest that is known to be good: in the gap, which ends above them", () => {
    const gaps = new RevisionGaps(undefined);
    const given = 10 ** 13;
    gaps.open(STARTED, 5, given);
    expect([gaps.has(5), gaps.has(6), gaps.has(given), gaps.newest]).toEqual([false, true, true, given + 10_000]);
  });

  it("a clock that was set back: a gap all the same", () => {
    const gaps = new RevisionGaps(undefined);
    gaps.open(STARTED, 1);
    const { newest } = gaps;
    gaps.open(0, newest + 7);
    expect(gaps.newest).toBe(newest + 7 + 10_000);
  });

  it("a clock of the far future: stays below 2^53", () => {
    const gaps = new RevisionGaps(undefined);
    gaps.open(8.64e15, 1);
    expect(gaps.newest).toBe(2 ** 53 - 2 ** 45);
    gaps.open(STARTED, gaps.newest + 5);
    expect(gaps.newest).toBe(2 ** 53 - 2 ** 45 + 5);
  });

  it("many starts without a write: the list stays short, and the revisions before them stay good", () => {
    const gaps = new RevisionGaps(undefined);
    for (let start = 0; start < 1_000; start++) gaps.open(STARTED + start * 1_000, gaps.newest || 5);
    expect(gaps.saved.gaps).toHaveLength(16);
    expect([gaps.has(5), gaps.has(6), gaps.floor]).toEqual([false, true, undefined]);
  });

  it("many starts with writes: the history has to begin behind the oldest gap that is not kept", () => {
    const gaps = new RevisionGaps(undefined);
    for (let start = 0; start < 40; start++) {
      gaps.open(STARTED + start * 1_000, gaps.newest + 3);
      expect(gaps.saved.gaps.length).toBeLessThanOrEqual(17);
    }
    expect(gaps.floor).toBe(gaps.saved.gaps[0]?.[1]);
  });
});

it("a life that begins: every revision before it is of another one, and the gaps go", () => {
  const gaps = new RevisionGaps(undefined);
  gaps.open(STARTED, 5);
  gaps.begin(10 ** 12, STARTED);
  expect([gaps.has(0), gaps.has(1), gaps.has(10 ** 12 - 1), gaps.has(10 ** 12)]).toEqual([false, true, true, false]);
  gaps.open(STARTED + 1_000, 10 ** 12);
  expect(gaps.saved).toEqual({ startedAt: STARTED + 1_000, began: [10 ** 12, STARTED], gaps: [[10 ** 12, 10 ** 12 + 10_000]] });
});
