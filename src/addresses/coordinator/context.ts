/** What the Coordinator's jobs share. */
import type { Clock, Recorder } from "../../core/base/ports";
import type { EventRecorder } from "../../api/events/event-recorder";
import type { CoordinatorStorage } from "./coordinator-storage";
import type { CoordinatorPeers, ServiceCIDRObjects } from "./coordinator-ports";
import type { SeedListing } from "./seed-listing";
import type { View } from "./view";

export interface JobContext {
  storage: CoordinatorStorage;
  objects: ServiceCIDRObjects;
  peers: CoordinatorPeers;
  clock: Clock;
  recorder: Recorder;
  events: Pick<EventRecorder, "report">;
  listing: Pick<SeedListing, "inside">;
  /** addresses that hand-offs of one owner freeze at once */
  handoffRowsMax: number;
  /** An owner refused what its last confirmation allows: it is told again (PROTOCOL rule 11). A refusal that was overtaken costs a repeat. */
  doubt(ownerUid: string): void;
  /** the rows as they are now */
  view(): View;
  /** Runs `work` in a transaction that also brings epoch, configurations and readiness up to date. */
  mutate(work: () => void): void;
  /**
   * The same for what comes in numbers and by itself: in a later turn, in one transaction with the works of others. `work` looks again whether
   * what it is about is still so. Rejects when the transaction is lost.
   */
  mutateTogether(work: () => void): Promise<void>;
}
