/**
 * The Service ranges with which a cluster begins, as one of its objects knows them: its own, or those of the variable SERVICE_CLUSTER_IP_RANGE. The record
 * tells the objects before anybody learns the cluster's id. So nobody has to be asked before the first range is made.
 */
import type { Config } from "../core/config/config";
import { type FirstRanges, firstRanges } from "../core/config/first-ranges";
import { prefixesIn } from "../core/net/prefix";

/** What the object keeps; both are synchronous, and durable with the writes of the turn. */
export interface RangesStorage {
  load(): readonly string[] | undefined;
  save(ranges: readonly string[]): void;
}

export class OwnRanges {
  #own: FirstRanges | undefined;

  /** @param byVariable without the gate MultiCIDRServiceAllocator the variable's ranges are the only ones, in this cluster, too */
  constructor(
    private readonly storage: RangesStorage,
    private readonly byVariable: FirstRanges & Pick<Config, "onlyRanges">,
  ) {
    const ranges = storage.load();
    if (ranges) this.#own = firstRanges(prefixesIn(ranges));
  }

  /** Those that count. */
  get current(): FirstRanges {
    return this.byVariable.onlyRanges ? this.byVariable : (this.#own ?? this.byVariable);
  }

  /** Whether the cluster has ranges of its own. */
  get isOwn(): boolean {
    return this.#own !== undefined;
  }

  /** The first ones stay. Whether these are the cluster's own now. */
  take(ranges: readonly string[]): boolean {
    if (!this.#own) {
      this.storage.save(ranges);
      this.#own = firstRanges(prefixesIn(ranges));
    }
    return this.#own.serviceRanges.join() === ranges.join();
  }
}
