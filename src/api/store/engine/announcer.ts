/** What a store tells its watchers: the changes of each turn, in order, once they are durable (rule 21). */
import type { Clock, Recorder } from "../../../core/base/ports";
import { AwaitedRevisions } from "./awaited-revisions";
import type { HistoryEntry, StoreStorage } from "../state/store-storage";
import { WatchHub } from "../hub/watch-hub";

export interface AnnouncerPorts {
  /** name of the store's resource, for the log */
  resource: string;
  storage: Pick<StoreStorage, "sync">;
  clock: Clock;
  recorder: Recorder;
}

interface WaitingWork {
  work(): void;
  resolve(): void;
  reject(error: unknown): void;
}

export class Announcer {
  readonly hub: WatchHub;
  readonly awaited: AwaitedRevisions;
  /** in the order in which they were asked for; none of them waits for a sync that has begun */
  #waiting: WaitingWork[] = [];
  #syncing = false;

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

  /**
   * Runs `work` once everything committed so far is durable and announced; later announcements come after it. Works share a sync: on a disk that takes
   * milliseconds a thousand bookmarks would otherwise hold up the next change for seconds.
   */
  after(work: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (!this.#syncing) void this.#run();
    });
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#syncing = true;
    // Whatever else this turn asks for shares the first sync.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      try {
        await this.ports.storage.sync();
      } catch (error) {
        for (const { reject } of waiting) reject(error);
        continue;
      }
      for (const one of waiting) settle(one);
    }
    this.#syncing = false;
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
    this.ports.recorder.log("error", "a store did not publish its changes", { resource: this.ports.resource, error: String(error) });
  }
}

function settle({ work, resolve, reject }: WaitingWork): void {
  try {
    work();
    resolve();
  } catch (error) {
    reject(error);
  }
}
