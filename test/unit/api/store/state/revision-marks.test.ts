import { describe, expect, it } from "vitest";
import { RevisionMarks } from "../../../../../src/api/store/state/revision-marks";

/** Marks of turns: time, newest revision, characters. */
function marked(...turns: (readonly [atMs: number, revision: number, written?: number])[]): RevisionMarks {
  const marks = new RevisionMarks(75_000);
  for (const [atMs, revision, written = 0] of turns) marks.note(atMs, revision, written);
  return marks;
}

describe("the ages of revisions", () => {
  it("a new object: what it finds counts as written at its beginning", () => {
    const marks = marked([10_000, 7]);
    expect([9_999, 10_000].map((time) => marks.writtenBy(time))).toEqual([0, 7]);
  });

  it("turns of one second: one mark, of its last turn", () => {
    const marks = marked([0, 1], [400, 2], [999, 3], [1_000, 4], [5_000, 5]);
    expect([998, 999, 1_000, 4_999, 5_000, 9_000].map((time) => marks.writtenBy(time))).toEqual([0, 3, 4, 4, 5, 5]);
  });

  it("an hour of turns: answers about the kept time, and forgets what is older", () => {
    const marks = marked(...Array.from({ length: 3_601 }, (_, second) => [second * 1_000, second] as const));
    const now = 3_600_000;
    expect([now, now - 75_000, now - 80_000].map((time) => marks.writtenBy(time))).toEqual([3_600, 3_525, 0]);
  });

  it("a clock that was set back: revisions are younger than they seem, never older", () => {
    const marks = marked([10_000, 1], [20_000, 2], [3_000, 3], [13_000, 4]);
    expect([2_999, 3_000, 12_999, 13_000, 20_000].map((time) => marks.writtenBy(time))).toEqual([0, 3, 3, 4, 4]);
  });
});

describe("what was written since a revision", () => {
  it.each([
    [0, 400, 4],
    [99, 400, 4],
    [100, 400, 3],
    [250, 400, 2],
    [1_000, 400, 1],
    [50, 500, undefined],
  ])("at most %d characters of %d: from revision %s on", (chars, written, want) => {
    const marks = marked([0, 1, 100], [1_000, 2, 200], [2_000, 3, 300], [3_000, 4, 400]);
    expect(marks.within(chars, written)).toBe(want);
  });
});
