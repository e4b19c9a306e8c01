/**
 * Counts allocations by CIDR. The object that asks for addresses counts.
 *
 * Counters outlive the object that counts. The keeper says when they are written (ledger/count-keeper.ts). Only what is written is shown. So
 * a crash loses only counts that nobody has seen, and no counter ever goes back.
 */
import type { Band } from "../../core/net/band";
import type { CidrAllocations } from "../../api/rpc/store";
import { DEFAULT_BOUNDS, Histogram } from "../../core/telemetry/histogram";
import type { KeptCounters } from "./kept-counters";

/** Seconds. */
export const DURATION_BOUNDS = DEFAULT_BOUNDS;
/** CIDRs counted. Beyond it, the one that has been counted for the longest time is forgotten. */
const CIDRS_MAX = 10_000;

/** Keeps counters from one life of the object to the next. */
export interface AllocationCountStorage {
  allocationCountsLoad(): CidrAllocations[];
  /** replaces what is kept of the CIDR */
  allocationCountsSave(counts: CidrAllocations): void;
  allocationCountsDelete(cidr: string): void;
}

interface Counted {
  total: Record<Band, number>;
  errors: Record<Band, number>;
  durations: Histogram;
}

export class AllocationMetrics implements KeptCounters {
  readonly #byCidr = new Map<string, Counted>();
  /** CIDRs whose counters are not kept as they are */
  readonly #unsaved = new Set<string>();
  /** CIDRs of the last `save`, whose transaction may still be lost */
  #saved: string[] = [];

  /** Without `storage` counting starts at 0. `refused` is called before each count of a failure, which no commit follows. */
  constructor(
    private readonly storage?: AllocationCountStorage,
    private readonly refused: () => void = () => undefined,
  ) {
    for (const { cidr, total, errors, durations } of storage?.allocationCountsLoad() ?? []) {
      this.#byCidr.set(cidr, { total, errors, durations: new Histogram(DURATION_BOUNDS, durations) });
    }
  }

  /** `scope`: whether the client named the address; `seconds`: from the request until it was held. */
  allocated(cidr: string, scope: Band, seconds: number): void {
    const counted = this.#of(cidr);
    counted.total[scope]++;
    counted.durations.observe(seconds);
  }

  failed(cidr: string, scope: Band): void {
    this.refused();
    this.#of(cidr).errors[scope]++;
  }

  values(): CidrAllocations[] {
    return [...this.#byCidr].map(([cidr, counted]) => valueOf(cidr, counted));
  }

  /** The counters as they are kept: what was counted since the last write is left out. */
  keptValues(): CidrAllocations[] {
    return this.storage && this.unsaved ? this.storage.allocationCountsLoad() : this.values();
  }

  get unsaved(): boolean {
    return this.#unsaved.size > 0;
  }

  save(): void {
    const { storage } = this;
    if (!storage) return;
    this.#saved = [...this.#unsaved];
    this.#unsaved.clear();
    for (const cidr of this.#saved) {
      const counted = this.#byCidr.get(cidr);
      if (counted) storage.allocationCountsSave(valueOf(cidr, counted));
      else storage.allocationCountsDelete(cidr);
    }
  }

  lost(): void {
    for (const cidr of this.#saved) this.#unsaved.add(cidr);
    this.#saved = [];
  }

  /** The counters of a CIDR, for a change. */
  #of(cidr: string): Counted {
    this.#unsaved.add(cidr);
    let counted = this.#byCidr.get(cidr);
    if (!counted) {
      const [oldest] = this.#byCidr.keys();
      if (this.#byCidr.size >= CIDRS_MAX && oldest !== undefined) {
        this.#byCidr.delete(oldest);
        this.#unsaved.add(oldest);
      }
      counted = { total: { static: 0, dynamic: 0 }, errors: { static: 0, dynamic: 0 }, durations: new Histogram(DURATION_BOUNDS) };
      this.#byCidr.set(cidr, counted);
    }
    return counted;
  }
}

function valueOf(cidr: string, { total, errors, durations }: Counted): CidrAllocations {
  return { cidr, total: { ...total }, errors: { ...errors }, durations: durations.value };
}
