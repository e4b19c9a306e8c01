/**
 * What repair proposes, and who disposes (PROTOCOL rules 5–8, 13). Every proposal says what repair believed; the store that owns the
 * decision looks again in the turn that acts, and answers what it found.
 */
import type { Settings } from "../../core/config/settings";
import type { IPAddressWrite } from "./ip-addresses";
import type { AddressRow, Gen } from "./service-cidr";

/** An address that a stored Service was seen to hold. */
export interface HeldAddress {
  namespace: string;
  name: string;
  /** of the Service */
  uid: string;
  /** canonical text */
  address: string;
  /** uid of the IPAddress that was seen; "" = there was none */
  object: string;
  /** that object is as it should be: only the owner's row is looked at */
  isRight: boolean;
}

export type WholeResult =
  /** row and IPAddress are, or meanwhile were, as they should be */
  | "whole"
  /** the IPAddress was written, the row taken if there was none */
  | "restored"
  /** no such Service holds the address any more */
  | "gone"
  /** under way, or waiting for something else that is under way: look again later */
  | "busy"
  /** another Service holds it */
  | "duplicate"
  /** the owner's row is held by an IPAddress object that somebody made */
  | "heldByObject"
  /** nothing gives the address out now: its range is not Ready */
  | "notReady"
  /** a peer did not answer */
  | "unavailable";

/** An address with the token and gen under which its IPAddress was written. */
export interface WrittenAddress {
  address: string;
  token: string;
  gen: Gen;
}

export type GiveUpResult =
  /** it is on its way back because of this proposal: nobody holds it */
  | "released"
  /** it was on its way back already, as after any delete: no leak */
  | "pending"
  /** a Service holds it, under this very token */
  | "held"
  /** an operation under way may still commit it */
  | "busy";

/** The services store: it alone releases what it asked for (rule 6). */
export interface RepairedServices {
  makeWhole(items: HeldAddress[]): Promise<WholeResult[]>;
  /** releases what no Service holds */
  giveUp(items: WrittenAddress[]): Promise<GiveUpResult[]>;
}

/** An IPAddress to be there for a Service; `object` and `isRight` as above. What is right stays, and is the new writer's from now on. */
export interface IPAddressRestore extends IPAddressWrite {
  object: string;
  isRight: boolean;
}

export interface RepairedAddresses {
  /** as createMany; answers for each whether an object was written */
  restoreMany(writes: IPAddressRestore[]): Promise<boolean[]>;
  /** under which token and gen the services store wrote the address; null = it did not, or has released it */
  writersOf(addresses: string[]): Promise<(WrittenAddress | null)[]>;
  /**
   * Sees to it that objects which clients made inside a claim hold their rows; `object` is the uid that was seen. "whole" also of those that
   * need none, "gone" of an object that is not there any more.
   */
  makeHeld(items: Pick<HeldAddress, "address" | "object">[]): Promise<WholeResult[]>;
}

/** How far the check of an owner has come, and whether it found its bitmap to differ from its rows (and built it anew). */
export interface BitmapCheck {
  /** 0 = through */
  next: number;
  rebuilt: boolean;
}

export interface RepairedOwner {
  /** null = nobody holds it; "stale" = not this owner's, or frozen (rule 13) */
  rowsOf(addresses: string[]): Promise<(AddressRow | null | "stale")[]>;
  /** compares bitmap and rows: the bits of at most `limit` rows behind the position; behind 0, which is the first page, the counts too */
  checkBitmap(afterPosition: number, limit: number): Promise<BitmapCheck>;
}

/** Metrics of the repair loop, since the cluster began. */
export interface RepairCounts {
  /** full sweeps that came to their end: every Service, IPAddress and owner was looked at */
  sweeps: number;
  /** by type: leak, repair, full, outOfRange, duplicate, unknown, invalid */
  ipErrors: Record<string, number>;
  reconcileErrors: number;
  /** names of the settings in which a Worker differed from the cluster lately */
  differingSettings: string[];
}

/** A store that takes addresses for its objects. */
export interface AuditedStore {
  /** looks through every row of every owner for those that it forgot, and releases them; answers at once, the work goes on behind it */
  auditAll(): Promise<void>;
}

export interface RepairControllerRpc {
  /** A poke by a Worker, with the settings that it runs under: where the cluster's differ, it says so. Answers at once. */
  pokeFrom(settings: Settings): Promise<void>;
  /**
   * A sweep of everything, bitmaps included, that does not wait between its slices. Answers at once, the work goes on behind it;
   * `RepairCounts.sweeps` grows when it is through. While one is under way, another one begins after it, however often it is asked for.
   */
  sweep(): Promise<void>;
  repairCounts(): Promise<RepairCounts>;
}
