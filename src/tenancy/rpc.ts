/** Calls about a cluster as a whole, its beginning, its end and its controllers: to its record, and to each of its objects. */
import type { QuotaAmounts } from "../api/rpc/namespace-quotas";
import type { ControllerList, ControllersSetting } from "../core/config/controllers";
import type { Settings } from "../core/config/settings";
import type { Location } from "../core/config/location";

/** The error text of every call to an object of a deleted cluster, whichever method it names. Errors cross RPC as their text. */
export const CLUSTER_GONE = "this cluster has been deleted";

/** The error text of a call to the record, followed by the cause, while the directory does not answer. The call may be repeated later. */
export const DIRECTORY_SILENT = "the directory of clusters does not answer";

/**
 * `id` names the objects of one life of the cluster, and says where they are (tenancy/cluster-id). Times in milliseconds since the epoch. `controllers`: the cluster's own list;
 * null = the variable counts. `isTold`: false = some object of the cluster has not heard of it yet; absent = all have, or the record is of the release before.
 * `serviceRanges`: its own, with which it began; absent = those of the variable. `quotas`: with which new namespaces start; absent = with none.
 */
export type ClusterState =
  | { phase: "absent" }
  | {
      phase: "active";
      id: string;
      createdAt: number;
      controllers: ControllerList | null;
      serviceRanges?: readonly string[];
      quotas?: QuotaAmounts;
      isTold?: false;
    }
  /** `wiped` of `objects` are done; more may become known on the way */
  | { phase: "deleting"; id: string; createdAt: number; deletedAt: number; objects: number; wiped: number };

/** What a record tells the list of all clusters of itself. `deletedAt`: 0 = it is active. */
export interface ClusterFacts {
  readonly id: string;
  readonly createdAt: number;
  readonly deletedAt: number;
}

/**
 * A cluster of the list of all clusters.
 *
 * `stamp`: of the entry. Each beginning of a cluster brings a new one, so that a late call about an earlier entry changes nothing. "" = the entry is older
 * than stamps.
 * `facts`: absent = the record has not told them, or the cluster may be none.
 */
export interface ListedCluster {
  readonly name: string;
  readonly stamp: string;
  readonly facts?: ClusterFacts;
}

/** The one object that knows which clusters there are. */
export interface ClusterNamesRpc {
  /**
   * Whether a cluster of each name is being made, is there, or has not ended; null = it cannot be told while the directory does not answer. Makes nothing.
   *
   * @param tellsLives a name whose record has told the id of its life is answered by that id. It is not newer than what the record knows: the cluster of
   *   this id may be gone, and its objects say so
   */
  areMade(names: readonly string[], tellsLives?: boolean): Promise<(boolean | string | null)[]>;
  /**
   * What the list has of each of these names. false = there is no such cluster; null = it cannot be told while the directory does not answer. Makes nothing.
   */
  entries(names: readonly string[]): Promise<(ListedCluster | false | null)[]>;
  /** Enters the name before its cluster begins. `stamp`: see ListedCluster; absent = the record is of the release before. Durable when it answers. */
  add(name: string, stamp?: string): Promise<void>;
  /**
   * Told by the record: the cluster of this id has begun; null = it ends. Durable when it answers: false = the entry has another stamp, and stays. The
   * release before answers nothing.
   *
   * @param told the whole entry, which counts unless another one stands there or the list knows something later; absent = the record is of the release
   *   before
   */
  noteLife(name: string, id: string | null, told?: Omit<ListedCluster, "name">): Promise<boolean | undefined>;
  /** Takes the name out of the list, unless its entry has another stamp. Durable when it answers. */
  drop(name: string, stamp: string): Promise<void>;
  /**
   * A page of the list, in the order of the names. null = it cannot be told while the directory does not answer.
   *
   * @param after the last name of the page before; "" = the first page
   */
  page(after: string, limit: number): Promise<{ clusters: ListedCluster[]; isLast: boolean } | null>;
}

/**
 * What a list of controllers of the cluster's own says: those that cron is to call, and not to call. A controller that is in neither came with a later
 * release. The list itself may be longer than what stands here.
 */
export interface ControllerFacts {
  off: readonly string[];
  on: readonly string[];
}

/** `maintain`: each minute. `leases`: when a period of APISERVER_LEASE_COLLECT_SECONDS ends. `compact`: each hour. */
export type ShardJob = "maintain" | "leases" | "compact";

export interface ShardEntry {
  id: string;
  /** the jobs that have work there from now on: the minute's, or those of the hour; none: the cluster is only in the list */
  rhythms: readonly ("minute" | "hour")[];
  /** null = the variable counts there; absent = the caller does not know. Without rhythms it counts where the shard does not know the cluster */
  facts?: ControllerFacts | null;
}

/** What was done since the last report. `isLeft`: the shard's alarm goes on. */
export interface ShardReport {
  visits: number;
  errors: number;
  isLeft: boolean;
}

/** Whether jobs of each rhythm visit a cluster, and how long one may wait for its turn in the rounds of each job, in milliseconds. */
export interface ShardWhereabouts {
  minute: boolean;
  hour: boolean;
  waitMs: Readonly<Record<ShardJob, number>>;
}

