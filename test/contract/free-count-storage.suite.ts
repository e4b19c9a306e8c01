import type { FreeCountStorage, OwnerTakenCounts } from "../../src/addresses/ledger/free-counts";
import { type ContractCase, LARGEST, sorted, type Transacted, undone, UNICODE } from "./contract-case";

/** What every FreeCountStorage does. */
export const freeCountStorageCases: readonly ContractCase<Transacted<FreeCountStorage>>[] = [
  {
    name: "nothing at first; a delete of an absent owner changes nothing",
    run(storage) {
      storage.takenCountsDelete("a");
      return storage.takenCountsLoad();
    },
    want: [],
  },
  {
    name: "counts: the last ones of each owner, until they are deleted",
    run(storage) {
      for (const counts of [taken("a", 1), taken("b", 2), taken("a", 3), taken("c", 4)]) storage.takenCountsSave(counts);
      storage.takenCountsDelete("c");
      return sorted(storage.takenCountsLoad());
    },
    want: sorted([taken("a", 3), taken("b", 2)]),
  },
  {
    name: "counts: larger than any integer of a database, and of an owner of any name",
    run(storage) {
      for (const counts of [taken("", 2 ** 64), taken(UNICODE, LARGEST)]) storage.takenCountsSave(counts);
      return sorted(storage.takenCountsLoad());
    },
    want: sorted([taken("", 2 ** 64), taken(UNICODE, LARGEST)]),
  },
  {
    name: "a transaction that fails: leaves the counts as they were",
    run(storage) {
      storage.takenCountsSave(taken("a", 1));
      storage.takenCountsSave(taken("b", 1));
      undone(storage, () => {
        storage.takenCountsSave(taken("a", 2));
        storage.takenCountsSave(taken("c", 2));
        storage.takenCountsDelete("b");
      });
      return sorted(storage.takenCountsLoad());
    },
    want: sorted([taken("a", 1), taken("b", 1)]),
  },
  {
    name: "counts are copies: what is changed outside changes nothing inside",
    run(storage) {
      const saved = taken("a", 1);
      storage.takenCountsSave(saved);
      for (const counts of [saved, ...storage.takenCountsLoad()]) counts.IPv4.dynamic = 99;
      return storage.takenCountsLoad();
    },
    want: [taken("a", 1)],
  },
];

function taken(ownerUid: string, count: number): OwnerTakenCounts {
  return { ownerUid, IPv4: { dynamic: count, static: 0 }, IPv6: { dynamic: 1, static: count } };
}
