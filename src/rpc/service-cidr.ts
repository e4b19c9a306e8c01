/** What a ServiceCIDR object (the owner of some prefixes) answers. Calls come from stores and the Coordinator; it calls nobody. */

/** Growing number of one address: a later holder always has a greater gen. Compared by epoch, then counter. */
export interface Gen {
  epoch: number;
  counter: number;
}

export type HolderKind = "service" | "ipaddress";

/** Who asks: enough to name the holder in repair and in error texts. */
export interface Holder {
  kind: HolderKind;
  namespace: string;
  name: string;
  uid: string;
}

export interface AllocateItem {
  /** fresh per attempt (PROTOCOL rule 1) */
  token: string;
  holder: Holder;
  family: "IPv4" | "IPv6";
  /** canonical text for a static request; "" = dynamic */
  address: string;
}

export type AllocateRefusal =
  /** every allocatable address of the family that this owner has is taken */
  | "full"
  | "taken"
  /** static: owned, but no Ready range makes it usable */
  | "notAllocatable"
  /** outside the owned segments, retired, or never configured: compare with the Coordinator */
  | "stale"
  | "frozen"
  /** the token was released before this (late) call arrived */
  | "released";

export type AllocateResult = { ok: true; address: string; gen: Gen; scope: "static" | "dynamic" } | { ok: false; reason: AllocateRefusal };

/** Free allocatable addresses of one family; a number, so exact up to 2^53 and the nearest one above. */
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
  /** canonical text; "" = whatever this token holds here (the reply of a dynamic allocation was lost, so its address is unknown) */
  address: string;
  token: string;
}

/** "released" covers "there was no such row": both leave nothing behind. */
export type ReleaseResult = "released" | "stale";

/** A Ready or not Ready view of what the owner may give out, with its epoch. Prefixes are canonical CIDR texts. */
export interface OwnerConfig {
  epoch: number;
  /** segments this object alone writes; disjoint */
  owned: string[];
  /** prefixes of all ServiceCIDRs that may give out addresses now and intersect `owned`: their usable addresses are allocatable, their bands apply */
  ranges: string[];
  /** owned segments that take no allocate and no release now */
  frozen: string[];
  /** for ever: answers `stale` to everything, keeps only its last epoch */
  retired: boolean;
}

export type ConfigureResult = { ok: true } | { ok: false; reason: "superseded" | "contentDiffers" | "retired"; epoch: number };

/** A row of the authority on who holds what. */
export interface AddressRow {
  address: string;
  token: string;
  gen: Gen;
  holder: Holder;
}

export interface ServiceCIDRRpc {
  configure(config: OwnerConfig): Promise<ConfigureResult>;
  allocate(items: AllocateItem[]): Promise<AllocateAnswer>;
  release(items: ReleaseItem[]): Promise<ReleaseResult[]>;
  /** marks addresses taken for IPAddress objects that already exist; repeats and addresses outside are no-ops; answers the rows' gens */
  seed(epoch: number, items: { address: string; holder: Holder; token: string }[]): Promise<"ok" | "stale">;
  /** rows whose gen counter is greater than `afterCounter`, in counter order, at most `limit`: the asking store looks for its own lost ones */
  rowsSince(afterCounter: number, limit: number): Promise<{ epoch: number; rows: AddressRow[] }>;
  /** how many taken addresses lie in the inclusive address intervals (canonical texts), and the first of them ("" = none) */
  countTaken(intervals: { first: string; last: string }[]): Promise<{ epoch: number; taken: number; example: string }>;
  free(): Promise<{ epoch: number; free: AllocateAnswer["free"] }>;
}

/** For metrics. */
export interface CountedOwner {
  /** totals since the object started: commits and the items carried out in them */
  counters(): { drains: number; weight: number };
}
