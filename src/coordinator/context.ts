/** What the Coordinator's jobs share. */
import type { Clock, Recorder } from "../base/ports";
import type { CoordinatorStorage } from "./coordinator-storage";
import type { CoordinatorPeers, ServiceCIDRObjects } from "./ports";
import type { View } from "./view";

export interface JobContext {
  storage: CoordinatorStorage;
  objects: ServiceCIDRObjects;
  peers: CoordinatorPeers;
  clock: Clock;
  recorder: Recorder;
  /** addresses that a hand-off freezes at once */
  handoffRowsMax: number;
  /** the rows as they are now */
  view(): View;
  /** Runs `work` in a transaction that also brings epoch, configurations and readiness up to date. */
  mutate(work: () => void): void;
}
