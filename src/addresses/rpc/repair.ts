/**
 * What repair proposes, and who disposes (rules 5–8, 13). Every proposal says what repair believed. The store that owns the decision looks again
 * in the turn that acts, and answers what it found.
 */
import type { Settings } from "../../core/config/settings";
import { isMethodMissing } from "../../api/rpc/older-release";
import type { IPAddressWrite } from "./ip-addresses";
import type { ComparedService, NodePortFinding, RepairedNodePorts } from "./repaired-node-ports";
import type { AddressRow, Gen } from "./service-cidr";

/** An address that a stored Service was seen to hold. */
export interface HeldAddress {
  namespace: string;
  name: string;
  /** of the Service */
  uid: string;
  /** canonical text */
  address: string;
  /** uid of the IPAddress that repair saw; "" = none */
  object: string;
  /** that object is right: only the owner's row is looked at */
  isRight: boolean;
}

export type WholeResult =
  /** row and IPAddress are right, or became right meanwhile */
  | "whole"
  /** the IPAddress was written, and the row was taken if there was none */
  | "restored"
  /** no such Service holds the address any more */
  | "gone"
  /** an operation is under way: look again later */
  | "busy"
  /** another Service holds it */
  | "duplicate"
  /** an IPAddress object that a client made holds the owner's row */
  | "heldByObject"
  /** no Ready range gives the address out now */
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
  /** nobody holds it: this proposal releases it */
  | "released"
  /** its release is pending already, as after any delete: no leak */
  | "pending"
  /** a Service holds it, under this very token */
  | "held"
  /** an operation under way may still commit it */
  | "busy";

export interface WholeServices {
  addresses: WholeResult[];
  /** null = they could not be compared */
  nodePorts: NodePortFinding[][] | null;
}

/** The services store: it alone releases what it asked for (rule 6). */
export interface RepairedServices {
  makeWhole(items: HeldAddress[]): Promise<WholeResult[]>;
  /** by one call what `makeWhole` does, and `makeNodePortsWhole` of these Services */
  makeServicesWhole(items: HeldAddress[], seen: ComparedService[]): Promise<WholeServices>;
  /** releases what no Service holds */
  giveUp(items: WrittenAddress[]): Promise<GiveUpResult[]>;
}

/** An IPAddress that a Service is to have; `object` and `isRight` as above. A right object stays, and belongs to the new writer from now on. */
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
   * Makes objects that clients made inside a claim hold their rows; `object` is the uid that repair saw. Answers "whole" also for an object that
   * needs no row, and "gone" when the object no longer exists.
   */
  makeHeld(items: Pick<HeldAddress, "address" | "object">[]): Promise<WholeResult[]>;
}

/** How far the check of an owner has come, and whether its bitmap differed from its rows and was rebuilt. */
export interface BitmapCheck {
  /** 0 = through */
  next: number;
  rebuilt: boolean;
}

export interface RepairedOwner {
  /** null = nobody holds it; "stale" = not this owner's, or frozen (rule 13) */
  rowsOf(addresses: string[]): Promise<(AddressRow | null | "stale")[]>;
  /** compares the bits of at most `limit` rows behind the position; behind 0, the first page, it compares the counts, too */
  checkBitmap(afterPosition: number, limit: number): Promise<BitmapCheck>;
}

/** Counters of the repair loop since the cluster began. */
export interface RepairCounts {
  /** full sweeps that ended: every Service, IPAddress and owner was looked at */
  sweeps: number;
  /** by type: leak, repair, full, outOfRange, duplicate, unknown, invalid */
  ipErrors: Record<string, number>;
  reconcileErrors: number;
  /** the same of node ports; by type: leak, repair, full, outOfRange, duplicate, unknown */
  nodePorts: { portErrors: Record<string, number>; reconcileErrors: number };
  /** names of the settings in which a Worker lately differed from the cluster */
  differingSettings: string[];
  /** whether a pass has come to its end since the object started, in a cluster that was swept before or is through now; an older release does not say */
  isRepaired?: boolean;
  /**
   * When cron last came, and when repair last ended a slice of its sweep; in milliseconds since the epoch, 0 = never. An older release does not say.
   */
  lastRuns?: { cronMs: number; repairMs: number };
}

/** A store that takes addresses for its objects. */
export interface AuditedStore {
  /** looks through every row of every owner for rows that the store forgot, and releases them; answers at once, the work goes on */
  auditAll(): Promise<void>;
}

export interface RepairControllerRpc {
  /**
   * A poke by a Worker, with its settings: differences from the cluster's are reported. Of cron it is the tick: whoever asked for a visit gets it.
   *
   * @param tickMs of cron: the tick, in milliseconds since the epoch
   * @returns of cron. "rests": nobody needs a visit any more. "left": somebody needs one by the next tick, too. undefined: this is a full visit, in which
   *   cron calls everybody, because nobody knows who has work; a release before answers so to each full visit
   */
  pokeFrom(settings: Settings, who?: "cron", tickMs?: number): Promise<"rests" | "left" | undefined>;
  /**
   * A full sweep of everything, bitmaps included, without waiting between slices. Answers at once, the work goes on; `RepairCounts.sweeps` grows
   * at its end. While a sweep is under way, one more follows it, however often it is asked for.
   */
  sweep(): Promise<void>;
  repairCounts(): Promise<RepairCounts>;
}

/** The store's `makeServicesWhole`; one of an older release is asked for each part alone. `services` makes a stub for one call. */
export async function makeServicesWholeOf(
  services: () => Pick<RepairedServices, "makeServicesWhole" | "makeWhole"> & Pick<RepairedNodePorts, "makeNodePortsWhole">,
  items: HeldAddress[],
  seen: ComparedService[],
): Promise<WholeServices> {
  try {
    return await services().makeServicesWhole(items, seen);
  } catch (error) {
    if (!isMethodMissing(error, "makeServicesWhole")) throw error;
    const addresses = await services().makeWhole(items);
    const compared = services().makeNodePortsWhole(seen);
    return { addresses, nodePorts: await compared.catch(() => null) };
  }
}
