import { describe, expect, it } from "vitest";
import { entriesBehind, headsBehind, rowsOfTurn, sharedRow } from "../../../../../src/api/store/state/history-rows";
import { HISTORY_ROW_ENTRIES_MAX, HISTORY_ROW_MAX_CHARS } from "../../../../../src/api/store/state/limits";
import type { HistoryEntry } from "../../../../../src/api/store/state/store-storage";
import { itOfSeeds } from "../../../../support/sim/platform/seeds";
import { pick, seededRandom } from "../../../../support/sim/platform/seeded-random";

const entry = (revision: number, data = "{}", before = ""): HistoryEntry => ({ revision, type: "MODIFIED", key: "ns/a", data, before });
const revisions = (rows: readonly HistoryEntry[][]): number[][] => rows.map((row) => row.map(({ revision }) => revision));

describe("the rows of a turn", () => {
  it("no change has no row, one has its own", () => {
    expect(rowsOfTurn([])).toEqual([]);
    expect(rowsOfTurn([entry(1)])).toEqual([[entry(1)]]);
  });

  it("changes share a row up to so many, and a large one is alone", () => {
    const many = Array.from({ length: 2 * HISTORY_ROW_ENTRIES_MAX + 1 }, (_, i) => entry(i + 1));
    expect(rowsOfTurn(many).map((row) => row.length)).toEqual([HISTORY_ROW_ENTRIES_MAX, HISTORY_ROW_ENTRIES_MAX, 1]);
    const half = "x".repeat(HISTORY_ROW_MAX_CHARS / 2);
    const large = entry(4, half, `${half}x`);
    expect(revisions(rowsOfTurn([entry(1, half), entry(2, "", half), entry(3), large, entry(5), entry(6)]))).toEqual([
      [1, 2],
      [3],
      [4],
      [5, 6],
    ]);
  });

  itOfSeeds("whatever the texts are (seed %i): each change comes out of its row as it was", { fixed: [1, 2, 3], further: 50 }, (seed) => {
    const random = seededRandom(seed);
    const text = (): string =>
      JSON.stringify({ a: Array.from({ length: random.below(4) }, () => pick(random, ["ü", "\u{1f600}", "\ud800", "\0", '"'])) });
    let revision = random.below(2 ** 40);
    const entries = Array.from({ length: 1 + random.below(9) }, () => {
      revision += 1 + random.below(3);
      return {
        ...entry(revision, text(), pick(random, ["", text()])),
        type: pick(random, ["ADDED", "MODIFIED", "DELETED"] as const),
        key: text(),
      };
    });
    const row = sharedRow(entries);
    expect(row.revision).toBe(revision);
    const [first] = entries;
    for (let after = (first?.revision ?? 0) - 1; after <= revision; after++) {
      const behind = entries.filter((each) => each.revision > after);
      expect(entriesBehind(row, after)).toEqual(behind);
      expect(headsBehind(row.heads, after)).toEqual(
        behind.map(({ revision: at, type, key, data, before }) => ({ revision: at, type, key, size: data.length + before.length })),
      );
    }
  });
});
