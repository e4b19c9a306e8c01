/**
 * What the Coordinator remembers, behind a port: SQL in the Durable Object, plain maps in the simulation. Methods are synchronous; a
 * transaction may be nested in the store's, so a ServiceCIDR object and its claims are durable together (PROTOCOL rule 10).
 */

/** The Ready condition as it stands on the object. */
export interface ReadyCondition {
  status: string;
  reason: string;
  message: string;
}

/** One ServiceCIDR object, as far as the topology depends on it; exists exactly as long as the object. */
export interface CidrRow {
  uid: string;
  name: string;
  /** deletionTimestamp is set */
  deleting: boolean;
  /** a client turned the Ready condition to False */
  suspended: boolean;
  /**
   * A write that takes the ranges away is waiting for the owners' acknowledgement: until this time (ms) they give out nothing. 0 = no fence.
   * It ends by itself, so that the fence of a write lost in a crash does not last.
   */
  fencedUntil: number;
  /** our finalizer is on the object */
  finalizer: boolean;
  condition: ReadyCondition | undefined;
}

/** One prefix of a ServiceCIDR. */
export interface RangeRow {
  uid: string;
  prefix: string;
  /** gives out addresses, and every owner concerned has acknowledged that: it counts as cover (PROTOCOL rule 16) */
  ready: boolean;
}

/** A segment and the owner (uid of a ServiceCIDR, possibly a deleted one) that alone writes it. */
export interface ClaimRow {
  prefix: string;
  ownerUid: string;
  /** the IPAddress objects that lay inside are marked taken at the owner */
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
   * Until this time (ms) it takes back no row that a Service lost, so that what was counted stays so (counting.ts). 0 = it does. It ends by
   * itself, as a fence does, so that it does not outlast a count that was lost in a crash.
   */
  closedUntil: number;
}

/** A row that seeding has asked an owner to take, kept until the segment is seeded, so that a resumed seeding can take it back. */
export interface SeedingRow {
  token: string;
  address: string;
  ownerUid: string;
}

/**
 * Segments on their way from one owner to another (handing-over.ts). Several begin together with one freeze of their source; from then on
 * each goes its own way, so that a target that does not answer holds up no other.
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
  /** copying: when it is given up; resting: when the next attempt may begin (ms) */
  dueAt: number;
  /** failed attempts in a row, as `rested` (advance.ts) counts them */
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
  /** a fresh copy */
  load(): CoordinatorState;
  epochSave(epoch: number): void;
  cidrSave(row: CidrRow): void;
  /** with its ranges */
  cidrDelete(uid: string): void;
  rangeSave(row: RangeRow): void;
  /** a plain insert: throws when a claim with the same base address exists (PROTOCOL rule 10) */
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
