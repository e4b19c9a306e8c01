import type { AllocationCountStorage } from "../../src/addresses/metrics/allocation-metrics";
import type { CidrAllocations } from "../../src/api/rpc/store";
import { type ContractCase, LARGEST, sorted, type Transacted, undone, UNICODE } from "./contract-case";

/** What every AllocationCountStorage does. */
export const allocationCountStorageCases: readonly ContractCase<Transacted<AllocationCountStorage>>[] = [
  {
    name: "nothing at first; a delete of an absent CIDR changes nothing",
    run(storage) {
      storage.allocationCountsDelete("10.0.0.0/24");
      return storage.allocationCountsLoad();
    },
    want: [],
  },
  {
    name: "counts: the last ones of each CIDR, until they are deleted",
    run(storage) {
      for (const each of [counts("10.0.0.0/24", 1), counts("fd00::/112", 2), counts("10.0.0.0/24", 3), counts("10.0.1.0/24", 4)])
        storage.allocationCountsSave(each);
      storage.allocationCountsDelete("10.0.1.0/24");
      return sorted(storage.allocationCountsLoad());
    },
    want: sorted([counts("10.0.0.0/24", 3), counts("fd00::/112", 2)]),
  },
  {
    name: "counts: the largest number, fractions of seconds, no bucket at all, any name",
    run(storage) {
      storage.allocationCountsSave(counts("", LARGEST));
      storage.allocationCountsSave({ ...counts(UNICODE, 0), durations: { counts: [], sum: 0.1 + 0.2 } });
      return sorted(storage.allocationCountsLoad());
    },
    want: sorted([counts("", LARGEST), { ...counts(UNICODE, 0), durations: { counts: [], sum: 0.1 + 0.2 } }]),
  },
  {
    name: "a transaction that fails: leaves the counts as they were",
    run(storage) {
      storage.allocationCountsSave(counts("a", 1));
      storage.allocationCountsSave(counts("b", 1));
      undone(storage, () => {
        storage.allocationCountsSave(counts("a", 2));
        storage.allocationCountsSave(counts("c", 2));
        storage.allocationCountsDelete("b");
      });
      return sorted(storage.allocationCountsLoad());
    },
    want: sorted([counts("a", 1), counts("b", 1)]),
  },
  {
    name: "counts are copies: what is changed outside changes nothing inside",
    run(storage) {
      const saved = counts("a", 1);
      storage.allocationCountsSave(saved);
      for (const each of [saved, ...storage.allocationCountsLoad()]) each.durations.counts[0] = each.total.dynamic = 99;
      return storage.allocationCountsLoad();
    },
    want: [counts("a", 1)],
  },
];

function counts(cidr: string, count: number): CidrAllocations {
  return {
    cidr,
    total: { dynamic: count, static: 1 },
    errors: { dynamic: 2, static: count },
    durations: { counts: [count, 0], sum: count / 4 },
  };
}
