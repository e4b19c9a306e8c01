/** What a ServiceCIDR object, the owner of some prefixes, answers. Stores and the Coordinator call it; it calls nobody. */

/** Growing number of one address: a later holder always has a greater gen. Compared by epoch, then counter. */
export interface Gen {
  epoch: number;
  counter: number;
}

/** Canonical texts; both ends are inside. */
export interface AddressInterval {
  first: string;
  last: string;
}

export type HolderKind = "service" | "ipaddress";

/** The holder of an address, as repair and error texts name it. */
export interface Holder {
  kind: HolderKind;
  namespace: string;
  name: string;
  uid: string;
}

export interface AllocateItem {
  /** fresh per attempt (rule 1) */
  token: string;
  holder: Holder;
  family: "IPv4" | "IPv6";
  /** canonical text for a static request; "" = dynamic */
  address: string;
  /** dynamic: "full" as soon as the dynamic bands are used up, because another owner may still have room in its own */
  dynamicOnly?: true;
  /**
   * Where zones are kept apart (`OwnerConfig.zoned`): the only zone that the address may be in, "" = in none; ANY_ZONE = the caller needs not be judged.
   * Absent = the caller knows of no zones.
   */
  zone?: string;
}

/** For addresses that no zone refuses: those of `default/kubernetes`, and of objects that hold them already. */
export const ANY_ZONE = "*";

export type AllocateRefusal =
  /** every allocatable address of the family that this owner has is taken */
  | "full"
  | "taken"
  /** static: the address is owned, but no Ready range makes it usable */
  | "notAllocatable"
  /** outside the owned segments, outside the zone that is asked for, retired, or never configured: compare with the Coordinator */
  | "stale"
  | "frozen"
  /** the token was released before this (late) call arrived */
  | "released";

export type AllocateResult = { ok: true; address: string; gen: Gen; scope: "static" | "dynamic" } | { ok: false; reason: AllocateRefusal };

/** Free allocatable addresses of one family: exact up to 2^53, the nearest number above. */
export interface FreeCount {
  dynamic: number;
  static: number;
}

export interface AllocateAnswer {
  epoch: number;
  results: AllocateResult[];
  free: { IPv4: FreeCount; IPv6: FreeCount };
}

export interface ReleaseItem {
  /** canonical text; "" = the address that this token holds here (the answer of a dynamic allocation was lost) */
  address: string;
  token: string;
}

/** "released" also when there was no such row: nothing is left behind. */
export type ReleaseResult = "released" | "stale";

/** What the owner may do, under one epoch. Prefixes are canonical CIDR texts. */
export interface OwnerConfig {
  epoch: number;
  /** segments that this object alone writes; disjoint */
  owned: string[];
  /** prefixes of ServiceCIDRs that give out addresses now and intersect `owned`: their usable addresses are allocatable, their bands apply */
  ranges: string[];
  /** owned segments that take no allocate and no release now: their hand-off is under way, or its target has not confirmed yet */
  frozen: string[];
  /** segments that other owners hand over: only chunks of their hand-off are taken before they are owned */
  receiving: Receiving[];
  /** the ranges have no static bands: the gate ServiceIPStaticSubrange is off */
  withoutBands?: true;
  /** `seed` takes back no lost row of a Service: what Services hold is being counted, and empty segments may be taken away */
  closed?: true;
  /** prefixes of `ranges` that are kept for the Services of some namespaces (topology/tenants.ts); absent = none of them is */
  zones?: string[];
  /** some range of the cluster is kept so: the owner answers `stale` to a store that does not know it */
  zoned?: true;
  /** for ever: the owner answers `stale` to everything, and keeps only its last epoch */
  retired: boolean;
}

/** Segments on their way to a new owner. */
export interface Receiving {
  /** names one attempt to hand over for ever: the epoch under which it began */
  handoff: number;
  prefixes: string[];
}

