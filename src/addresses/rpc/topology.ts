/** What the Coordinator answers besides the StoreRpc of its `servicecidrs` store. */
import type { StoreCursor } from "../../api/rpc/object-links";
import type { ServiceRangesRpc } from "../../api/rpc/pool-book";
import type { FreeCount } from "./service-cidr";

/** One prefix and the ServiceCIDR object (by uid) that alone writes it. */
export interface Claim {
  prefix: string;
  ownerUid: string;
}

/** For which namespaces a range is kept (topology/tenants.ts). */
export interface RangeTenancy {
  /** label selector over Namespaces */
  selector: string;
  /** whether its Services take from elsewhere once the range is full; absent = they fail */
  whenFull?: "Any";
  /** node ports that are kept for the same Services */
  nodePorts?: { first: number; last: number };
}

/** What a router needs to pick an owner. An old topology leads to `stale`, never to a double allocation. */
export interface Topology {
  epoch: number;
  /** disjoint */
  claims: Claim[];
  /** prefixes that give out addresses now (Ready, seeded, not deleting), with the name of their ServiceCIDR, and whom they are kept for */
  ranges: ({ prefix: string; name: string } & Partial<RangeTenancy>)[];
  /** some range is kept for the Services of some namespaces */
  zoned?: true;
  /** the ranges have no static bands: the gate ServiceIPStaticSubrange is off */
  withoutBands?: true;
  /**
   * The epoch of each owner's newest configuration. The owner may not have it yet; until then its refusals do not count for this topology (rule
   * 17).
   */
  owners: { uid: string; epoch: number }[];
  /** last known free counts per owner uid: hints for the weighted draw; only the owner's answer is a fact */
  free: { ownerUid: string; IPv4: FreeCount; IPv6: FreeCount }[];
}

/** What `GET /ranges` is made of; all of it is of one moment. */
export interface RangesReading {
  /** revision of the `servicecidrs` store */
  revision: number;
  epoch: number;
  /** one per ServiceCIDR object */
  sources: { cidrs: string[]; ready: boolean }[];
  /** the prefixes that have an owner, whether or not an object names them */
  claims: string[];
}

export interface CoordinatorRpc {
  /** never waits for a job; the first call creates the default ServiceCIDR */
  topology(): Promise<Topology>;
  /**
   * The topology with free counts that the owners answered after this call began. The counts lack owners that did not answer in time or under
   * their newest configuration, and owners with a frozen segment.
   */
  countedTopology(): Promise<Topology>;
  /** waits until the default ServiceCIDR gives out addresses, at most `waitMs`; answers the topology either way */
  readyTopology(waitMs: number): Promise<Topology>;
  /** starts every job that is to be done, whatever its delay; called by cron */
  maintain(): Promise<void>;
}

/** What the Coordinator's object answers besides its store. */
export interface CoordinatorObject extends CoordinatorRpc, RangesRpc, RepairedRanges, ServiceRangesRpc {}

export interface RangesRpc {
  ranges(): Promise<RangesReading>;
}

/** What repair asks of the Coordinator in each pass, by one call. */
export interface RangesNews {
  /** whether no ServiceCIDR has changed since the cursor */
  isSame: boolean;
  /** uids of the owners of addresses, each once */
  owners: string[];
}

export interface RepairedRanges {
  rangesSince(cursor: StoreCursor): Promise<RangesNews>;
}
