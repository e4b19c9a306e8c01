/** What the Coordinator answers besides the StoreRpc of its `servicecidrs` store. */
import type { FreeCount } from "./service-cidr";

/** One prefix with the ServiceCIDR object (by uid) that alone writes it. */
export interface Claim {
  prefix: string;
  ownerUid: string;
}

/** A router's view: what it needs to pick an owner. Old views lead to `stale`, never to a double allocation. */
export interface Topology {
  epoch: number;
  /** disjoint */
  claims: Claim[];
  /** prefixes that give out addresses now (Ready, seeded, not deleting), with the name of their ServiceCIDR */
  ranges: { prefix: string; name: string }[];
  /** the ranges have no static bands: the gate ServiceIPStaticSubrange is off */
  withoutBands?: true;
  /**
   * The epoch of each owner's newest configuration, which it may not have yet: until then what it refuses says nothing about this topology
   * (PROTOCOL rule 17).
   */
  owners: { uid: string; epoch: number }[];
  /** last known free counts per owner uid; hints for the weighted draw, the owner's answer counts */
  free: { ownerUid: string; IPv4: FreeCount; IPv6: FreeCount }[];
}

/** What `GET /ranges` is made of, all of one moment. */
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
  /** never waits for a saga; bootstraps the default ServiceCIDR on first use */
  topology(): Promise<Topology>;
  /**
   * The topology with what the owners answered when they were asked for it after this call began, and only that: an owner that did not answer
   * in time or not under its newest configuration, or that has a frozen segment, is not among the counts.
   */
  countedTopology(): Promise<Topology>;
  /** waits (at most `waitMs`) until the default ServiceCIDR gives out addresses; answers the topology either way */
  readyTopology(waitMs: number): Promise<Topology>;
  /** resumes sagas and unacknowledged configurations; called by cron */
  maintain(): Promise<void>;
}

export interface RangesRpc {
  ranges(): Promise<RangesReading>;
}