export type ConfigureResult =
  | { ok: true }
  /** unsealed: an owner may own a segment only after all its rows have come */
  | { ok: false; reason: "superseded" | "contentDiffers" | "retired" | "unsealed"; epoch: number };

/** A row of the authority on who holds what. */
export interface AddressRow {
  address: string;
  token: string;
  gen: Gen;
  holder: Holder;
  /** grows with every row that this owner writes, whether it gave the address out or received the row */
  position: number;
}

/** A row on its way to a new owner; it keeps its gen. */
export interface CopiedRow {
  address: string;
  token: string;
  gen: Gen;
  holder: Holder;
  scope: "static" | "dynamic";
}

/** Rows of a hand-off in address order. Positions are opaque; "" is before the first row. */
export interface CopyChunk {
  after: string;
  through: string;
  rows: CopiedRow[];
  /** only in the last chunk: number and checksum of all rows of the hand-off */
  seal?: { rows: number; checksum: number };
}

export type CopyOutResult = { ok: true; chunk: CopyChunk } | { ok: false; reason: "stale" };

export type ReceiveResult =
  /** all rows up to `through` are here, durably; sealed: the hand-off has no more rows */
  | { ok: true; through: string; sealed: boolean }
  /** stale: this hand-off is not being received. conflict: the rows cannot be taken; only a new attempt may end better */
  | { ok: false; reason: "stale" | "conflict" };

export interface ServiceCIDRRpc {
  configure(config: OwnerConfig): Promise<ConfigureResult>;
  allocate(items: AllocateItem[]): Promise<AllocateAnswer>;
  release(items: ReleaseItem[]): Promise<ReleaseResult[]>;
  /**
   * Takes addresses for objects that have them already: IPAddresses, or Services that lost their row. Repeats and addresses outside are
   * no-ops.
   */
  seed(epoch: number, items: { address: string; holder: Holder; token: string }[]): Promise<"ok" | "stale">;
  /** at most `limit` rows with a position greater than `afterPosition`, in that order: a store looks for rows that it forgot */
  rowsSince(afterPosition: number, limit: number): Promise<{ epoch: number; rows: AddressRow[] }>;
  /** how many addresses of Services lie in each of the inclusive address intervals (canonical texts) */
  countTaken(intervals: AddressInterval[]): Promise<{ epoch: number; taken: number[] }>;
  free(): Promise<{ epoch: number; free: AllocateAnswer["free"] }>;
  /** Cuts prefixes (canonical, disjoint) into pieces of at most `rowsMax` rows, in address order; a single address is not cut further. */
  partition(prefixes: string[], rowsMax: number): Promise<{ epoch: number; pieces: { prefix: string; rows: number }[] }>;
  /** the rows after a position in the prefixes of a hand-off, which must have been frozen here since it began */
  copyOut(handoff: Receiving, after: string): Promise<CopyOutResult>;
  /** takes the chunk that follows the received ones; any other is a repeat and changes nothing */
  receive(handoff: number, chunk: CopyChunk): Promise<ReceiveResult>;
}

/** For checks. */
export interface InspectedOwner {
  /**
   * A page of the rows behind a position, as `rowsSince`, and the difference of the bitmap from them, as a sentence ("" = none). The first page
   * also compares the counts of all rows. Changes nothing.
   */
  inspect(afterPosition: number, limit: number): Promise<{ epoch: number; rows: AddressRow[]; differs: string }>;
}

/** For metrics. */
export interface CountedOwner {
  /** totals since the object started: commits and the items carried out in them */
  counters(): { drains: number; weight: number };
  /** the same, and how many addresses are taken in each of the inclusive intervals (canonical texts) */
  usage(intervals: AddressInterval[]): Promise<{ drains: number; weight: number; taken: number[] }>;
  /** the taken addresses of the inclusive interval, as distances from its first one, ascending; at most 2^20 addresses */
  takenIn(interval: AddressInterval): Promise<{ epoch: number; offsets: Uint32Array }>;
}
