/** What the repair controller asks of its surroundings. */
import type { Clock, Recorder } from "../../core/base/ports";
import type { EventReport } from "../../api/events/event-recorder";
import type { Prefix } from "../../core/net/prefix";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { RepairCounts, RepairedAddresses, RepairedOwner, RepairedServices } from "../rpc/repair";
import type { WriteRequest, WriteResult } from "../../api/rpc/store";

/** The two stores that are followed and swept. */
export type Followed = "services" | "ipaddresses";

/** How far a store has been read. */
export interface Progress {
  /** undefined = never, or the history was lost: everything has to be read */
  cursor: StoreCursor | undefined;
  /** the storage key behind which the sweep goes on; "" = at its beginning */
  sweptTo: string;
  /** the sweep under way replaces a lost history: it does not wait between its slices */
  urgent: boolean;
}

/** Set by whoever asks for a sweep of everything; the pass that begins it, after the one under way, takes it away. */
export const SWEEP_MARK = "sweepAsked";
/** When the last slice of the sweep was begun (milliseconds since the epoch). */
export const SLICED_MARK = "slicedAt";

/** What has become of something that is looked at again. */
export interface Tries {
  /** how often it was left open, since it is looked at again */
  attempts: number;
  /** when that was told the last time, in milliseconds since the epoch; 0 = never */
  toldAt: number;
}

/** Rows of the controller's object. Every method is synchronous and atomic. */
export interface RepairStorage {
  progressLoad(what: Followed): Progress;
  progressSave(what: Followed, progress: Progress): void;
  /** small numbers by name: when the last slice was swept, how far an owner's bitmap was checked; 0 when unset */
  markGet(name: string): number;
  markSet(name: string, value: number): void;
  /** something to look at again: `services/ns/name` or `ipaddresses/name`; the earlier time wins. Without `tries` they stay as they are */
  suspectPut(id: string, dueAt: number, tries?: Tries): void;
  /** none of what is not looked at again */
  suspectTries(id: string): Tries;
  /** what is due, at most `limit`; it is due again at `leaseUntil` unless `suspectsDone` with the same time takes it away before */
  suspectsTake(nowMs: number, limit: number, leaseUntil: number): string[];
  suspectsDone(leaseUntil: number): void;
  suspectEarliest(): number | undefined;
  countsLoad(): Pick<RepairCounts, "ipErrors" | "reconcileErrors">;
  /** type "" = a failure of the pass itself */
  count(type: string, by: number): void;
}

export interface RepairPorts {
  clock: Clock;
  recorder: Recorder;
  storage: RepairStorage;
  events: { report(event: EventReport): void; flush(): Promise<void> };
  services: ObjectFeed & RepairedServices;
  ipAddresses: ObjectFeed & RepairedAddresses & { write(request: WriteRequest): Promise<WriteResult> };
  /** the prefixes of all ServiceCIDRs, Ready or not; with the old allocator those that are configured. The same array as long as they are the same */
  ranges(): Promise<readonly Prefix[]>;
  /** with the old allocator: the ranges as they are configured, which its events name */
  legacyRanges?: readonly Prefix[] | undefined;
  /** the uids of the owners of addresses */
  owners(): Promise<readonly string[]>;
  owner(uid: string): Pick<RepairedOwner, "checkBitmap">;
}
