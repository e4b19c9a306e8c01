/** Calls about the beginning and the end of a cluster: to its record, and to each of its objects. */

/** The error text of every call to an object of a deleted cluster, whichever method it names. Errors cross RPC as their text. */
export const CLUSTER_GONE = "this cluster has been deleted";

/** The error text of a call to the record, followed by the cause, while the directory does not answer. The call may be repeated later. */
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
  /** called by cron, which found the objects of `id` gone: continues the deletion, or removes the keys of a finished one */
  carryOn(id: string): Promise<void>;
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
