/** What the store of the addresses of pools is asked about pools (src/pools/pool-book.ts). */
import type { Family } from "../../core/net/family";
import type { ServedServices } from "../meta/own-annotation";

/** What a pool gives out, as it crosses RPC. */
export interface PoolFacts {
  readonly family: Family;
  /** first and last address of each interval, in normal form */
  readonly intervals: readonly (readonly [first: string, last: string])[];
  /** "" = none */
  readonly natDomain: string;
  /** What is outside of these stays used: the pool may shrink below it, and a restore brings it back. */
  readonly keepsOutside: boolean;
  /** absent = the pool serves no Services */
  readonly loadBalancer?: ServedServices;
  /** Length of the smallest prefixes that the pool gives out; the intervals consist of whole ones. Absent = it gives out addresses. */
  readonly unit?: number;
}

/** A pool as its object is stored. */
export interface StoredPool {
  readonly facts: PoolFacts;
  /** It is being deleted. */
  readonly closed: boolean;
}

/** A range of Services, or what a write adds to one. */
export interface RangeOfServices {
  /** of the ServiceCIDR; "" = no object stands for the range */
  readonly name: string;
  /** "" = none */
  readonly natDomain: string;
  readonly cidrs: readonly string[];
  /** A write is about to add it, and may still come to nothing. */
  readonly isUnderWay?: true;
}

/** What the store of ServiceCIDRs answers to those of pools. */
export interface ServiceRangesRpc {
  /**
   * Of one moment: the stored ones, those that writes are about to add, and configured ones that may come by themselves. Those where Services may hold
   * addresses without an object are among them.
   */
  serviceRanges(): Promise<RangeOfServices[]>;
}

/** `pool`: its key (api/registry/ipam). `token`: of the write that asks. */
export type PoolQuestion =
  /** A write is about to give a pool these facts. `before`: those that it has; null = it is new. `closed`: it is being deleted */
  | {
      readonly does: "claim";
      readonly pool: string;
      readonly token: string;
      readonly facts: PoolFacts;
      readonly before: PoolFacts | null;
      readonly closed?: boolean;
      readonly dryRun: boolean;
    }
  /** A deletion is about to begin. `facts`: those of the pool. `inUse`: also of a pool in use */
  | {
      readonly does: "close";
      readonly pool: string;
      readonly token: string;
      readonly facts: PoolFacts;
      readonly inUse: boolean;
      readonly dryRun: boolean;
    }
  /** The write came to nothing: what it claimed or closed is as before. */
  | { readonly does: "abandon"; readonly pool: string; readonly token: string }
  /** The pool is there, with these facts: what a write has left undone is settled. */
  | { readonly does: "settle"; readonly pool: string; readonly facts: PoolFacts; readonly closed: boolean }
  /** A range of Services is about to cover these; nothing is kept of the question */
  | { readonly does: "meet"; readonly ranges: readonly PoolFacts[] }
  /** The pool is gone, or goes now: it is forgotten unless it has addresses. If it is there after all, what a write has left undone is settled. */
  | { readonly does: "forget"; readonly pool: string };

export type PoolAnswer =
  | { readonly kind: "done" }
  /** A write of this pool is under way, or it is not as the asker has read it. */
  | { readonly kind: "later" }
  /** `isUnderWay`: a write of the other pool is; otherwise the pool may be gone, unseen */
  | { readonly kind: "overlaps"; readonly pool: string; readonly isUnderWay: boolean }
  /** An object of another pool has an address among these. `isUnderWay`: its write is, and may still come to nothing */
  | { readonly kind: "held"; readonly pool: string; readonly address: string; readonly by: string; readonly isUnderWay?: true }
  /** An object of this pool has an address that the other pool covers, and the two would be apart no more. */
  | { readonly kind: "moves"; readonly pool: string; readonly address: string; readonly by: string; readonly isUnderWay: boolean }
  /** An object of this pool has an address that a range of Services covers, and the two would be apart no more. `range`: as messages name it */
  | { readonly kind: "ranged"; readonly range: string; readonly address: string; readonly by: string; readonly isUnderWay: boolean }
  /** `set`: addresses that are used and would be outside, as upstream prints them. `ofPrefixes`: the first ones of prefixes */
  | { readonly kind: "shrinks"; readonly set: string; readonly ofPrefixes?: true }
  /** What is to be kept of the pool is larger than a row may be. */
  | { readonly kind: "tooLarge" }
  /** The pool has addresses. */
  | { readonly kind: "used" };

export interface PoolBookRpc {
  askPools(question: PoolQuestion): Promise<PoolAnswer>;
}
