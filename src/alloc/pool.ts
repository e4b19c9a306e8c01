import { InvariantError } from "../base/assert";
import type { Random } from "../base/ports";
import type { Family } from "../net/family";
import type { Prefix } from "../net/prefix";

/** Free allocatable addresses of one family, each capped at Number.MAX_SAFE_INTEGER. */
export interface PoolFree {
  dynamic: number;
  static: number;
}

/** A page of taken bits that changed; `segment` is the canonical CIDR text of the owned prefix, `page` the decimal page index. */
export interface DirtyPage {
  segment: string;
  page: string;
  /** null: the page became all free, delete its row */
  bytes: Uint8Array | null;
}

export type Scope = "static" | "dynamic";

export class Pool {
  constructor(_random: Random) {}
  /** owned segments (disjoint) and the Ready ranges that intersect them; keeps the taken bits of segments that stay */
  configure(_owned: readonly Prefix[], _ranges: readonly Prefix[]): void {
    throw new InvariantError("unwritten");
  }
  isOwned(_family: Family, _address: bigint): boolean {
    throw new InvariantError("unwritten");
  }
  /** inside usable(range) of some Ready range, within owned */
  isAllocatable(_family: Family, _address: bigint): boolean {
    throw new InvariantError("unwritten");
  }
  scopeOf(_family: Family, _address: bigint): Scope {
    throw new InvariantError("unwritten");
  }
  isTaken(_family: Family, _address: bigint): boolean {
    throw new InvariantError("unwritten");
  }
  /** uniform over the free addresses of the dynamic band, then of the static band; undefined = full */
  allocateDynamic(_family: Family): { address: bigint; scope: Scope } | undefined {
    throw new InvariantError("unwritten");
  }
  /** false when already taken; owned is asserted */
  take(_family: Family, _address: bigint): boolean {
    throw new InvariantError("unwritten");
  }
  /** false when not taken; owned is asserted */
  release(_family: Family, _address: bigint): boolean {
    throw new InvariantError("unwritten");
  }
  free(_family: Family): PoolFree {
    throw new InvariantError("unwritten");
  }
  /** taken addresses in [first, last] */
  takenIn(_family: Family, _first: bigint, _last: bigint): number {
    throw new InvariantError("unwritten");
  }
  taken(_family?: Family): Iterable<{ family: Family; address: bigint }> {
    throw new InvariantError("unwritten");
  }
  takeDirtyPages(): DirtyPage[] {
    throw new InvariantError("unwritten");
  }
  loadPage(_segment: string, _page: string, _bytes: Uint8Array): void {
    throw new InvariantError("unwritten");
  }
  takenCount(): number {
    throw new InvariantError("unwritten");
  }
}
