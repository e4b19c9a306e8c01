import type { Family } from "./family";

/** An aligned CIDR value: the low `width - length` bits of `base` are zero. */
export interface Prefix {
  readonly family: Family;
  readonly base: bigint;
  /** number of leading bits, 0..32 or 0..128 */
  readonly length: number;
}
