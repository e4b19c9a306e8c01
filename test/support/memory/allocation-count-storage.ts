import type { AllocationCountStorage } from "../../../src/addresses/metrics/allocation-metrics";
import type { CidrAllocations } from "../../../src/api/rpc/store";
import { Journal, JournaledMap } from "../sim/platform/journal";

/** AllocationCountStorage in memory; shares a journal with the other tables of the services store. */
export class MemoryAllocationCountStorage implements AllocationCountStorage {
  readonly #rows: JournaledMap<CidrAllocations>;

  constructor(journal = new Journal()) {
    this.#rows = new JournaledMap(journal);
  }

  allocationCountsLoad(): CidrAllocations[] {
    return structuredClone(this.#rows.values());
  }

  allocationCountsSave(counts: CidrAllocations): void {
    this.#rows.set(counts.cidr, structuredClone(counts));
  }

  allocationCountsDelete(cidr: string): void {
    this.#rows.delete(cidr);
  }
}
