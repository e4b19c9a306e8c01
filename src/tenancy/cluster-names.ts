/**
 * The names of all clusters that anybody ever made, in the one object that every isolate asks before it asks a cluster's record. A name that nobody made
 * costs no object of its own.
 *
 * What must hold
 * - A name is in the list before its cluster begins, and for ever: a record counts the lives of its name.
 * - The id of a life is what its record has told. It may be told late, so it may be that of a life that has ended, whose objects refuse every call.
 * - Clusters that are older than this list come in by the directory, and so does what a list that was brought back from a backup has lost. KV may
 *   show a key late or not answer, so the directory is read again from time to time. Until it has answered once, a name that is not in the list is in
 *   doubt.
 */
import type { Clock, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { clusterName } from "./cluster-id";
import type { ClusterNamesRpc } from "./rpc";

/** Between two readings of the directory, of which only a name that is not in the list asks for one. */
const READ_INTERVAL_MS = 3_600_000;
/** The same after a reading that failed. */
const RETRY_INTERVAL_MS = 30_000;
const READ_TIMEOUT_MS = 5_000;

/** Every method is one synchronous step, durable with the answer of the turn. */
export interface NameStorage {
  has(name: string): boolean;
  /** one that is there stays */
  add(name: string): void;
  /** the id that was noted last; undefined = none */
  lifeOf(name: string): string | undefined;
  noteLife(name: string, id: string | null): void;
}

export interface ClusterNamesPorts {
  storage: NameStorage;
  clock: Pick<Clock, "now" | "after">;
  recorder: Recorder;
  /** ids of all clusters in the directory */
  readDirectory(): Promise<string[]>;
}

export class ClusterNames implements ClusterNamesRpc {
  /** when the directory is to be read again, in ms since the epoch */
  #readAt = 0;
  #reading: Promise<void> | undefined;
  /** the directory has answered since this object started */
  #hasRead = false;

  constructor(private readonly ports: ClusterNamesPorts) {}

  async areMade(names: readonly string[], tellsLives = false): Promise<(boolean | string | null)[]> {
    const { storage } = this.ports;
    if (!names.every((name) => storage.has(name))) await this.#readDirectory();
    const known = (name: string): string | true => (tellsLives && storage.lifeOf(name)) || true;
    return names.map((name) => (storage.has(name) ? known(name) : this.#hasRead ? false : null));
  }

  add(name: string): Promise<void> {
    this.ports.storage.add(name);
    return Promise.resolve();
  }

  noteLife(name: string, id: string | null): Promise<void> {
    this.ports.storage.noteLife(name, id);
    return Promise.resolve();
  }

  /** Whoever comes during a reading waits for it. Never rejects. */
  #readDirectory(): Promise<void> {
    if (this.#reading) return this.#reading;
    if (this.ports.clock.now() < this.#readAt) return Promise.resolve();
    this.#reading = this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { clock, recorder, storage, readDirectory } = this.ports;
    try {
      const ids = await withTimeout(clock, READ_TIMEOUT_MS, readDirectory());
      for (const id of ids) storage.add(clusterName(id));
      this.#hasRead = true;
      this.#readAt = clock.now() + READ_INTERVAL_MS;
    } catch (error) {
      recorder.log("warn", "the directory of clusters could not be read", { error: String(error) });
      this.#readAt = clock.now() + RETRY_INTERVAL_MS;
    }
  }
}
