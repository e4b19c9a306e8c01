import type { Allocation, LedgerStorage } from "../../src/addresses/ledger/ledger-storage";
import type { PendingRelease } from "../../src/addresses/ledger/release-storage";
import { type ContractCase, isConflict, LARGEST, sorted, undone, UNICODE } from "./contract-case";

/** What every LedgerStorage does. */
export const ledgerStorageCases: readonly ContractCase<LedgerStorage>[] = [
  {
    name: "nothing at first: no allocation, no release, each number 0",
    run: (storage) => [
      storage.allocationGet("10.0.0.1"),
      storage.allocationTake("10.0.0.1", "a"),
      storage.numberGet(""),
      storage.releaseGet(""),
      storage.releasesDue(LARGEST, 10),
      [...storage.releasesAll()],
    ],
    want: [undefined, undefined, 0, undefined, [], []],
  },
  {
    name: "deletes of absent rows: change nothing",
    run(storage) {
      storage.allocationDelete("10.0.0.1");
      storage.releaseDelete("t");
      storage.releaseDefer("t", 1, 2);
      return [storage.allocationGet("10.0.0.1"), storage.releaseGet("t") !== undefined];
    },
    want: [undefined, false],
  },
  {
    name: "allocationAdd: a second holder of an address throws, the first one stays",
    run(storage) {
      storage.allocationAdd(allocation("10.0.0.1", "default/a"));
      const isRefused = isConflict(() => storage.allocationAdd(allocation("10.0.0.1", "default/b")));
      storage.allocationAdd(allocation("10.0.0.2", "default/a"));
      return [isRefused, storage.allocationGet("10.0.0.1"), storage.allocationGet("10.0.0.2")];
    },
    want: [true, allocation("10.0.0.1", "default/a"), allocation("10.0.0.2", "default/a")],
  },
  {
    name: "allocationAdd: a conflict that somebody catches leaves the rest of its transaction",
    run(storage) {
      storage.allocationAdd(allocation("10.0.0.1", "a"));
      storage.transaction(() => {
        storage.allocationAdd(allocation("10.0.0.2", "a"));
        isConflict(() => storage.allocationAdd(allocation("10.0.0.1", "b")));
        storage.allocationAdd(allocation("10.0.0.3", "a"));
      });
      return [1, 2, 3].map((n) => storage.allocationGet(`10.0.0.${n}`)?.key);
    },
    want: ["a", "a", "a"],
  },
  {
    name: "allocationTake: answers and removes the row of its own holder alone",
    run(storage) {
      storage.allocationAdd(allocation("10.0.0.1", "a"));
      const others = storage.allocationTake("10.0.0.1", "b");
      const kept = storage.allocationGet("10.0.0.1");
      return [others, kept, storage.allocationTake("10.0.0.1", "a"), storage.allocationTake("10.0.0.1", "a")];
    },
    want: [undefined, allocation("10.0.0.1", "a"), allocation("10.0.0.1", "a"), undefined],
  },
  {
    name: "allocationDelete: the address may be given out again",
    run(storage) {
      storage.allocationAdd(allocation("fd00::1", "a"));
      storage.allocationDelete("fd00::1");
      const between = storage.allocationGet("fd00::1");
      storage.allocationAdd(allocation("fd00::1", "b"));
      return [between, storage.allocationGet("fd00::1")];
    },
    want: [undefined, allocation("fd00::1", "b")],
  },
  {
    name: "allocations: empty texts, the largest numbers and any character are kept",
    run(storage) {
      storage.allocationAdd({ address: "", key: "", token: "", gen: { epoch: 0, counter: LARGEST } });
      storage.allocationAdd({ address: UNICODE, key: UNICODE, token: UNICODE, gen: { epoch: LARGEST, counter: 0 } });
      return [storage.allocationGet(""), storage.allocationTake(UNICODE, UNICODE)];
    },
    want: [
      { address: "", key: "", token: "", gen: { epoch: 0, counter: LARGEST } },
      { address: UNICODE, key: UNICODE, token: UNICODE, gen: { epoch: LARGEST, counter: 0 } },
    ],
  },
  {
    name: "numbers: by name, the last one set",
    run(storage) {
      storage.numberSet("a", 1);
      storage.numberSet("a", LARGEST);
      storage.numberSet("", -LARGEST);
      storage.numberSet(UNICODE, 0);
      return [storage.numberGet("a"), storage.numberGet(""), storage.numberGet(UNICODE), storage.numberGet("b")];
    },
    want: [LARGEST, -LARGEST, 0, 0],
  },
  {
    name: "releaseAdd: a token that is there already changes nothing",
    run(storage) {
      storage.releaseAdd(release("t", 5));
      storage.releaseAdd({ ...release("t", 9), address: "10.0.0.9", attempts: 7 });
      return [storage.releaseGet("t"), storage.releaseGet("u"), [...storage.releasesAll()]];
    },
    want: [release("t", 5), undefined, [{ token: "t", address: "10.0.0.1" }]],
  },
  {
    name: "releaseDefer: changes attempts and time alone",
    run(storage) {
      storage.releaseAdd(release("t", 5));
      storage.releaseDefer("t", LARGEST, LARGEST);
      return [storage.releaseGet("t"), storage.releasesDue(LARGEST - 1, 10), storage.releasesDue(LARGEST, 10).length];
    },
    want: [{ ...release("t", LARGEST), attempts: LARGEST }, [], 1],
  },
  {
    name: "releasesDue: the earliest first, at most so many, none of a later time",
    run(storage) {
      for (const [token, dueAt] of Object.entries({ late: 30, first: 10, second: 20, never: 31 }))
        storage.releaseAdd(release(token, dueAt));
      const due = (now: number, limit: number) => storage.releasesDue(now, limit).map(({ token }) => token);
      return [due(9, 10), due(10, 10), due(30, 10), due(30, 2), due(30, 0)];
    },
    want: [[], ["first"], ["first", "second", "late"], ["first", "second"], []],
  },
  {
    name: "releasesAll: token and address of each row, also when rows come and go",
    run(storage) {
      for (const token of ["a", "b", "c"]) storage.releaseAdd(release(token, 1));
      storage.releaseDelete("b");
      storage.releaseAdd({ ...release(UNICODE, 1), address: "fd00::1" });
      return sorted(storage.releasesAll());
    },
    want: sorted([
      { token: "a", address: "10.0.0.1" },
      { token: "c", address: "10.0.0.1" },
      { token: UNICODE, address: "fd00::1" },
    ]),
  },
  {
    name: "release lists: each with its releases, until it is deleted; rows are apart",
    run(storage) {
      const lists = [
        { id: "a", releases: [release("a", 1), { ...release(UNICODE, LARGEST), address: "fd00::1" }] },
        { id: UNICODE, releases: [release("b", 2)] },
      ];
      for (const list of [...lists, { id: "gone", releases: [release("c", 3)] }]) storage.releaseListAdd(list);
      storage.releaseListDelete("gone");
      storage.releaseListDelete("nobody");
      const found = [...storage.releaseLists()].sort((a, b) => (a.id < b.id ? -1 : 1));
      return [found, [...storage.releasesAll()], storage.releaseGet("a")];
    },
    want: [
      [
        { id: "a", releases: [release("a", 1), { ...release(UNICODE, LARGEST), address: "fd00::1" }] },
        { id: UNICODE, releases: [release("b", 2)] },
      ],
      [],
      undefined,
    ],
  },
  {
    name: "a transaction that fails: leaves the rows as they were; one within another fails alone",
    run(storage) {
      storage.allocationAdd(allocation("10.0.0.1", "a"));
      storage.releaseAdd(release("t", 5));
      storage.releaseListAdd({ id: "t", releases: [release("t", 5), release("u", 6)] });
      storage.numberSet("n", 1);
      undone(storage, () => {
        storage.allocationDelete("10.0.0.1");
        storage.allocationAdd(allocation("10.0.0.1", "b"));
        storage.allocationAdd(allocation("10.0.0.2", "b"));
        storage.releaseDefer("t", 1, 6);
        storage.releaseAdd(release("u", 1));
        storage.numberSet("n", 2);
        storage.numberSet("m", 2);
        storage.transaction(() => storage.releaseDelete("t"));
        storage.releaseListDelete("t");
        storage.releaseListAdd({ id: "u", releases: [] });
      });
      const answer = storage.transaction(() => {
        storage.numberSet("outer", 3);
        undone(storage, () => storage.numberSet("outer", 4));
        return "answer";
      });
      return [
        [answer, storage.numberGet("outer"), storage.numberGet("n"), storage.numberGet("m")],
        [storage.allocationGet("10.0.0.1"), storage.allocationGet("10.0.0.2")],
        [storage.releaseGet("t"), storage.releaseGet("u"), [...storage.releaseLists()]],
      ];
    },
    want: [
      ["answer", 3, 1, 0],
      [allocation("10.0.0.1", "a"), undefined],
      [release("t", 5), undefined, [{ id: "t", releases: [release("t", 5), release("u", 6)] }]],
    ],
  },
  {
    name: "rows are copies: what is changed outside changes nothing inside",
    run(storage) {
      const added = allocation("10.0.0.1", "a");
      const queued = release("t", 5);
      storage.allocationAdd(added);
      storage.releaseAdd(queued);
      for (const row of [added, queued, storage.allocationGet("10.0.0.1"), storage.releaseGet("t"), storage.releasesDue(5, 1)[0]])
        if (row) Object.assign(row.gen, { epoch: 99 });
      return [storage.allocationGet("10.0.0.1"), storage.releaseGet("t")];
    },
    want: [allocation("10.0.0.1", "a"), release("t", 5)],
  },
];

function allocation(address: string, key: string): Allocation {
  return { address, key, token: `token of ${key}`, gen: { epoch: 2, counter: 3 } };
}

function release(token: string, dueAt: number): PendingRelease {
  return { token, address: "10.0.0.1", gen: { epoch: 2, counter: 3 }, attempts: 0, dueAt };
}
