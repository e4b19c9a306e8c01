/** Calls about a cluster as a whole, its beginning, its end and its controllers: to its record, and to each of its objects. */
import type { ControllerList, ControllersSetting } from "../core/config/controllers";

/** The error text of every call to an object of a deleted cluster, whichever method it names. Errors cross RPC as their text. */
export const CLUSTER_GONE = "this cluster has been deleted";

/** The error text of a call to the record, followed by the cause, while the directory does not answer. The call may be repeated later. */
export const DIRECTORY_SILENT = "the directory of clusters does not answer";

/**
 * `id` names the objects of one life of the cluster (tenancy/cluster-id). Times in milliseconds since the epoch. `controllers`: the cluster's own list;
 * null = the variable counts.
 */
export type ClusterState =
  | { phase: "absent" }
  | { phase: "active"; id: string; createdAt: number; controllers: ControllerList | null }
  /** `wiped` of `objects` are done; more may become known on the way */
  | { phase: "deleting"; id: string; createdAt: number; deletedAt: number; objects: number; wiped: number };

/** The one object that knows which clusters were ever made. */
export interface ClusterNamesRpc {
  /** whether anybody ever made a cluster of each name; null = it cannot be told while the directory does not answer. Makes nothing */
  areMade(names: readonly string[]): Promise<(boolean | null)[]>;
  /** durable when it answers */
  add(name: string): Promise<void>;
}

export interface ClusterRecordRpc {
  /** makes nothing */
  look(): Promise<ClusterState>;
  /** makes the cluster if it is absent; one that is being deleted stays so. `opened` = by this call */
  open(): Promise<{ state: ClusterState; opened: boolean }>;
  /**
   * Gives an active cluster a list of its own, or with null the variable's again. Durable when it answers. `isTold`: every object of the cluster has
   * heard of it; otherwise the record goes on telling them. The same list again is told again, as a later version: an object or the record may have been brought back from a backup.
   */
  setControllers(list: ControllerList | null): Promise<{ state: ClusterState; isTold: boolean }>;
  /** begins the deletion of an active cluster; durable when it answers */
  remove(): Promise<ClusterState>;
  /**
   * Called by cron, which found the objects of `id` gone: continues the deletion, or removes the keys of a finished one. Or cron found that the directory
   * does not know of every controller of the release: the list of the cluster is told again.
   */
  carryOn(id: string): Promise<void>;
}

/** An object that has a controller or wakes controllers: every store and every controller. */
export interface SwitchedObject {
  /** takes the setting unless a newer one is known; durable when it answers */
  setControllers(setting: ControllersSetting): Promise<void>;
}

/** What every object of a cluster has for its end. */
export interface Wipeable {
  /**
   * Removes everything that the object holds, for ever. From then on the object refuses every call with CLUSTER_GONE; a wipe that succeeds
   * fails with it too. An object that knows owners of addresses outside `listed` changes nothing and answers their uids: no other object
   * knows them.
   */
  wipe(listed: string[]): Promise<string[]>;
}
