import { expect } from "vitest";
import { OBJECT_MAX_BYTES } from "../../src/api/schema/decode-limits";
import type { NamespaceGuardStorage } from "../../src/api/store/write/namespace-guard";
import { type HistoryEntry, NOTHING_COUNTED, type StoredObject, type StoreStorage } from "../../src/api/store/state/store-storage";

/** What every StoreStorage does; each case gets an empty one. Run over memory (unit) and over SQLite (object). */
export const storeStorageCases: readonly { name: string; run(storage: StoreStorage & NamespaceGuardStorage): void }[] = [
  {
    name: "state: nothing at first, then the last one saved",
    run(storage) {
      expect(storage.stateLoad()).toBeUndefined();
      storage.stateSave({ incarnation: "a", revision: 1, floor: 0, historySize: 10, counted: NOTHING_COUNTED });
      const last = { incarnation: "b", revision: 2 ** 53 - 1, floor: 2 ** 40, historySize: 2 ** 33 };
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
      for (const each of entries) storage.historyAppend(each);
      expect(storage.historySince(0, 10)).toEqual(entries);
      expect(storage.historySince(3, 10)).toEqual(entries.slice(1));
      expect([...storage.changesSince(3, 1)]).toEqual([{ revision: 4, type: "MODIFIED", key: "a", data: '{"rv":4}' }]);
      expect(storage.historySince(0, 2)).toEqual(entries.slice(0, 2));
      expect(storage.historySince(7, 10)).toEqual([]);
      storage.historyTrim(4);
      expect(storage.historySince(0, 10)).toEqual(entries.slice(2));
    },
  },
  {
    name: "historyTrim answers the length of the texts as JavaScript counts it",
    run(storage) {
      const entries = [
        entry(1, { data: '{"a":"\u{1f600}ü"}' }),
        entry(2, { before: '{"\u{1f600}":"\u{1f600}"}' }),
        entry(3, { data: "{}" }),
      ];
      for (const each of entries) storage.historyAppend(each);
      const size = (of: readonly HistoryEntry[]) => of.reduce((sum, { data, before }) => sum + data.length + before.length, 0);
      expect(storage.historyTrim(0)).toBe(0);
      expect(storage.historyTrim(2)).toBe(size(entries.slice(0, 2)));
      expect(storage.historyTrim(2)).toBe(0);
      expect(storage.historyTrim(9)).toBe(size(entries.slice(2)));
    },
  },
  {
    name: "the largest object fits: as an object, and before and after in one change",
    run(storage) {
      const large = (letter: string) => `{"a":"${letter.repeat(OBJECT_MAX_BYTES)}"}`;
      storage.objectPut(object("a", 1, large("a")));
      storage.historyAppend(entry(2, { data: large("b"), before: large("a") }));
      expect(storage.objectGet("a")?.data.length).toBe(large("a").length);
      expect(storage.historySince(0, 1)[0]).toEqual(entry(2, { data: large("b"), before: large("a") }));
      expect(storage.historyTrim(2)).toBe(2 * large("a").length);
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
      storage.historyAppend(entry(1, {}));
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
          storage.stateSave({ incarnation: "a", revision: 1, floor: 0, historySize: 0, counted: NOTHING_COUNTED });
          storage.marksSave([[1_000, 1, 0]]);
          storage.gapsSave({ startedAt: 1, began: [0, 0], gaps: [] });
          storage.namespaceCountAdd("a", 1);
          storage.historyAppend(entry(2, {}));
          storage.historyTrim(1);
          storage.namespaceClose("a", "1");
          storage.transaction(() => storage.objectPut(object("undone as well", 3)));
          throw new Error("outer");
        });
      expect(outer).toThrow("outer");
      expect([...storage.objectScan("", "")]).toEqual([object("kept", 1)]);
      expect(storage.historySince(0, 10)).toEqual([entry(1, {})]);
      expect([storage.stateLoad(), storage.namespaceClosedUid("a"), storage.namespaceCount("a")]).toEqual([undefined, undefined, 0]);
      expect([storage.marksLoad(), storage.gapsLoad()]).toEqual([[], undefined]);
    },
  },
];

function object(key: string, revision: number, data = "{}"): StoredObject {
  return { key, uid: `uid of ${key}`, revision, data };
}

function entry(revision: number, overrides: Partial<HistoryEntry>): HistoryEntry {
  return { revision, type: "MODIFIED", key: "a", data: `{"rv":${revision}}`, before: "", ...overrides };
}
