/**
 * How the changes of one turn share rows of the history: a row costs as much as a change. A change alone has a row of its own. Others have one together,
 * up to bounds, whose texts follow one another. So a reader takes a change out of the middle and parses no object.
 */
import { portionsOf } from "../../../core/base/portions";
import { HISTORY_ROW_ENTRIES_MAX, HISTORY_ROW_MAX_CHARS } from "./limits";
import type { ChangeType } from "../../meta/watch-event";
import type { HistoryEntry, HistoryHead } from "./store-storage";

/** The changes of some revisions as one row; `heads` says what they are, and where in the texts. */
export interface SharedRow {
  /** of the last of them */
  revision: number;
  heads: string;
  data: string;
  before: string;
}

type SavedHead = readonly [revision: number, type: ChangeType, key: string, data: number, before: number];

/** The entries of one turn, in order, by the rows that hold them; one entry has a row of its own. */
export function rowsOfTurn(entries: readonly HistoryEntry[]): HistoryEntry[][] {
  return portionsOf(entries, sizeOf, { countMax: HISTORY_ROW_ENTRIES_MAX, weightMax: HISTORY_ROW_MAX_CHARS });
}

/** Characters of both texts of a change. */
export function sizeOf({ data, before }: Pick<HistoryEntry, "data" | "before">): number {
  return data.length + before.length;
}

/** @param entries at least one, in order */
export function sharedRow(entries: readonly HistoryEntry[]): SharedRow {
  const heads = entries.map(({ revision, type, key, data, before }): SavedHead => [revision, type, key, data.length, before.length]);
  return {
    revision: heads.at(-1)?.[0] ?? 0,
    heads: JSON.stringify(heads),
    data: entries.map(({ data }) => data).join(""),
    before: entries.map(({ before }) => before).join(""),
  };
}

/** The entries of the row behind a revision, in order. */
export function entriesBehind({ heads, data, before }: Omit<SharedRow, "revision">, after: number): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  let dataAt = 0;
  let beforeAt = 0;
  for (const [revision, type, key, dataLength, beforeLength] of saved(heads)) {
    const [dataFrom, beforeFrom] = [dataAt, beforeAt];
    dataAt += dataLength;
    beforeAt += beforeLength;
    if (revision <= after) continue;
    entries.push({ revision, type, key, data: data.slice(dataFrom, dataAt), before: before.slice(beforeFrom, beforeAt) });
  }
  return entries;
}

/** What a start reads of them, without their texts. */
export function headsBehind(heads: string, after: number): HistoryHead[] {
  const behind = saved(heads).filter(([revision]) => revision > after);
  return behind.map(([revision, type, key, data, before]) => ({ revision, type, key, size: data + before }));
}

function saved(heads: string): SavedHead[] {
  return JSON.parse(heads) as SavedHead[];
}
