/**
 * Publishes a state that others may read a little late: on demand, only if it changed since the last time, and at most once in
 * PUBLISH_INTERVAL_MS, restarts included. Nobody waits for a publication and nothing depends on it. The next demand tries a failed one again,
 * so a cluster that nobody lists costs nothing.
 */
import { PUBLISH_INTERVAL_MS, PUBLISH_TIMEOUT_MS } from "../state/limits";
import type { Clock, Recorder } from "../../../core/base/ports";
import { withTimeout } from "../../../core/base/timeout";

/** What was published last, and when. */
export interface LastPublication {
  version: string;
  /** milliseconds since the epoch */
  at: number;
}

export interface Published {
  /** equal = nothing to publish */
  version(): string;
  /** The state of that version, taken in the turn of the call; undefined = not to be published. */
  take(): Promise<Uint8Array | undefined>;
}

export interface PublisherPorts {
  clock: Clock;
  recorder: Recorder;
  /** kept by the object, so that its restarts do not publish more often */
  lastLoad(): LastPublication | undefined;
  lastSave(last: LastPublication): void;
  put(bytes: Uint8Array): Promise<void>;
}

/** Where the publications of one object go, and where it keeps when each was made. */
export interface Publications {
  /** `key` as in `put` */
  lastLoad(key: string): LastPublication | undefined;
  lastSave(key: string, last: LastPublication): void;
  /** under this key of KV; without `lifetimeSeconds` for ever */
  put(key: string, bytes: Uint8Array, lifetimeSeconds: number | undefined): Promise<void>;
}

export interface Publication {
  /** in KV */
  key: string;
  /** how long KV keeps it; absent = for ever */
  lifetimeSeconds?: number;
}

/** The publisher of one of an object's publications. */
export function publisherAt(
  { clock, recorder, publications }: Pick<PublisherPorts, "clock" | "recorder"> & { publications: Publications },
  { key, lifetimeSeconds }: Publication,
  what: Published,
): Publisher {
  return new Publisher(
    {
      clock,
      recorder,
      lastLoad: () => publications.lastLoad(key),
      lastSave: (last) => publications.lastSave(key, last),
      put: (bytes) => publications.put(key, bytes, lifetimeSeconds),
    },
    what,
  );
}

export class Publisher {
  #last: LastPublication | undefined;
  #busy = false;

  constructor(
    private readonly ports: PublisherPorts,
    private readonly what: Published,
  ) {
    this.#last = ports.lastLoad();
  }

  /** A reader wanted it: publishes soon if it is time. Never throws. */
  demand(): void {
    if (this.#busy || !this.#isTime()) return;
    this.#busy = true;
    const failed = (error: unknown): void => {
      this.ports.recorder.log("warn", "a copy was not published", { error: String(error) });
    };
    void this.#publish()
      .catch(failed)
      .finally(() => {
        this.#busy = false;
      });
  }

  #isTime(): boolean {
    if (!this.#last) return true;
    const passed = this.ports.clock.now() - this.#last.at;
    // A clock that was set back must not make the wait longer than the interval.
    return (passed < 0 || passed >= PUBLISH_INTERVAL_MS) && this.#last.version !== this.what.version();
  }

  async #publish(): Promise<void> {
    const { clock, put } = this.ports;
    // Whoever asked gets an answer first.
    await clock.nextTurn();
    const at = clock.now();
    this.#save({ version: this.what.version(), at });
    try {
      const bytes = await this.what.take();
      if (bytes) await withTimeout(clock, PUBLISH_TIMEOUT_MS, put(bytes));
    } catch (error) {
      this.#save({ version: "", at });
      throw error;
    }
  }

  #save(last: LastPublication): void {
    this.#last = last;
    this.ports.lastSave(last);
  }
}
