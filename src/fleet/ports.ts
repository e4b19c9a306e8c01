/**
 * What the controller of Clusters asks of the clusters behind them. Each call may fail, and may be repeated.
 *
 * `location`: near which the record of a name is made by its first call; undefined = near the caller.
 */
import type { QuotaAmounts } from "../api/rpc/namespace-quotas";
import type { ControllerList } from "../core/config/controllers";
import type { Location } from "../core/config/location";
import type { ClusterState, ListedCluster, ListSource } from "../tenancy/rpc";

export interface FleetPorts {
  /** makes nothing */
  look(name: string, location: Location | undefined): Promise<ClusterState>;
  /**
   * Makes the cluster unless it is there; one that is being deleted stays so.
   *
   * @param serviceRanges with which it begins; undefined = with those of the variable
   */
  open(name: string, location: Location | undefined, serviceRanges: readonly string[] | undefined): Promise<ClusterState>;
  /** `isTold` false: that goes on by itself */
  setControllers(
    name: string,
    location: Location | undefined,
    list: ControllerList | null,
    source: ListSource | undefined,
  ): Promise<{ state: ClusterState; isTold: boolean }>;
  /** the same for the quota with which new namespaces start; null = none */
  setQuotas(name: string, location: Location | undefined, hard: QuotaAmounts | null): Promise<{ state: ClusterState; isTold: boolean }>;
  /** makes what a cluster begins with */
  bootstrap(id: string): Promise<void>;
  /** begins the deletion of the cluster if its life has this id; another one stays */
  remove(name: string, location: Location | undefined, id: string): Promise<ClusterState>;
  /** a page of the list of all clusters; null = it does not answer */
  page(after: string, limit: number): Promise<{ clusters: ListedCluster[]; isLast: boolean } | null>;
  /** those of the variable, with which a cluster begins that has none of its own */
  readonly defaultRanges: readonly string[];
  /** as `look`, of a cluster that is in the list under this stamp and has not told what it is */
  listed(name: string, stamp: string): Promise<ClusterState>;
}
