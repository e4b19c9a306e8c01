/** What a store tells its watchers: the changes of each turn, in order, once they are durable (rule 21). */
import type { Clock, Recorder } from "../../core/base/ports";
import { AwaitedRevisions } from "./awaited-revisions";
import type { HistoryEntry, StoreStorage } from "./store-storage";
import { WatchHub } from "./watch-hub";

export interface AnnouncerPorts {
  /** name of the store's resource, for the log */
  resource: string;
  storage: Pick<StoreStorage, "sync">;
  clock: Clock;
  recorder: Recorder;
}

export class Announcer {
  readonly hub: WatchHub;
  readonly awaited: AwaitedRevisions;
  #last: Promise<void> = Promise.resolve();

  /** `revision`: the newest one, which is durable already. */
  constructor(
    private readonly ports: AnnouncerPorts,
    revision: number,
  ) {
    this.awaited = new AwaitedRevisions(ports.clock);
    this.hub = new WatchHub(
      ports.clock,
      revision,
      (work) => this.after(work),
      (error) => this.#failed(error),
    );
  }

  /** Runs `work` once everything committed so far is durable and announced; later announcements come after it. */
  after(work: () => void): Promise<void> {
    const next = this.#last.then(() => this.ports.storage.sync()).then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }

  announce(changes: readonly HistoryEntry[]): void {
    const publish = (): void => {
      this.hub.publish(changes);
      this.awaited.reached(this.hub.published);
    };
    void this.after(publish).catch((error: unknown) => {
      // The write was lost and the object is about to be reset; watchers resume from their last revision.
      this.#failed(error);
      this.hub.endAll();
    });
  }

  #failed(error: unknown): void {
    this.ports.recorder.log("error", "changes were not published", { resource: this.ports.resource, error: String(error) });
  }
}
