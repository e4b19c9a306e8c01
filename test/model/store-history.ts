/** A store's past as whole copies of every revision, against which tests compare lists and watches. */
import type { KubeObject } from "../../src/api/meta/kubernetes";

/** Stored text by key. */
export type Snapshot = ReadonlyMap<string, string>;

export interface ModelEvent {
  type: "ADDED" | "MODIFIED" | "DELETED";
  key: string;
  revision: number;
}

export class StoreHistory {
  readonly #snapshots = new Map<number, Snapshot>();
  /** What each text holds: most rows of a snapshot are those of the one before. */
  readonly #objects = new Map<string, KubeObject>();

  /** Remembers the content of the store at `revision`, its newest one. */
  remember(revision: number, rows: Iterable<{ key: string; data: string }>): void {
    this.#snapshots.set(revision, new Map([...rows].map(({ key, data }) => [key, data])));
  }

  get revisions(): number[] {
    return [...this.#snapshots.keys()];
  }

  /** The rows of a list at `revision`, in key order. */
  list(revision: number, sees: (key: string, object: KubeObject) => boolean): { key: string; data: string }[] {
    const rows = [...(this.#snapshots.get(revision) ?? [])].map(([key, data]) => ({ key, data }));
    return rows.filter(({ key, data }) => sees(key, this.#objectOf(data))).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The events of a watch from `since` up to `until`, computed from neighbouring snapshots. */
  events(since: number, until: number, sees: (key: string, object: KubeObject) => boolean): ModelEvent[] {
    const events: ModelEvent[] = [];
    for (let revision = since + 1; revision <= until; revision++) {
      const before = new Map(this.list(revision - 1, sees).map(({ key, data }) => [key, data]));
      const after = new Map(this.list(revision, sees).map(({ key, data }) => [key, data]));
      for (const key of new Set([...before.keys(), ...after.keys()])) {
        const [was, is] = [before.get(key), after.get(key)];
        if (was === is) continue;
        events.push({ type: was === undefined ? "ADDED" : is === undefined ? "DELETED" : "MODIFIED", key, revision });
      }
    }
    return events;
  }

  #objectOf(data: string): KubeObject {
    const known = this.#objects.get(data) ?? (JSON.parse(data) as KubeObject);
    this.#objects.set(data, known);
    return known;
  }
}
