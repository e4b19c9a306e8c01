/** What the Coordinator's jobs share. */
import type { Clock, Recorder } from "../../core/base/ports";
import type { CoordinatorPeers, PoolsBeside, ServiceCIDRObjects } from "./coordinator-ports";
import type { CoordinatorSettings } from "./state/coordinator-settings";
import type { CoordinatorStorage } from "./state/coordinator-storage";
import type { FreeHints } from "./free-hints";
import type { RangeReports } from "./range-reports";
import type { SeedListing } from "./seed-listing";
import type { TopologyView } from "./state/topology-view";

export interface JobContext {
  settings: CoordinatorSettings;
  storage: CoordinatorStorage;
  objects: ServiceCIDRObjects;
  peers: CoordinatorPeers;
  /** absent = the cluster has no pools */
  pools?: Pick<PoolsBeside, "met">;
  clock: Clock;
  recorder: Recorder;
  reports: Pick<RangeReports, "ofDefault" | "ofRange">;
  hints: Pick<FreeHints, "forget">;
  listing: Pick<SeedListing, "inside">;
  /** addresses that hand-offs of one owner freeze at once */
  handoffRowsMax: number;
  /** the rows as they are now */
  view(): TopologyView;
  /** Runs `work` in a transaction that also brings epoch, configurations and readiness up to date. */
  mutate(work: () => void): void;
  /**
   * The same in a later turn, in one transaction with the works of other jobs: for small changes that come in numbers. `work` checks again
   * whether its reason still holds. Rejects when the transaction is lost.
   */
  mutateTogether(work: () => void): Promise<void>;
}
