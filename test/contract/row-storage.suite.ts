import type { RowStorage } from "../../src/controllers/followed/row-storage";
import { type ContractCase, LARGEST, sorted, undone, UNICODE } from "./contract-case";

/** What every RowStorage does. */
export const rowStorageCases: readonly ContractCase<RowStorage>[] = [
  {
    name: "nothing at first; a delete of an absent row and a clear change nothing",
    run(storage) {
      storage.rowDelete("pods", "a");
      storage.clear();
      return [[...storage.rows("pods")], [...storage.cursors()]];
    },
    want: [[], []],
  },
  {
    name: "rows: the last text of each kind and key, until it is deleted",
    run(storage) {
      storage.rowPut("pods", "a", "1");
      storage.rowPut("pods", "b", "2");
      storage.rowPut("nodes", "a", "3");
      storage.rowPut("pods", "a", "4");
      storage.rowDelete("pods", "b");
      storage.rowDelete("nodes", "b");
      const one = [storage.rowGet("pods", "a"), storage.rowGet("pods", "b"), storage.rowGet("", "a")];
      return [[...storage.rows("pods")], [...storage.rows("nodes")], [...storage.rows("")], one];
    },
    want: [[["a", "4"]], [["a", "3"]], [], ["4", undefined, undefined]],
  },
  {
    name: "rows: a space in a kind or in a key makes no other row the same",
    run(storage) {
      storage.rowPut("a", "b c", "1");
      storage.rowPut("a b", "c", "2");
      storage.rowDelete("a b", "c");
      return [[...storage.rows("a")], [...storage.rows("a b")]];
    },
    want: [[["b c", "1"]], []],
  },
  {
    name: "rows: empty texts and any character are kept",
    run(storage) {
      storage.rowPut("", "", "");
      storage.rowPut("", UNICODE, UNICODE);
      return sorted(storage.rows(""));
    },
    want: sorted([
      ["", ""],
      [UNICODE, UNICODE],
    ]),
  },
  {
    name: "cursors: the last one of each store",
    run(storage) {
      storage.cursorPut("pods", { incarnation: "x", revision: 1 });
      storage.cursorPut("", { incarnation: "", revision: 0 });
      storage.cursorPut("pods", { incarnation: UNICODE, revision: LARGEST });
      return sorted(storage.cursors());
    },
    want: sorted([
      ["pods", { incarnation: UNICODE, revision: LARGEST }],
      ["", { incarnation: "", revision: 0 }],
    ]),
  },
  {
    name: "clear: drops every row and every cursor",
    run(storage) {
      storage.rowPut("pods", "a", "1");
      storage.rowPut("nodes", "a", "1");
      storage.cursorPut("pods", { incarnation: "x", revision: 1 });
      storage.clear();
      return [[...storage.rows("pods")], [...storage.rows("nodes")], [...storage.cursors()]];
    },
    want: [[], [], []],
  },
  {
    name: "a transaction that fails: leaves rows and cursors as they were; one within another fails alone",
    run(storage) {
      storage.rowPut("pods", "a", "1");
      storage.cursorPut("pods", { incarnation: "x", revision: 1 });
      undone(storage, () => {
        storage.clear();
        storage.rowPut("pods", "a", "2");
        storage.rowPut("pods", "b", "2");
        storage.cursorPut("pods", { incarnation: "x", revision: 2 });
      });
      storage.transaction(() => {
        storage.rowPut("pods", "c", "3");
        undone(storage, () => storage.rowDelete("pods", "c"));
      });
      return [sorted(storage.rows("pods")), [...storage.cursors()]];
    },
    want: [
      sorted([
        ["a", "1"],
        ["c", "3"],
      ]),
      [["pods", { incarnation: "x", revision: 1 }]],
    ],
  },
];
