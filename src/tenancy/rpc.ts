/** What the record of a cluster, and every object of it, answers about the cluster's beginning and end. */

/** How every call to an object of a deleted cluster fails, whichever method it names: errors cross RPC as their text. */
export const CLUSTER_GONE = "this cluster has been deleted";

/** How a call to the record fails, with the cause behind it, while it cannot learn whether there is a cluster: it may be repeated later. */
export const DIRECTORY_SILENT = "the directory of clusters does not answer";

/** `id` names the objects of one life of the cluster (tenancy/cluster-id). Times in milliseconds since the epoch. */
export type ClusterState =
  | { phase: "absent" }
  | { phase: "active"; id: string; createdAt: number }
  /** `wiped` of `objects` are done; more may become known on the way */
  | { phase: "deleting"; id: string; createdAt: number; deletedAt: number; objects: number; wiped: number };

export interface ClusterRecordRpc {
  /** makes nothing */
  look(): Promise<ClusterState>;
  /** makes the cluster if it is absent; one that is being deleted stays so. `opened` = by this call */
  open(): Promise<{ state: ClusterState; opened: boolean }>;
  /** begins the deletion of an active cluster; durable when it answers */
  remove(): Promise<ClusterState>;
  /** `id` was found to be gone by cron: goes on with its deletion, or, when that is over, takes its name from the directory */
  carryOn(id: string): Promise<void>;
}

/** What every object of a cluster has for its end. */
export interface Wipeable {
  /**
   * Removes everything that the object holds, for ever: what is left refuses every call with CLUSTER_GONE, this one included, so that is how it
   * fails when it is done. Answers, and changes nothing, when the object knows of owners of addresses that are not among `listed`: their
   * uids, which nobody else knows.
   */
  wipe(listed: string[]): Promise<string[]>;
}
