/** Rows that a store with addresses keeps beside its objects, in the same database and the same transactions. */
import type { Gen } from "../rpc/service-cidr";
import type { ReleaseStorage } from "./release-storage";

/** An address that an object of this store holds, with what is needed to give it back. */
export interface Allocation {
  /** canonical text; unique, so that two objects can never be committed with one address */
  address: string;
  /** storage key of the object */
  key: string;
  token: string;
  gen: Gen;
}

export interface LedgerStorage extends ReleaseStorage {
  /** plain INSERT: a second holder is an error */
  allocationAdd(allocation: Allocation): void;
  allocationGet(address: string): Allocation | undefined;
  allocationDelete(address: string): void;
  /** removes the row if the object at `key` holds the address; answers it */
  allocationTake(address: string, key: string): Allocation | undefined;
  /** numbers kept by name, such as the mark of an audit or the time of a write; 0 when unset */
  numberGet(name: string): number;
  numberSet(name: string, value: number): void;
}
