import { expect, it } from "vitest";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
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

it("a new row whose save failed: it is still new, and is saved with the next one", () => {
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
