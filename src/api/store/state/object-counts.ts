/**
 * How many objects a store has, in all and in each namespace. A list says how many objects its page leaves (`remainingItemCount`). To count a million
 * rows takes seconds of the store's thread, so the counts are kept with the writes.
 *
 * The counts hold every object whose key is not behind `through`. In a new store these are all objects. A store that an earlier release wrote without
 * counts is counted once, some keys at a time. Writes before `through` meanwhile change the counts, those behind it do not. Every function is called
 * in the transaction that also saves its result, so a crash leaves counts and objects of one moment.
 */
import { objectKey } from "./keys";
import type { CountedObjects, HistoryEntry, StoreStorage } from "./store-storage";

type CountsStorage = Pick<StoreStorage, "objectKeysAfter" | "namespaceCountAdd" | "namespaceCountsClear">;

/** The counts after the changes of a turn. */
export function countChanges(storage: CountsStorage, counted: CountedObjects, changes: readonly HistoryEntry[]): CountedObjects {
  const { through } = counted;
  const added = changes.flatMap(({ type, key }) => {
    if (type === "MODIFIED" || (through !== undefined && key > through)) return [];
    return [{ key, objects: type === "ADDED" ? 1 : -1 }];
  });
  return { objects: counted.objects + addEach(storage, added), through };
}

/** The counts with the next objects counted, at most `limit`. */
export function countNext(storage: CountsStorage, { objects, through }: CountedObjects, limit: number): CountedObjects {
  if (through === undefined) return { objects, through };
  // What stands there was kept up to a revision before the newest.
  if (through === "") storage.namespaceCountsClear();
  const keys = storage.objectKeysAfter(through, limit);
  const added = addEach(
    storage,
    keys.map((key) => ({ key, objects: 1 })),
  );
  return { objects: objects + added, through: keys.length < limit ? undefined : keys.at(-1) };
}

/** Adds to the counts of the namespaces; answers the sum. */
function addEach(storage: CountsStorage, added: readonly { key: string; objects: number }[]): number {
  const byNamespace = new Map<string, number>();
  let sum = 0;
  for (const { key, objects } of added) {
    const { namespace } = objectKey(key);
    byNamespace.set(namespace, (byNamespace.get(namespace) ?? 0) + objects);
    sum += objects;
  }
  // The count of a cluster-scoped kind is the sum alone.
  for (const [namespace, objects] of byNamespace) if (namespace !== "" && objects !== 0) storage.namespaceCountAdd(namespace, objects);
  return sum;
}
