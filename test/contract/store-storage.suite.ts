import { expect } from "vitest";
import { OBJECT_MAX_BYTES } from "../../src/api/schema/decode-limits";
import type { NamespaceGuardStorage } from "../../src/api/store/write/namespace-guard";
import {
  type HistoryEntry,
  NOTHING_COUNTED,
  type StoredObject,
  type StoreState,
  type StoreStorage,
} from "../../src/api/store/state/store-storage";

const STATE: StoreState = {
  ...{ incarnation: "a", reserved: 9, floor: 0, through: 1, historyEntries: 2, historySize: 10 },
  ...{ counted: NOTHING_COUNTED, unwrittenThrough: 0 },
};

/** What every StoreStorage does; each case gets an empty one. Run over memory (unit) and over SQLite (object). */
export const storeStorageCases: readonly { name: string; run(storage: StoreStorage & NamespaceGuardStorage): void }[] = [
  {
    name: "state: nothing at first, then the last one saved",
    run(storage) {
      expect(storage.stateLoad()).toBeUndefined();
      storage.stateSave(STATE);
      const last = {
        ...{ incarnation: "b", reserved: 2 ** 53 - 1, floor: 2 ** 40, through: 2 ** 53 - 2 },
        ...{ historyEntries: 2 ** 32, historySize: 2 ** 33, unwrittenThrough: 2 ** 53 - 3 },
      };
      for (const through of ["", "ns/a", undefined]) {
        const state = { ...last, counted: { objects: 2 ** 32, through } };
        storage.stateSave(state);
        expect(storage.stateLoad()).toEqual(state);
      }
    },
  },
  {
    name: "marks: none at first, then the last ones saved",
    run(storage) {
      expect(storage.marksLoad()).toEqual([]);
      for (const revision of [2 ** 53 - 1, 7]) {
        storage.marksSave([
          [1_000, 1, 0],
          [2_000, revision, 2 ** 33],
        ]);
        expect(storage.marksLoad()).toEqual([
          [1_000, 1, 0],
          [2_000, revision, 2 ** 33],
        ]);
      }
    },
  },
  {
    name: "objects: put, replace, get, delete",
    run(storage) {
      expect(storage.objectGet("a")).toBeUndefined();
      storage.objectPut(object("a", 1, '{"ü":"\u{1f600}"}'));
      expect(storage.objectGet("a")).toEqual(object("a", 1, '{"ü":"\u{1f600}"}'));
      storage.objectPut({ ...object("a", 2), uid: "another" });
      expect(storage.objectGet("a")).toEqual({ ...object("a", 2), uid: "another" });
      storage.objectDelete("a");
      storage.objectDelete("never there");
      expect(storage.objectGet("a")).toBeUndefined();
    },
  },
  {
    name: "objectScan and objectKeysAfter: in key order, from inclusive, to and after exclusive",
    run(storage) {
      for (const key of ["b/2", "a/z", "b/10", "b-c/1", "b/1", "c/1"]) storage.objectPut(object(key, 1));
      const keys = (from: string, to: string) => [...storage.objectScan(from, to)].map(({ key }) => key);
      expect(keys("", "")).toEqual(["a/z", "b-c/1", "b/1", "b/10", "b/2", "c/1"]);
      expect(keys("b/", "b0")).toEqual(["b/1", "b/10", "b/2"]);
      expect(keys("b/1", "b/2")).toEqual(["b/1", "b/10"]);
      expect(keys("b/2", "")).toEqual(["b/2", "c/1"]);
      expect(keys("d", "")).toEqual([]);
      expect(storage.objectKeysAfter("", 4)).toEqual(["a/z", "b-c/1", "b/1", "b/10"]);
      expect(storage.objectKeysAfter("b/10", 9)).toEqual(["b/2", "c/1"]);
      expect(storage.objectKeysAfter("c/1", 9)).toEqual([]);
    },
  },
  {
    name: "counts of namespaces: 0 at first, changed by so many, cleared",
    run(storage) {
      const counts = () => ["a", "b", "c"].map((namespace) => storage.namespaceCount(namespace));
      expect(counts()).toEqual([0, 0, 0]);
      for (const [namespace, objects] of [
        ["a", 2],
        ["b", 2 ** 32],
        ["a", 3],
        ["b", -1],
        ["a", -5],
      ] as const)
        storage.namespaceCountAdd(namespace, objects);
      expect(counts()).toEqual([0, 2 ** 32 - 1, 0]);
      storage.namespaceCountAdd("a", 7);
      expect(counts()).toEqual([7, 2 ** 32 - 1, 0]);
      storage.namespaceCountsClear();
      expect(counts()).toEqual([0, 0, 0]);
    },
  },
  {
    name: "history: since a revision, at most so many, trimmed through a revision",
    run(storage) {
      const entries = [
        entry(3, { type: "ADDED" }),
        entry(4, { type: "MODIFIED", before: "{}" }),
        entry(7, { type: "DELETED", key: "ns/x", before: '{"a":1}' }),
      ];
      for (const each of entries) storage.historyAppend([each]);
      expect(storage.historySince(0, 10)).toEqual(entries);
      expect(storage.historySince(3, 10)).toEqual(entries.slice(1));
      expect([...storage.changesSince(3, 1)]).toEqual([{ revision: 4, type: "MODIFIED", key: "a", data: '{"rv":4}' }]);
      expect(storage.historySince(0, 2)).toEqual(entries.slice(0, 2));
      expect(storage.historySince(7, 10)).toEqual([]);
      expect([1, 2, 3, 4].map((place) => storage.historyRevisionAt(3, place))).toEqual([4, 7, undefined, undefined]);
      expect([...storage.historyHeads(3)]).toEqual([
        { revision: 4, type: "MODIFIED", key: "a", size: 10 },
        { revision: 7, type: "DELETED", key: "ns/x", size: 15 },
      ]);
      storage.historyTrim(0, 4);
      expect(storage.historySince(0, 10)).toEqual(entries.slice(2));
    },
  },
  {
    name: "history of turns: read, counted and trimmed in the middle of a row, beside changes that are alone",
    run(storage) {
      const turns = [
        [entry(3, { key: "ns/a", data: '{"a":"\u{1f600}ü"}' })],
        [4, 5, 7, 8].map((revision) =>
          entry(revision, { type: revision === 5 ? "DELETED" : "MODIFIED", before: `{"\u{1f600}":${revision}}` }),
        ),
        [entry(9, { type: "ADDED" })],
        [entry(11, { type: "ADDED", key: 'ns/"' }), entry(12, { data: "", before: "ü" })],
      ];
      for (const turn of turns) storage.historyAppend(turn);
      const entries = turns.flat();
      const behind = (after: number, through = Infinity): HistoryEntry[] =>
        entries.filter(({ revision }) => revision > after && revision <= through);
      for (let after = 0; after <= 13; after++) {
        expect(storage.historySince(after, 99)).toEqual(behind(after));
        expect(storage.historySince(after, 1)[0]).toEqual(behind(after)[0]);
        for (let limit = 0; limit < 9; limit++) {
          const read = storage.historySince(after, limit);
          expect([read, read.length >= Math.min(limit, behind(after).length)]).toEqual([behind(after).slice(0, read.length), true]);
          const changes = behind(after).slice(0, limit);
          expect([...storage.changesSince(after, limit)]).toEqual(changes.map(({ before: _, ...change }) => change));
          expect([...storage.headsSince(after, limit)]).toEqual(changes.map(({ revision, type, key }) => ({ revision, type, key })));
        }
        expect([...storage.historyHeads(after)]).toEqual(
          behind(after).map(({ revision, type, key, data, before }) => ({ revision, type, key, size: data.length + before.length })),
        );
        for (let place = 1; place < 10; place++) expect(storage.historyRevisionAt(after, place)).toBe(behind(after)[place - 1]?.revision);
      }
      let floor = 0;
      for (const through of [3, 5, 7, 10, 11, 13]) {
        const freed = behind(floor, through);
        const chars = freed.reduce((sum, { data, before }) => sum + data.length + before.length, 0);
        expect(storage.historyTrim(floor, through)).toEqual({ entries: freed.length, chars });
        expect(storage.historySince(through, 99)).toEqual(behind(through));
        floor = through;
      }
      expect(storage.historySince(0, 99)).toEqual([]);
    },
  },
  {
    name: "history of a turn: trimmed within one row",
    run(storage) {
      storage.historyAppend([1, 2, 3, 4].map((revision) => entry(revision, { data: "x".repeat(revision) })));
      expect(storage.historyTrim(1, 3)).toEqual({ entries: 2, chars: 5 });
      expect(storage.historySince(3, 9).map(({ data }) => data)).toEqual(["xxxx"]);
    },
  },
  {
    name: "historyTrim answers what went behind a revision, the texts as JavaScript counts them",
    run(storage) {
      const entries = [
        entry(1, { data: '{"a":"\u{1f600}ü"}' }),
        entry(2, { before: '{"\u{1f600}":"\u{1f600}"}' }),
        entry(3, { data: "{}" }),
      ];
      for (const each of entries) storage.historyAppend([each]);
      const size = (of: readonly HistoryEntry[]) => ({
        entries: of.length,
        chars: of.reduce((sum, { data, before }) => sum + data.length + before.length, 0),
      });
      expect(storage.historyTrim(0, 0)).toEqual(size([]));
      expect(storage.historyTrim(1, 2)).toEqual(size(entries.slice(1, 2)));
      expect(storage.historySince(0, 9)).toEqual(entries.slice(2));
      expect(storage.historyTrim(0, 2)).toEqual(size([]));
      expect(storage.historyTrim(0, 9)).toEqual(size(entries.slice(2)));
    },
  },
  {
    name: "the largest object fits: as an object, and before and after in one change",
    run(storage) {
      const large = (letter: string) => `{"a":"${letter.repeat(OBJECT_MAX_BYTES)}"}`;
      storage.objectPut(object("a", 1, large("a")));
      storage.historyAppend([entry(2, { data: large("b"), before: large("a") })]);
      expect(storage.objectGet("a")?.data.length).toBe(large("a").length);
      expect(storage.historySince(0, 1)[0]).toEqual(entry(2, { data: large("b"), before: large("a") }));
      expect([...storage.historyHeads(1)]).toEqual([{ revision: 2, type: "MODIFIED", key: "a", size: 2 * large("a").length }]);
      expect(storage.historyTrim(0, 2)).toEqual({ entries: 1, chars: 2 * large("a").length });
    },
  },
  {
    name: "gaps: the last that were saved, none at first",
    run(storage) {
      expect(storage.gapsLoad()).toBeUndefined();
      storage.gapsSave({ startedAt: 1, began: [0, 0], gaps: [] });
      const gaps = { startedAt: 2, began: [4, 1], gaps: [[5, 2 ** 52]] } as const;
      storage.gapsSave(gaps);
      expect(storage.gapsLoad()).toEqual(gaps);
    },
  },
  {
    name: "the note of cron's full visits: not there at first, and then for ever",
    run(storage) {
      expect(storage.isEntered()).toBe(false);
      storage.noteEntered();
      storage.noteEntered();
      expect(storage.isEntered()).toBe(true);
    },
  },
  {
    name: "closed namespaces: by name, the last uid, until opened",
    run(storage) {
      expect(storage.namespaceClosedUid("a")).toBeUndefined();
      storage.namespaceClose("a", "1");
      storage.namespaceClose("a", "2");
      storage.namespaceClose("b", "3");
      expect([storage.namespaceClosedUid("a"), storage.namespaceClosedUid("b")]).toEqual(["2", "3"]);
      storage.namespaceOpen("a");
      storage.namespaceOpen("never closed");
      expect([storage.namespaceClosedUid("a"), storage.namespaceClosedUid("b")]).toEqual([undefined, "3"]);
    },
  },
  {
    name: "transaction: all or nothing, nested ones on their own",
    run(storage) {
      storage.historyAppend([entry(1, {})]);
      const answer = storage.transaction(() => {
        storage.objectPut(object("kept", 1));
        const inner = () =>
          storage.transaction(() => {
            storage.objectPut(object("undone", 2));
            storage.objectDelete("kept");
            throw new Error("inner");
          });
        expect(inner).toThrow("inner");
        return "answer";
      });
      expect(answer).toBe("answer");
      const outer = () =>
        storage.transaction(() => {
          storage.stateSave(STATE);
          storage.marksSave([[1_000, 1, 0]]);
          storage.gapsSave({ startedAt: 1, began: [0, 0], gaps: [] });
          storage.noteEntered();
          storage.namespaceCountAdd("a", 1);
          storage.historyAppend([entry(2, {})]);
          storage.historyTrim(0, 1);
          storage.namespaceClose("a", "1");
          storage.transaction(() => storage.objectPut(object("undone as well", 3)));
          throw new Error("outer");
        });
      expect(outer).toThrow("outer");
      expect([...storage.objectScan("", "")]).toEqual([object("kept", 1)]);
      expect(storage.historySince(0, 10)).toEqual([entry(1, {})]);
      expect([storage.stateLoad(), storage.namespaceClosedUid("a"), storage.namespaceCount("a")]).toEqual([undefined, undefined, 0]);
      expect([storage.marksLoad(), storage.gapsLoad(), storage.isEntered()]).toEqual([[], undefined, false]);
    },
  },
];

function object(key: string, revision: number, data = "{}"): StoredObject {
  return { key, uid: `uid of ${key}`, revision, data };
}

function entry(revision: number, overrides: Partial<HistoryEntry>): HistoryEntry {
  return { revision, type: "MODIFIED", key: "a", data: `{"rv":${revision}}`, before: "", ...overrides };
}
