/**
 * The ServiceCIDRs of one family as one allocator (upstream: MetaAllocator). Ranges may overlap, be equal or lie inside each other: an address
 * counts once, whichever range gave it out.
 */
import { ok, type Result } from "../../core/base/result";
import type { Address } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { formatPrefix, lastOf, parsePrefix, type Prefix, type PrefixError } from "../../core/net/prefix";
import { normalizePrefixes, subtractPrefixes } from "../../core/net/prefix-set";
import { isUsableIn } from "../../core/net/usable";
import type { CidrUsage } from "../../addresses/metrics/allocator-families";
import type { AllocatorError } from "./allocator-error";
import { type AllocatorPorts, PoolAllocator } from "./pool-allocator";

/** A range of a ServiceCIDR object. */
export interface ServiceRange {
  /** canonical */
  readonly cidr: string;
  /** the range gives out addresses; one that does not keeps its taken addresses */
  readonly ready: boolean;
}

export class MetaAllocator extends PoolAllocator {
  readonly cidr = "";
  #ready: Prefix[] = [];
  #owned: Prefix[] = [];

  constructor(ipFamily: Family, ports: AllocatorPorts) {
    super(ipFamily, ports);
  }

  /**
   * Replaces the ranges; those of the other family are ignored. Addresses that no range has any more stay taken until they are released: a range
   * that comes back must not give them out a second time. Nothing changes when a CIDR is refused.
   */
  setRanges(ranges: readonly ServiceRange[]): Result<void, PrefixError> {
    const all: Prefix[] = [];
    const ready: Prefix[] = [];
    for (const range of ranges) {
      const parsed = parsePrefix(range.cidr);
      if (!parsed.ok) return parsed;
      if (parsed.value.family !== this.ipFamily) continue;
      all.push(parsed.value);
      if (range.ready) ready.push(parsed.value);
    }
    const stranded = subtractPrefixes(this.#owned, all).filter(
      (prefix) => this.pool.takenIn(prefix.family, prefix.base, lastOf(prefix)) > 0,
    );
    this.#owned = normalizePrefixes([...all, ...stranded]);
    this.#ready = ready;
    this.pool.configure(this.#owned, ready);
    return ok(undefined);
  }

  /** The gauges: one entry for each distinct CIDR that is ready. */
  usage(): CidrUsage[] {
    return this.cidrs
      .flatMap((cidr) => this.#ready.filter((prefix) => formatPrefix(prefix) === cidr).slice(0, 1))
      .map((prefix) => this.usageOf(prefix));
  }

  override destroy(): void {
    super.destroy();
    this.#ready = [];
    this.#owned = [];
  }

  protected get shown(): Prefix | undefined {
    return this.#ready[0];
  }

  protected get cidrs(): readonly string[] {
    return [...new Set(this.#ready.map(formatPrefix))];
  }

  /** The innermost range that gives the address out. */
  protected cidrOf(address: bigint): string {
    let innermost: Prefix | undefined;
    for (const prefix of this.#ready) {
      if (isUsableIn(prefix, this.ipFamily, address) && prefix.length > (innermost?.length ?? -1)) innermost = prefix;
    }
    return innermost ? formatPrefix(innermost) : "";
  }

  protected refusalOf({ family, value }: Address): AllocatorError | undefined {
    return this.#ready.some((prefix) => isUsableIn(prefix, family, value)) ? undefined : { reason: "mismatchedNetwork" };
  }
}