/** A shard of the directory of clusters (cluster-shard.ts). */
export interface ClusterShardRpc {
  /** Enters clusters, or notes that they had writes. Durable when it answers. */
  enter(entries: readonly ShardEntry[]): Promise<void>;
  /** The cluster of this id has ended. Durable when it answers. */
  leave(id: string): Promise<void>;
  /**
   * A tick of cron, in milliseconds since the epoch. The same tick once more does nothing. Answers when this turn's work is done, or its time is over.
   *
   * @param settings of the Worker whose cron it is. Where they are not those of the shard's own Worker, the clusters are told, and the tick counts for
   *   itself
   */
  poke(job: ShardJob, tickMs: number, settings?: Settings): Promise<ShardReport>;
  whereabouts(id: string): Promise<ShardWhereabouts>;
}

/** `isTold`: every object that has to know the setting has heard of it. `isLate`: the call has changed nothing, and the state is what others have said. */
export interface ToldSetting {
  state: ClusterState;
  isTold: boolean;
  isLate?: true;
}

export interface ClusterRecordRpc {
  /** makes nothing */
  look(): Promise<ClusterState>;
  /**
   * The same for a reader of the list of all clusters, which has the name under this stamp and does not know what is there. The record tells the list; where
   * there is no cluster, and none begins, it has the name taken out. The list may hear of it later than the reader.
   */
  listed(stamp: string): Promise<ClusterState>;
  /**
   * Makes the cluster if it is absent, with objects wherever their first callers are; one that is being deleted stays so. `opened` = by this call.
   *
   * @param source what of the cluster's object asks for it. For an object that has ended no cluster begins: the call is late
   */
  open(source?: ClusterSource): Promise<{ state: ClusterState; opened: boolean }>;
  /**
   * The same with objects in this location; a cluster that is there stays where it is. A method of its own: an object of the release before, which
   * knows no locations, would make the cluster without one, for ever.
   */
  openIn(location: Location, source?: ClusterSource): Promise<{ state: ClusterState; opened: boolean }>;
  /**
   * The same for a cluster that begins with ranges of its own, or whose namespaces start with quotas; one that is there stays as it is. Rejects while its objects
   * do not know them. A method of its own, as the one above.
   *
   * @param serviceRanges undefined = those of the variable
   * @param quotas absent = none, or the caller says them later
   */
  openWith(
    serviceRanges: readonly string[] | undefined,
    location: Location | undefined,
    source?: ClusterSource,
    quotas?: QuotaAmounts,
  ): Promise<{ state: ClusterState; opened: boolean }>;
  /**
   * Gives an active cluster a list of its own, or with null the variable's again. Durable when it answers. `isTold`: every object of the cluster has
   * heard of it; otherwise the record goes on telling them. The same list again is told again, as a later version: an object or the record may have been brought back from a backup.
   *
   * @param source what of the cluster's object says so. Nothing changes where the record has heard a later generation of that object, or a later object, where
   *   that object has ended, or where another life is meant. That is answered by `isLate`; absent = it was not late, or the record is of the release before
   */
  setControllers(list: ControllerList | null, source?: ClusterSource): Promise<ToldSetting>;
  /**
   * Says with which quota new namespaces of an active cluster start; null = with none. Durable when it answers. `isTold`: it counts; otherwise the record goes on
   * telling.
   *
   * @param source as for `setControllers`
   */
  setQuotas(hard: QuotaAmounts | null, source?: ClusterSource): Promise<ToldSetting>;
  /**
   * Begins the deletion of an active cluster; durable when it answers.
   *
   * @param id the life that is meant: another one stays, so a late or repeated call ends no later cluster of the name. Absent = whichever there is, as the
   *   release before calls it, and as its records understand every call; "" = the object has ended before a cluster began for it
   * @param source the object whose end it is: what comes late from it changes nothing any more
   */
  remove(id?: string, source?: ClusterSource): Promise<ClusterState>;
  /**
   * Called by cron, which found the objects of `id` gone: continues the deletion, or removes the keys of a finished one. Or cron found that the directory
   * does not know of every controller of the release. Or the store of Namespaces was brought back in time. Then the list of the cluster, and its quotas, are
   * told again.
   */
  carryOn(id: string): Promise<void>;
}

/** An object that makes something of the ranges with which its cluster begins: the store of Services, and the Coordinator. */
export interface RangedObject {
  /** Comes before any other call. Durable when it answers: false = the cluster has begun with others, which stay. */
  beginWith(serviceRanges: readonly string[]): Promise<boolean>;
}

/**
 * What says something of a cluster: a generation of its object of the kind Cluster. A call of it may come late, when that object has ended.
 *
 * `uid`, `generation`: absent = the cluster has no object.
 * `createdAt`: of the object, in milliseconds since the epoch, exact to a second: of two objects of a name the older one has ended. Absent = the caller is of the
 *   release before.
 * `life`: id of the life that is meant; absent = the caller knows none.
 */
export interface ClusterSource {
  readonly uid?: string;
  readonly generation?: number;
  readonly createdAt?: number;
  readonly life?: string;
}

/** An object that has a controller or wakes controllers: every store and every controller. */
export interface SwitchedObject {
  /** takes the setting unless a newer one is known; durable when it answers */
  setControllers(setting: ControllersSetting): Promise<void>;
}

/** The time that an object is brought back to: itself, or the platform's name for one, as a recovery before has answered it. */
export type RecoveryTarget = { atMs: number } | { bookmark: string };

/** `undo`: the bookmark that leads back. `isHere`: whether this runtime has point-in-time recovery at all. */
export type RecoveryAnswer = { ok: true; undo: string } | { ok: false; isHere: boolean; why: string };

/** What an operator has the platform do with a store, an owner of addresses or a controller. */
export interface Recoverable {
  recover(target: RecoveryTarget): Promise<RecoveryAnswer>;
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
