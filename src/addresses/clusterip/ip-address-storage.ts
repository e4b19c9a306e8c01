/** Rows that the ipaddresses store keeps beside its objects, in the same database and the same transactions. */
import type { Gen } from "../rpc/service-cidr";

/** The newest writer of an address that this store has seen, deleted ones included. */
export interface GenRow {
  address: string;
  /** "" = released: an object of that name is a client's. A token without an object: somebody deleted the object by hand. */
  token: string;
  gen: Gen;
}

export interface IPAddressStorage {
  genGet(address: string): GenRow | undefined;
  genPut(row: GenRow): void;
  /** the prefixes that ServiceCIDR objects own, as last acknowledged */
  claimsLoad(): { epoch: number; prefixes: string[] };
  claimsSave(epoch: number, prefixes: readonly string[]): void;
}

/** Negative, zero or positive as `a` is older, equal or newer than `b`. */
export function compareGens(a: Gen, b: Gen): number {
  return a.epoch - b.epoch || a.counter - b.counter;
}
