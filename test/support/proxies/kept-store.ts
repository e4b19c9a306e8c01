/** A store as a view of proxies reads it: objects, and their history down to a floor. It may begin anew, forget, or not answer. */
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { keyOf } from "../../../src/api/meta/object-key";
import type { FedChange, FedChanges, FedPage, ObjectFeed } from "../../../src/api/rpc/object-feed";
import type { StoreCursor } from "../../../src/api/rpc/object-links";
import type { TouchedObjects, TouchedStore } from "../../../src/api/rpc/touched-objects";

interface Entry {
  readonly revision: number;
  readonly before: string | undefined;
  readonly key: string;
  readonly after: string | undefined;
}

export class KeptStore implements ObjectFeed, TouchedStore {
  readonly objects = new Map<string, string>();
  revision = 1;
  floor = 1;
  /** calls of each kind */
  readonly calls = { since: 0, after: 0, touched: 0 };
  /** entries or objects in one answer, if that is less than asked for */
  page = 500;
  isAway = false;
  /** before the answer of each call, which is lost if this throws */
  called: () => void = () => undefined;
  #history: Entry[] = [];
  #life = 1;

  get incarnation(): string {
    return `life-${this.#life}`;
  }

  get cursor(): StoreCursor {
    return { incarnation: this.incarnation, revision: this.revision };
  }

  put(object: KubeObject): void {
    this.#change(keyOf(object), JSON.stringify(object));
  }

  delete(key: string): void {
    if (this.objects.has(key)) this.#change(key, undefined);
  }

  /** The history does not reach back any more. */
  forget(): void {
    this.floor = this.revision;
    this.#history = [];
  }

  /** The same revisions, of other objects. */
  beginAnew(revision = 1): void {
    this.#life++;
    this.revision = revision;
    this.forget();
  }

  async objectsSince(cursor: StoreCursor | undefined, limit: number): Promise<FedChanges> {
    await this.#answers("since");
    const read = this.#entriesSince(cursor, limit);
    if (!read) return { kind: "expired" };
    const { told, end, more } = read;
    const changes = told.map(({ key, before, after, revision }): FedChange => {
      const deleted = after === undefined;
      return { deleted, object: after ?? before ?? "", key, revision };
    });
    return { kind: "changes", changes, cursor: end, more };
  }

  async touchedSince(cursor: StoreCursor, label?: string): Promise<TouchedObjects> {
    await this.#answers("touched");
    const read = this.#entriesSince(cursor, this.page);
    if (!read) return { kind: "expired" };
    const { told, end, more } = read;
    const keys = told.flatMap(({ key, before, after }) =>
      label === undefined ? key : [before, after].flatMap((text) => ownersIn(text, label)),
    );
    return { kind: "touched", keys: [...new Set(keys)], cursor: end, more };
  }

  async objectsAfter(after: string, limit: number): Promise<FedPage> {
    await this.#answers("after");
    const behind = [...this.objects.keys()].sort().filter((key) => key > after);
    const keys = behind.slice(0, Math.min(limit, this.page));
    const next = keys.length < behind.length ? (keys.at(-1) ?? "") : "";
    return { objects: keys.map((key) => this.objects.get(key) ?? ""), keys, cursor: this.cursor, next };
  }

  objectsNamed(): Promise<(string | null)[]> {
    return Promise.reject(new Error("a view names no objects"));
  }

  async #answers(kind: "since" | "after" | "touched"): Promise<void> {
    this.calls[kind]++;
    // Others have their turn.
    await Promise.resolve();
    this.called();
    if (this.isAway) throw new Error("away");
  }

  /** undefined = the history does not reach back */
  #entriesSince(cursor: StoreCursor | undefined, limit: number): { told: Entry[]; end: StoreCursor; more: boolean } | undefined {
    if (cursor?.incarnation !== this.incarnation || cursor.revision < this.floor || cursor.revision > this.revision) return undefined;
    const entries = this.#history.filter(({ revision }) => revision > cursor.revision);
    const told = entries.slice(0, Math.min(limit, this.page));
    const more = told.length < entries.length;
    const revision = more ? (told.at(-1)?.revision ?? cursor.revision) : this.revision;
    return { told, end: { incarnation: this.incarnation, revision }, more };
  }

  #change(key: string, after: string | undefined): void {
    this.#history.push({ revision: ++this.revision, key, before: this.objects.get(key), after });
    if (after === undefined) this.objects.delete(key);
    else this.objects.set(key, after);
  }
}

/** The key of whom the label names. */
function ownersIn(text: string | undefined, label: string): string[] {
  const { namespace = "", labels } = (text === undefined ? {} : (JSON.parse(text) as KubeObject)).metadata ?? {};
  const name = labels?.[label];
  return name === undefined ? [] : [`${namespace}/${name}`];
}
