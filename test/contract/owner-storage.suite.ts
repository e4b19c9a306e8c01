import { expect } from "vitest";
import { addressKey } from "../../src/addresses/alloc/owner-key";
import type { OwnerStorage, StoredRow } from "../../src/addresses/alloc/owner-storage";

/** What every OwnerStorage does; each case gets an empty one. Run over memory (unit) and over SQLite (object). */
export const ownerStorageCases: readonly { name: string; run(storage: OwnerStorage): void }[] = [
  {
    name: "config and reserved positions: nothing at first, then the last ones saved",
    run(storage) {
      expect([storage.configLoad(), storage.reservedLoad()]).toEqual([undefined, 0]);
      storage.configSave({ epoch: 1, content: "{}" });
      storage.configSave({ epoch: 2 ** 53 - 1, content: '{"ü":1}' });
      storage.reservedSave(7);
      storage.reservedSave(8);
      expect([storage.configLoad(), storage.reservedLoad()]).toEqual([{ epoch: 2 ** 53 - 1, content: '{"ü":1}' }, 8]);
    },
  },
  {
    name: "rowInsert: a second row of an address or of a token throws",
    run(storage) {
      storage.rowInsert(row(1, "a"));
      expect(() => storage.rowInsert({ ...row(1, "b"), position: 2 })).toThrow("UNIQUE");
      expect(() => storage.rowInsert(row(2, "a"))).toThrow("UNIQUE");
      expect(storage.rowsSince(0, 10)).toEqual([row(1, "a")]);
    },
  },
  {
    name: "rowDelete: only with the row's own token",
    run(storage) {
      storage.rowInsert(row(1, "a"));
      expect([storage.rowDelete(row(1, "a").key, "b"), storage.rowDelete(row(2, "a").key, "a")]).toEqual([false, false]);
      expect([storage.rowDelete(row(1, "a").key, "a"), storage.rowDelete(row(1, "a").key, "a")]).toEqual([true, false]);
      expect(storage.rowByToken("a")).toBeUndefined();
      storage.rowInsert(row(1, "a"));
    },
  },
  {
    name: "rows: by token, since a counter, in an interval; families apart, in address order",
    run(storage) {
      const v6 = { ...row(3, "six"), key: addressKey("IPv6", 2n) };
      for (const each of [row(9, "nine"), v6, row(200, "far")]) storage.rowInsert(each);
      expect(storage.rowByToken("six")).toEqual(v6);
      expect(storage.rowsSince(3, 1)).toEqual([row(9, "nine")]);
      expect(storage.rowsSince(0, 10)).toEqual([v6, row(9, "nine"), row(200, "far")]);
      const all = [addressKey("IPv4", 0n), addressKey("IPv4", 2n ** 32n - 1n)] as const;
      expect([...storage.rowKeys(...all)]).toEqual([row(9, "").key, row(200, "").key]);
      expect(storage.rowCount(...all)).toBe(2);
      expect(storage.rowCount(row(9, "").key, row(9, "").key)).toBe(1);
      expect(storage.rowCount(row(10, "").key, row(199, "").key)).toBe(0);
    },
  },
  {
    name: "rows in an interval: after a key, at most so many, in address order; those of Services are counted apart",
    run(storage) {
      const foreign: StoredRow = { ...row(9, "nine"), holder: { kind: "ipaddress", namespace: "", name: "9", uid: "nine" } };
      for (const each of [row(30, "c"), foreign, row(20, "b"), row(40, "d")]) storage.rowInsert(each);
      const interval = { first: row(9, "").key, last: row(30, "").key };
      expect(storage.rowsIn({ ...interval, after: "" }, 10)).toEqual([foreign, row(20, "b"), row(30, "c")]);
      expect(storage.rowsIn({ ...interval, after: row(9, "").key }, 1)).toEqual([row(20, "b")]);
      expect(storage.rowsIn({ ...interval, after: row(30, "").key }, 10)).toEqual([]);
      expect(storage.serviceRowCount(interval.first, interval.last)).toBe(2);
      expect(storage.serviceRowCount(interval.first, interval.first)).toBe(0);
    },
  },
  {
    name: "a row that came from elsewhere keeps its gen and has a position of its own",
    run(storage) {
      const moved: StoredRow = { ...row(1, "moved"), position: 7, gen: { epoch: 9, counter: 3 } };
      storage.rowInsert(row(2, "own"));
      storage.rowInsert(moved);
      expect(storage.rowsSince(2, 10)).toEqual([moved]);
      expect(storage.rowByToken("moved")).toEqual(moved);
    },
  },
  {
    name: "receiving: how far each hand-off has come, until it is not retained",
    run(storage) {
      expect(storage.receivingLoad(4)).toBeUndefined();
      storage.receivingSave(4, { through: "", sealed: false });
      storage.receivingSave(4, { through: row(1, "").key, sealed: true });
      storage.receivingSave(5, { through: "7", sealed: false });
      storage.receivingRetain([4, 6]);
      expect([storage.receivingLoad(4), storage.receivingLoad(5)]).toEqual([{ through: row(1, "").key, sealed: true }, undefined]);
      storage.receivingRetain([]);
      expect(storage.receivingLoad(4)).toBeUndefined();
    },
  },
  {
    name: "rowsDeleteBetween: both bounds stay",
    run(storage) {
      for (const n of [1, 2, 3, 4]) storage.rowInsert(row(n, `t${n}`));
      storage.rowsDeleteBetween(row(1, "").key, row(4, "").key);
      expect(storage.rowsSince(0, 10).map(({ token }) => token)).toEqual(["t1", "t4"]);
    },
  },
  {
    name: "released lists: by id, replaced, deleted singly and all",
    run(storage) {
      expect([...storage.releasedLists()]).toEqual([]);
      const list = (id: number, expiresMs: number, ...tokens: string[]) => ({ id, expiresMs, tokens });
      for (const each of [list(2, 20, "b"), list(1, 10, "a", '"ü'), list(3, 30)]) storage.releasedSave(each);
      storage.releasedSave(list(2, 25, "b", "c"));
      storage.releasedDelete(3);
      storage.releasedDelete(4);
      expect([...storage.releasedLists()]).toEqual([list(1, 10, "a", '"ü'), list(2, 25, "b", "c")]);
      storage.releasedClear();
      expect([...storage.releasedLists()]).toEqual([]);
    },
  },
  {
    name: "pages: saved, replaced, deleted singly, by segment and all",
    run(storage) {
      const save = (segment: string, page: string, ...bytes: number[]) => storage.pageSave({ segment, page, bytes: new Uint8Array(bytes) });
      const pages = () => [...storage.pagesLoad()].map(({ segment, page, bytes }) => [segment, page, ...bytes].join(" ")).sort();
      save("A", "0", 1, 2);
      save("A", "0", 3, 255);
      save("A", "18446744073709551616", 4);
      save("B", "0", 5);
      save("C", "0", 6);
      storage.pageSave({ segment: "C", page: "0", bytes: null });
      storage.pageSave({ segment: "D", page: "0", bytes: null });
      expect(pages()).toEqual(["A 0 3 255", "A 18446744073709551616 4", "B 0 5"]);
      storage.pagesDelete("A");
      expect(pages()).toEqual(["B 0 5"]);
      storage.pagesClear();
      expect(pages()).toEqual([]);
    },
  },
  {
    name: "transaction: all or nothing, nested ones on their own",
    run(storage) {
      const answer = storage.transaction(() => {
        storage.rowInsert(row(1, "kept"));
        const inner = () =>
          storage.transaction(() => {
            storage.rowInsert(row(2, "undone"));
            storage.rowDelete(row(1, "").key, "kept");
            throw new Error("inner");
          });
        expect(inner).toThrow("inner");
        return "answer";
      });
      expect(answer).toBe("answer");
      const outer = () =>
        storage.transaction(() => {
          storage.reservedSave(9);
          storage.releasedSave({ id: 1, expiresMs: 100, tokens: ["t"] });
          storage.configSave({ epoch: 9, content: "" });
          storage.pageSave({ segment: "A", page: "0", bytes: new Uint8Array([1]) });
          storage.transaction(() => storage.rowInsert(row(3, "undone as well")));
          throw new Error("outer");
        });
      expect(outer).toThrow("outer");
      expect(storage.rowsSince(0, 10)).toEqual([row(1, "kept")]);
      expect([storage.reservedLoad(), [...storage.releasedLists()], storage.configLoad()]).toEqual([0, [], undefined]);
      expect([...storage.pagesLoad()]).toEqual([]);
    },
  },
];

/** The row of 10.0.0.n (n < 256), with counter n. */
function row(n: number, token: string): StoredRow {
  return {
    key: addressKey("IPv4", 0x0a000000n + BigInt(n)),
    position: n,
    token,
    gen: { epoch: 2, counter: n },
    band: n < 17 ? "static" : "dynamic",
    holder: { kind: "service", namespace: "default", name: `web-${n}`, uid: `uid-${n}` },
  };
}
