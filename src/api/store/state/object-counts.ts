/**
 * How many objects a store has, in all and in each namespace. A list says how many objects its page leaves (`remainingItemCount`). To count a million
 * rows takes seconds of the store's thread, so the counts are kept with the writes.
 *
 * The counts hold every object whose key is not behind `through`. In a new store these are all objects. A store that an earlier release wrote without
 * counts is counted once, some keys at a time. Writes before `through` meanwhile change the counts, those behind it do not.
 *
 * Rows are written when the state of the store is saved, in its transaction. What was created and deleted since then is in the history: a start adds it
 * again. So a crash leaves counts and objects of one moment.
 */
import { objectKey } from "./keys";
import type { CountedObjects, HistoryEntry, StoreStorage } from "./store-storage";

type CountsStorage = Pick<StoreStorage, "objectKeysAfter" | "namespaceCount" | "namespaceCountAdd" | "namespaceCountsClear">;

export class ObjectCounts {
  #objects: number;
  #through: string | undefined;
  /** by namespace, what the rows do not hold yet */
  readonly #added = new Map<string, number>();

  /** @param saved what `save` answered last */
  constructor(
    private readonly storage: CountsStorage,
    saved: CountedObjects,
  ) {
    this.#objects = saved.objects;
    this.#through = saved.through;
  }

  /** Whether all objects are counted. */
  get isWhole(): boolean {
    return this.#through === undefined;
  }

  /** How many objects a namespace has ("" = all have); undefined = not all are counted. */
  in(namespace: string): number | undefined {
    if (!this.isWhole) return undefined;
    return namespace === "" ? this.#objects : this.storage.namespaceCount(namespace) + (this.#added.get(namespace) ?? 0);
  }

  /** Changes that were committed. */
  add(changes: Iterable<Pick<HistoryEntry, "type" | "key">>): void {
    for (const { type, key } of changes) {
      if (type === "MODIFIED" || (this.#through !== undefined && key > this.#through)) continue;
      this.#count(key, type === "ADDED" ? 1 : -1);
    }
  }

  /** Counts the next objects, at most `limit`, in the transaction that saves. */
  countMore(limit: number): void {
    if (this.#through === undefined) return;
    // What stands there was kept up to a revision before the newest.
    if (this.#through === "") this.storage.namespaceCountsClear();
    const keys = this.storage.objectKeysAfter(this.#through, limit);
    for (const key of keys) this.#count(key, 1);
    this.#through = keys.length < limit ? undefined : keys.at(-1);
  }

  /** Writes what the rows do not hold yet. The answer is to be saved in the same transaction. */
  save(): CountedObjects {
    for (const [namespace, objects] of this.#added) if (objects !== 0) this.storage.namespaceCountAdd(namespace, objects);
    this.#added.clear();
    return { objects: this.#objects, through: this.#through };
  }

  #count(key: string, objects: number): void {
    this.#objects += objects;
    const { namespace } = objectKey(key);
    // The count of a cluster-scoped kind is the sum alone.
    if (namespace !== "") this.#added.set(namespace, (this.#added.get(namespace) ?? 0) + objects);
  }
}
