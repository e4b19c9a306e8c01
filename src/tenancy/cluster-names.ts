/**
 * The list of all clusters, in the one object that every isolate asks before it asks a cluster's record. A name that nobody made costs no object of its own.
 *
 * What must hold
 * - A name is in the list before its cluster begins, and until its cluster has ended: a record counts the lives of its name. Each beginning has a stamp of its
 *   own. So a late call for the end of a life takes no later one out of the list.
 * - What the list says of a cluster its record has told. It may be told late. So the id may be that of a life that has ended, whose objects refuse every call.
 *   Of an entry without facts the record knows what is true (`ClusterRecordRpc.listed`).
 * - Of one life the end counts, whichever word comes last.
 * - Clusters that are older than this list come in by the directory, and so does what a list that was brought back from a backup has lost. KV may
 *   show a key late or not answer, so the directory is read again from time to time. Until it has answered once, a name that is not in the list is in
 *   doubt.
 */
import type { Clock, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { clusterName } from "./cluster-id";
import type { ClusterFacts, ClusterNamesRpc, ListedCluster } from "./rpc";

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
  /** with all that was noted of the name */
  remove(name: string): void;
  /** those behind the name `after`, in their order */
  names(after: string, limit: number): string[];
  /** what was saved last; undefined = nothing, as of a name that is older than entries */
  entryOf(name: string): NameEntry | undefined;
  /** forgets what `noteLife` has noted */
  saveEntry(name: string, entry: NameEntry): void;
  /** the id that a record of the release before has noted last; undefined = none */
  lifeOf(name: string): string | undefined;
  noteLife(name: string, id: string | null): void;
  /** whether the directory has been read once since the list began */
  isImported(): boolean;
  noteImported(): void;
}

/** Of a name. `facts`: absent = they are in doubt. */
export interface NameEntry {
  readonly stamp: string;
  readonly facts?: ClusterFacts;
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
    const known = (name: string): string | true => (tellsLives && this.#lifeOf(name)) || true;
    return names.map((name) => (storage.has(name) ? known(name) : this.#hasRead ? false : null));
  }

  async entries(names: readonly string[]): Promise<(ListedCluster | false | null)[]> {
    const { storage } = this.ports;
    const made = await this.areMade(names);
    return names.map((name, i) => {
      if (made[i] === false || made[i] === null) return made[i];
      return { name, ...(storage.entryOf(name) ?? { stamp: "" }) };
    });
  }

  add(name: string, stamp = ""): Promise<void> {
    const { storage } = this.ports;
    storage.add(name);
    // What was known was of the life before.
    if (stamp !== "" && storage.entryOf(name)?.stamp !== stamp) storage.saveEntry(name, { stamp });
    return Promise.resolve();
  }

  noteLife(name: string, id: string | null, told?: NameEntry): Promise<boolean> {
    const { storage } = this.ports;
    const known = storage.entryOf(name);
    if (told) {
      const isOther = !storage.has(name) || (known?.stamp ?? "") !== told.stamp;
      if (!isOther && !isOvertaken(told.facts, known?.facts)) storage.saveEntry(name, { stamp: told.stamp, ...optional(told.facts) });
      return Promise.resolve(!isOther);
    }
    if (known?.facts) storage.saveEntry(name, { stamp: known.stamp });
    storage.noteLife(name, id);
    return Promise.resolve(true);
  }

  drop(name: string, stamp: string): Promise<void> {
    const { storage } = this.ports;
    if (storage.has(name) && (storage.entryOf(name)?.stamp ?? "") === stamp) storage.remove(name);
    return Promise.resolve();
  }

  async page(after: string, limit: number): Promise<{ clusters: ListedCluster[]; isLast: boolean } | null> {
    const { storage } = this.ports;
    if (!storage.isImported()) await this.#readDirectory();
    if (!storage.isImported()) return null;
    const names = storage.names(after, limit + 1);
    const clusters = names.slice(0, limit).map((name): ListedCluster => ({ name, ...(storage.entryOf(name) ?? { stamp: "" }) }));
    return { clusters, isLast: names.length <= limit };
  }

  #lifeOf(name: string): string | undefined {
    const { storage } = this.ports;
    const facts = storage.entryOf(name)?.facts;
    if (!facts) return storage.lifeOf(name);
    return facts.deletedAt === 0 ? facts.id : undefined;
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
      if (!storage.isImported()) storage.noteImported();
      this.#hasRead = true;
      this.#readAt = clock.now() + READ_INTERVAL_MS;
    } catch (error) {
      recorder.log("warn", "the directory of clusters could not be read", { error: String(error) });
      this.#readAt = clock.now() + RETRY_INTERVAL_MS;
    }
  }
}

function optional(facts: ClusterFacts | undefined): Pick<NameEntry, "facts"> {
  return facts ? { facts } : {};
}

/** Whether the list knows already that the life of which this is told has ended. */
function isOvertaken(told: ClusterFacts | undefined, known: ClusterFacts | undefined): boolean {
  return told !== undefined && known?.id === told.id && known.deletedAt > 0 && told.deletedAt === 0;
}
