/**
 * What the store of the addresses of pools of a cluster asks that of the root, and the other way round. Claims of the cluster get addresses of global pools of
 * the root so (src/pools/fleet-address-book.ts). A row is the IPAddress object at the root that holds one. Its name is the token of the attempt that took it.
 */
import type { RowHolder } from "../meta/own-annotation";

export interface FleetRequest extends Omit<RowHolder, "cluster"> {
  /** name of the row that is to hold the address; no name comes twice */
  readonly row: string;
  /** name of the pool */
  readonly pool: string;
  /** when the asker tries, in milliseconds since the epoch: of those that get nothing, the cluster that tried first hears of room first */
  readonly since: number;
  /** addresses that the cluster cannot have: others of it have them */
  readonly not?: readonly string[];
  /** The claim has this one, and its row was lost: it alone is wanted, whatever the pool gives out now. */
  readonly held?: string;
}

/**
 * `noPool`: there is none of this name that serves the cluster. `paused`: it gives nothing now. `taken`: the held address is somebody else's. `comparing`: the
 * root came back from a time before, and has not heard of every cluster yet.
 */
export type FleetAnswer =
  | { readonly kind: "given"; readonly address: string; readonly prefix: number; readonly gateway?: string }
  | { readonly kind: "noPool" | "full" | "paused" | "taken" | "comparing" };

export interface FleetRow {
  readonly row: string;
  readonly claim: string;
  readonly uid: string;
  readonly address: string;
}

/** `session` grows with each life of the asking store. What an earlier one has sent, and comes late, takes nothing. */
export type FleetQuestion =
  | { readonly does: "take"; readonly cluster: string; readonly session: number; readonly requests: readonly FleetRequest[] }
  /** Rows that are not there, or are another cluster's, are no error. `unused`: those of the rows whose address nobody had, which needs no grace. */
  | { readonly does: "release"; readonly cluster: string; readonly rows: readonly string[]; readonly unused?: readonly string[] }
  /** The rows of the cluster behind this one. */
  | { readonly does: "rows"; readonly cluster: string; readonly session: number; readonly after: string }
  /** Which row holds this address for the claim. Nothing is kept of the question. */
  | { readonly does: "confirm"; readonly cluster: string; readonly pool: string; readonly claim: string; readonly address: string }
  /** The cluster is said to have ended: where its own store says so, all its rows go. */
  | { readonly does: "ended"; readonly cluster: string }
  /** Asked by the root: the store compares its addresses with their rows. `hasRows`: the root has some of the cluster */
  | { readonly does: "audit"; readonly hasRows: boolean };

export type FleetReply =
  | { readonly kind: "taken"; readonly answers: readonly FleetAnswer[] }
  /** A later life of the asker has spoken, in this session. */
  | { readonly kind: "outdated"; readonly session: number }
  | { readonly kind: "released" }
  /** `next`: where the next page begins; absent = this was the last one */
  | { readonly kind: "rows"; readonly rows: readonly FleetRow[]; readonly next?: string }
  /** `row`: null = none. `isServed`: a pool of this name serves the cluster */
  | { readonly kind: "confirmed"; readonly row: string | null; readonly isServed: boolean }
  | { readonly kind: "audited" };

/** The store of the addresses of pools. */
export interface FleetPoolsRpc {
  askFleet(question: FleetQuestion): Promise<FleetReply>;
}

/** As pokes of the controller of pools name it: pools of the root may have room for claims that wait. */
export const ROOM_AT_ROOT = "pools-at-root";
