import { expect, it } from "vitest";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { CURSOR_LAG_MAX } from "../../../../src/controllers/followed/lagging-cursors";
import type { RowStorage } from "../../../../src/controllers/followed/row-storage";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const KIND = "due";

/** Rows on a storage that tells what it is asked; `fails`: whether the next transaction is lost. */
function world(): { rows: KeptRows; asked: string[]; stored(): string[]; fails: { next: boolean } } {
  const memory = new MemoryRowStorage();
  const asked: string[] = [];
  const fails = { next: false };
  const storage: RowStorage = {
    transaction(work) {
      memory.transaction(() => {
        work();
        if (fails.next) throw new Error("disk full");
      });
    },
    cursors: () => memory.cursors(),
    cursorPut: (store, cursor) => memory.cursorPut(store, cursor),
    rows: (kind) => memory.rows(kind),
    rowGet: (kind, key) => memory.rowGet(kind, key),
    rowPut(kind, key, text) {
      asked.push(`put ${key}`);
      memory.rowPut(kind, key, text);
    },
    rowDelete(kind, key) {
      asked.push(`delete ${key}`);
      memory.rowDelete(kind, key);
    },
    clear: () => memory.clear(),
  };
  const rows = new KeptRows(storage);
  rows.load();
  asked.length = 0;
  return { rows, asked, stored: () => memory.rows(KIND).map(([key]) => key), fails };
}

it("a new row that goes before it is saved: storage hears nothing of it", () => {
  const { rows, asked } = world();
  rows.put(KIND, "a", {}, true);
  rows.put(KIND, "a", { again: true });
  rows.delete(KIND, "a");
  rows.save();
  expect(asked).toEqual([]);
});

it("a stored row that goes, comes as a new one and goes again: it is deleted", () => {
  const { rows, asked, stored } = world();
  rows.put(KIND, "a", {}, true);
  rows.save();
  rows.delete(KIND, "a");
  rows.put(KIND, "a", {}, true);
  rows.delete(KIND, "a");
  rows.save();
  expect(asked).toEqual(["put a", "delete a"]);
  expect(stored()).toEqual([]);
});

it("a new row whose save failed: is saved with the next one, and one that goes meanwhile is not", () => {
  const { rows, stored, fails } = world();
  rows.put(KIND, "a", {}, true);
  rows.put(KIND, "b", {}, true);
  fails.next = true;
  expect(() => rows.save()).toThrow("disk full");
  fails.next = false;
  rows.delete(KIND, "a");
  rows.save();
  expect(stored()).toEqual(["b"]);
});

it("cursors that may wait: are saved when they are far ahead, of another life or the first ones; others with the next save that does not wait", () => {
  const memory = new MemoryRowStorage();
  const rows = new KeptRows(memory);
  rows.load();
  const at = (revision: number, incarnation = "i") => ({ incarnation, revision });
  const stored = () => Object.fromEntries(memory.cursors().map(([store, { revision }]) => [store, revision]));
  rows.moveCursor("a", at(10));
  rows.moveCursor("b", at(10));
  rows.save(true);
  expect(stored()).toEqual({ a: 10, b: 10 });
  rows.moveCursor("a", at(11));
  rows.put(KIND, "fact", {}, true);
  rows.save(true);
  expect([stored(), memory.rows(KIND).length, rows.cursor("a")]).toEqual([{ a: 10, b: 10 }, 1, at(11)]);
  rows.moveCursor("a", at(9 + CURSOR_LAG_MAX));
  rows.save(true);
  expect(stored()).toEqual({ a: 10, b: 10 });
  rows.moveCursor("a", at(10 + CURSOR_LAG_MAX));
  rows.moveCursor("b", at(3, "j"));
  rows.save(true);
  expect(stored()).toEqual({ a: 110, b: 3 });
  rows.moveCursor("a", at(111));
  rows.save(true);
  const life = new KeptRows(memory);
  life.load();
  expect(life.cursor("a")).toEqual(at(110));
  rows.save();
  expect(stored()).toEqual({ a: 111, b: 3 });
});

it("facts that are new together: one row, which each change of them writes again, and which goes with the last one", () => {
  const { rows, asked } = world();
  const put = (key: string, isNew: boolean) => rows.put(KIND, key, { key }, isNew);
  for (const key of ["a", "b", "c"]) put(key, true);
  rows.save();
  // The form of the rows is another one now: earlier releases begin anew.
  expect(asked.splice(0)).toEqual(["put 1", "put "]);
  put("d", true);
  put("b", false);
  rows.delete(KIND, "a");
  rows.save();
  expect(asked.splice(0)).toEqual(["put 1", "put d"]);
  expect([...rows.saved(KIND)].map(([key]) => key).sort()).toEqual(["b", "c", "d"]);
  for (const key of ["b", "c", "d"]) rows.delete(KIND, key);
  rows.save();
  expect(asked.splice(0)).toEqual(["delete d", "delete 1"]);
});

it("rows of an earlier release: are read as they are, and rows of a later one are dropped", () => {
  const memory = new MemoryRowStorage();
  const begun = (): [string, unknown][] => {
    const rows = new KeptRows(memory);
    rows.load();
    return [...rows.saved(KIND)];
  };
  memory.rowPut("format", "", "1");
  memory.rowPut(KIND, "a", "{}");
  expect(begun()).toEqual([["a", {}]]);
  memory.rowPut("format", "", "3");
  expect([begun(), memory.rows("format")]).toEqual([[], [["", "1"]]]);
});

it("pages that were read: many facts are saved between them, few wait for the end, and cursors always do", () => {
  const memory = new MemoryRowStorage();
  const rows = new KeptRows(memory, 3);
  rows.load();
  rows.moveCursor("services", { incarnation: "i", revision: 7 });
  for (const key of ["a", "b"]) rows.put(KIND, key, { key }, true);
  rows.pageRead();
  expect(memory.facts(KIND)).toEqual([]);
  rows.put(KIND, "c", { key: "c" }, true);
  rows.pageRead();
  expect(memory.facts(KIND).map(([key]) => key)).toEqual(["a", "b", "c"]);
  expect(memory.cursors()).toEqual([]);
  rows.save();
  expect(memory.cursors()).toEqual([["services", { incarnation: "i", revision: 7 }]]);
});
