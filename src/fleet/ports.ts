/**
 * What the controller of Clusters asks of the clusters behind them. Each call may fail, and may be repeated.
 *
 * `location`: near which the record of a name is made by its first call; undefined = near the caller.
 * `source`: the object that says so (ClusterSource). Where that has ended, or has said something later, nothing changes: the call was late.
 */
import type { QuotaAmounts } from "../api/rpc/namespace-quotas";
import type { ControllerList } from "../core/config/controllers";
import type { Location } from "../core/config/location";
import type { ClusterWish } from "./declared-clusters";
import type { ClusterSource, ClusterState, ListedCluster } from "../tenancy/rpc";

export interface FleetPorts {
  /** makes nothing */
  look(name: string, location: Location | undefined): Promise<ClusterState>;
  /**
   * Makes the cluster unless it is there; one that is being deleted stays so.
   *
   * @param begins with which ranges and quotas it begins; absent = with those of the variable, and none
   */
  open(
    name: string,
    location: Location | undefined,
    begins: Pick<ClusterWish, "serviceRanges" | "quotas">,
    source: ClusterSource,
  ): Promise<ClusterState>;
  /** `isTold` false: that goes on by itself */
  setControllers(
    name: string,
    location: Location | undefined,
    list: ControllerList | null,
    source: ClusterSource,
  ): Promise<{ state: ClusterState; isTold: boolean }>;
  /** the same for the quota with which new namespaces start; null = none */
  setQuotas(
    name: string,
    location: Location | undefined,
    hard: QuotaAmounts | null,
    source: ClusterSource,
  ): Promise<{ state: ClusterState; isTold: boolean }>;
  /** makes what a cluster begins with */
  bootstrap(id: string): Promise<void>;
  /** those of the ServiceCIDR with which a cluster has begun; undefined = that is not there any more */
  firstRanges(id: string): Promise<readonly string[] | undefined>;
  /** begins the deletion of the cluster if its life has this id; another one stays. "" = none has begun for the object, and none does from now on */
  remove(name: string, location: Location | undefined, id: string, source: ClusterSource): Promise<ClusterState>;
  /** The life of this id has ended: what it had of pools of the root is given back now. Where the call fails, the root finds it by itself. */
  ended(id: string): Promise<void>;
  /** a page of the list of all clusters; null = it does not answer */
  page(after: string, limit: number): Promise<{ clusters: ListedCluster[]; isLast: boolean } | null>;
  /** those of the variable, with which a cluster begins that has none of its own */
  readonly defaultRanges: readonly string[];
  /** as `look`, of a cluster that is in the list under this stamp and has not told what it is */
  listed(name: string, stamp: string): Promise<ClusterState>;
}
