/**
 * The Coordinator's rows, behind a port: SQL in the Durable Object, plain maps in the simulation. Methods are synchronous. A transaction may be
 * nested in the store's, so a ServiceCIDR object and its claims are durable together (rule 10).
 */

import type { RangeTenancy } from "../../rpc/topology";

/** The Ready condition as it stands on the object. */
export interface ReadyCondition {
  status: string;
  reason: string;
  message: string;
}

/** What the topology needs of one ServiceCIDR object; the row exists exactly as long as the object. */
export interface CidrRow {
  uid: string;
  name: string;
  /** deletionTimestamp is set */
  deleting: boolean;
  /** a client turned the Ready condition to False */
  suspended: boolean;
  /**
   * Until this time (ms) the ranges give out nothing, because a write that takes them away waits for the owners' acknowledgement. 0 = no fence.
   * A fence ends by itself, so that the fence of a write that a crash lost does not last.
   */
  fencedUntil: number;
  /** the Coordinator's finalizer is on the object */
  finalizer: boolean;
  condition: ReadyCondition | undefined;
  /** absent = every namespace's Services take from the ranges */
  tenancy?: RangeTenancy;
}

/** One prefix of a ServiceCIDR. */
export interface RangeRow {
  uid: string;
  prefix: string;
  /** the prefix gives out addresses and every owner concerned has acknowledged that, so it counts as cover (rule 16) */
  ready: boolean;
}

/** A segment and the owner (uid of a ServiceCIDR, possibly a deleted one) that alone writes it. */
export interface ClaimRow {
  prefix: string;
  ownerUid: string;
  /** the owner has taken the addresses of the IPAddress objects that lay inside */
  seeded: boolean;
}

/** The configuration that an owner has or is to get. */
export interface OwnerRow {
  uid: string;
  epoch: number;
  /** JSON of an OwnerContent */
  content: string;
  /** the newest configuration that the owner confirmed; equal to `epoch`: this one */
  ackedEpoch: number;
  /**
   * Until this time (ms) the owner takes back no row that a Service lost, so that a count stays true (taken-count.ts). 0 = it does. A closing
   * ends by itself, as a fence does, so that it does not outlast a count that a crash lost.
   */
  closedUntil: number;
}

/** A row that seeding has asked an owner to take. It is kept until the segment is seeded, so that a resumed seeding can take it back. */
export interface SeedingRow {
  token: string;
  address: string;
  ownerUid: string;
}

/**
 * A hand-off: segments on their way from one owner to another (jobs/hand-over.ts). Several hand-offs begin with one freeze of their source; from
 * then on each goes its own way, so that a target that does not answer holds up no other.
 *
 *     copying ──► activating ──► (row deleted)
 *        └──────► resting ──► copying, under a new id
 */
export interface HandoffRow {
  sourceUid: string;
  targetUid: string;
  /** the epoch that froze the segments; with the target it names this attempt for ever */
  id: number;
  /** copying: claims of the source; activating: claims of the target by now; resting: none */
  prefixes: string[];
  phase: "copying" | "activating" | "resting";
  /** copying: when it is given up; activating: when it counts as late; resting: when the next attempt may begin (ms) */
  dueAt: number;
  /** failed attempts in a row, as `rested` (handoff-rules.ts) counts them */
  failures: number;
}

export interface CoordinatorState {
  /** the last epoch given out; 0 before the first */
  epoch: number;
  cidrs: CidrRow[];
  ranges: RangeRow[];
  claims: ClaimRow[];
  owners: OwnerRow[];
  handoffs: HandoffRow[];
}

export interface CoordinatorStorage {
  /** Runs `work` atomically: if it throws, nothing changed. May be nested. */
  transaction<T>(work: () => T): T;
  /** a copy of all rows but the seedings */
  load(): CoordinatorState;
  /** throws when the epoch is not later than the last one: it names one configuration for ever */
  epochSave(epoch: number): void;
  cidrSave(row: CidrRow): void;
  /** deletes the row and its ranges */
  cidrDelete(uid: string): void;
  rangeSave(row: RangeRow): void;
  /** a plain insert: throws when a claim with the same base address exists (rule 10) */
  claimInsert(row: ClaimRow): void;
  claimSeeded(prefix: string): void;
  claimDelete(prefix: string): void;
  ownerSave(row: OwnerRow): void;
  ownerDelete(uid: string): void;
  /** one row per source and target */
  handoffSave(row: HandoffRow): void;
  handoffDelete(row: Pick<HandoffRow, "sourceUid" | "targetUid">): void;
  seedingsOf(ownerUid: string): SeedingRow[];
  seedingSave(row: SeedingRow): void;
  seedingDelete(token: string): void;
  seedingsClear(ownerUid: string): void;
}
