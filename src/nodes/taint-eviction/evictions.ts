/** The Pods that are to be evicted, each with its time (upstream's TimedWorkerQueue). They are rows, so that neither a crash nor sleep forgets one. */
import type { KeptRows } from "../../controllers/followed/kept-rows";

const KIND = "evictions";

export interface TimedEviction {
  readonly uid: string;
  /** when it was decided, in milliseconds since the epoch */
  readonly since: number;
  /** when it is due */
  readonly at: number;
  /** its Event was reported */
  readonly isTold?: true;
}

export class Evictions {
  readonly #evictions = new Map<string, TimedEviction>();

  constructor(private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">) {}

  load(): void {
    for (const [key, eviction] of this.rows.saved<TimedEviction>(KIND)) this.#evictions.set(key, eviction);
  }

  get all(): ReadonlyMap<string, TimedEviction> {
    return this.#evictions;
  }

  get(key: string): TimedEviction | undefined {
    return this.#evictions.get(key);
  }

  set(key: string, eviction: TimedEviction): void {
    this.rows.put(KIND, key, eviction, !this.#evictions.has(key));
    this.#evictions.set(key, eviction);
  }

  drop(key: string): void {
    if (this.#evictions.delete(key)) this.rows.delete(KIND, key);
  }

  dropAll(): void {
    for (const key of [...this.#evictions.keys()]) this.drop(key);
  }
}
