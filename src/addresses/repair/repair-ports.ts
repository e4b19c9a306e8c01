/** What the repair controller asks of its surroundings. */
import type { Clock, Recorder } from "../../core/base/ports";
import type { EventReport } from "../../api/events/event-recorder";
import type { Prefix } from "../../core/net/prefix";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { RepairCounts, RepairedAddresses, RepairedOwner, RepairedServices } from "../rpc/repair";
import type { Topology } from "../rpc/topology";
import type { RepairedNodePorts } from "../rpc/repaired-node-ports";
import type { WriteRequest, WriteResult } from "../../api/rpc/store";
import type { RowStorage } from "../../controllers/followed/row-storage";

/** The two stores that are followed and swept. */
export type RepairedStore = "services" | "ipaddresses";

/** How far a store has been read. */
export interface Progress {
  /** undefined = never, or the history was lost: everything has to be read */
  cursor: StoreCursor | undefined;
  /** the storage key behind which the sweep goes on; "" = at its beginning */
  sweptTo: string;
  /** the sweep under way replaces a lost history: it does not wait between its portions */
  urgent: boolean;
}

/** Set by a caller that asks for a full sweep. The pass that begins that sweep, after the one under way, clears it. */
export const SWEEP_ASKED = "sweepAsked";
/** When the last portion of the sweep began that came to its end (milliseconds since the epoch). */
export const PORTIONED_AT = "portionedAt";
/** The same as earlier releases note it. See OLDER_CRON_AT. */
export const OLDER_PORTIONED_AT = "slicedAt";
/** Full sweeps that came to their end. */
export const SWEEPS_ENDED = "sweeps";
/** When cron last found somebody to visit (milliseconds since the epoch). */
export const CRON_AT = "visitedAt";
/** The same as earlier releases note it, who keep no list of those that were ever used; 0 = no such release has ticked since that list is whole. */
export const OLDER_CRON_AT = "cronAt";
/** The tick of cron's last full visit (milliseconds since the epoch). */
export const FULL_AT = "fullAt";

/** The past of a suspect. */
export interface Tries {
  /** how often it was left open since it became a suspect; of the row of a node port: how often it was seen */
  attempts: number;
  /** when it was last reported, or the row last seen, in milliseconds since the epoch; 0 = never */
  toldAt: number;
}

/** Rows of the controller's object. Every method is synchronous and atomic. */
export interface RepairStorage {
  progressLoad(what: RepairedStore): Progress;
  progressSave(what: RepairedStore, progress: Progress): void;
  /** numbers kept by name, such as the mark of a check or the time of a portion; 0 when unset */
  numberGet(name: string): number;
  numberSet(name: string, value: number): void;
  /** adds a suspect (`services/ns/name`, `ipaddresses/name` or `nodeports/protocol/number/ns/name`); of two times the earlier counts. Without `tries` its tries stay as they are */
  suspectPut(id: string, dueAt: number, tries?: Tries): void;
  /** zeros when it is no suspect */
  suspectTries(id: string): Tries;
  /** at most `limit` suspects that are due, the earliest first; they are due again at `leaseUntil`, unless `suspectsDone` with the same time removes them before */
  suspectsTake(nowMs: number, limit: number, leaseUntil: number): string[];
  suspectsDone(leaseUntil: number): void;
  suspectEarliest(): number | undefined;
  countsLoad(): Pick<RepairCounts, "ipErrors" | "reconcileErrors">;
  /** those of node ports */
  nodePortCountsLoad(): RepairCounts["nodePorts"];
  /** adds to a counter; type "" = a failure of the pass itself; those of node ports have types of their own (repair-counts.ts) */
  count(type: string, by: number): void;
}

export interface RangesNow {
  /** of all ServiceCIDRs, Ready or not; with the old allocator the configured ones. The same array until they change */
  prefixes: readonly Prefix[];
  /** the uids of the owners of addresses, where the same answer told them */
  owners?: readonly string[];
  /** the Ready ranges, where some of them are kept for the Services of some namespaces; the same object until they change */
  kept?: Topology | undefined;
}

export interface RepairPorts {
  clock: Clock;
  recorder: Recorder;
  storage: RepairStorage;
  events: { report(event: EventReport): void; flush(): Promise<void> };
  /** events about node ports: upstream's repair of those reports by itself */
  nodePortEvents: RepairPorts["events"];
  /** events about load balancers, which are no findings of a repair */
  loadBalancerEvents: RepairPorts["events"];
  /** of Services without a class; absent or "" = somebody else serves them */
  defaultLoadBalancerClass?: string;
  /** rows about load balancers */
  rows: Pick<RowStorage, "rows" | "rowPut" | "rowDelete">;
  services: ObjectFeed & RepairedServices & RepairedNodePorts;
  ipAddresses: ObjectFeed & RepairedAddresses & { write(request: WriteRequest): Promise<WriteResult> };
  ranges(): Promise<RangesNow>;
  /** the texts of Namespaces, null for one that is not there; absent = nobody asks for labels */
  namespaces?: ObjectFeed["objectsNamed"];
  /** with the old allocator: the configured ranges, which its events name */
  legacyRanges?: readonly Prefix[] | undefined;
  /** the uids of the owners of addresses */
  owners(): Promise<readonly string[]>;
  owner(uid: string): Pick<RepairedOwner, "checkBitmap">;
}
