/** What the ipaddresses store answers to peers, besides StoreRpc: writes with the row's token and gen (rule 4). */
import type { Gen, Holder } from "./service-cidr";

export interface IPAddressWrite {
  /** canonical text, also the object's name */
  address: string;
  family: "IPv4" | "IPv6";
  token: string;
  gen: Gen;
  /** parentRef: group "", resource "services", this namespace and name */
  namespace: string;
  name: string;
}

/** Names one row's IPAddress: a later holder of the address has another token and a higher gen. */
export interface IPAddressDelete {
  address: string;
  token: string;
  gen: Gen;
}

/** A user-made IPAddress inside a prefix, as the Coordinator needs it for seeding. */
export interface SeedRow {
  address: string;
  holder: Holder;
  token: string;
}

export interface SeedPageRequest {
  /** canonical prefixes, all of them claimed */
  within: string[];
  /** "" for the first page, then the `next` of the one before */
  after: string;
}

export interface SeedPage {
  rows: SeedRow[];
  /** "" = this was the last page */
  next: string;
}

export interface IPAddressesRpc {
  /** a higher gen replaces (DELETED + ADDED), an equal or lower one is a no-op; durable when it returns */
  createMany(writes: IPAddressWrite[]): Promise<void>;
  /** deletes only on the equal token, and refuses a createMany of the same gen that comes later; durable when it returns */
  deleteMany(items: IPAddressDelete[]): Promise<void>;
  /**
   * For each address (canonical text), or for "" any one of the family: whether its owner may not know yet that this store has given it back.
   * Tries what is pending soon.
   */
  pendingReleases(asked: { family: "IPv4" | "IPv6"; address: string }[]): Promise<boolean[]>;
  /**
   * From now on creates inside `prefixes` take the owner's row first (rule 15); acknowledged and persisted when it returns.
   * Answers one page of the objects that already lie in `page.within` and that the allocator did not make.
   */
  claimPrefixes(epoch: number, prefixes: string[], page: SeedPageRequest): Promise<SeedPage>;
}
