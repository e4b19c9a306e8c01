/** A store as a controller calls it: every call has a timeout, and calls of one moment are one. */
import { gathered } from "../../core/base/gathered";
import { OPERATION_DEADLINE_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { writeAllOf } from "../../api/rpc/older-release";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { BatchedStore, ObjectKey, StoreRpc, WriteRequest, WriteResult } from "../../api/rpc/store";

/** A store that is written to as well; each call may fail. */
export type WrittenStore = ObjectFeed & Pick<StoreRpc, "write">;

/** The same as its object answers: many objects with one call. */
export type CalledStore = ObjectFeed & BatchedStore;

/** Characters of the objects that one call writes, some milliseconds of the store's thread. A larger object goes alone. */
const WRITTEN_CHARS_MAX = 512 * 1024;
/** Objects that one call asks for. */
const NAMED_MAX = 64;

/** What makes the stores of a cluster as a controller calls them. `peers.storeOf` makes a stub for one call. */
export function gatheredStores<Definition>({
  clock,
  peers,
}: {
  clock: Pick<Clock, "after">;
  peers: { storeOf(definition: Definition): CalledStore };
}): (definition: Definition) => WrittenStore {
  return (definition) => gatheredStore(clock, () => peers.storeOf(definition));
}

/**
 * A store of the cluster: each call gets a stub of its own and a timeout. A store gives up a write after its deadline. Writes of one moment share a call,
 * and so do questions: a call costs as much as the write of a small object.
 *
 * @param store makes a stub for one call
 */
function gatheredStore(clock: Pick<Clock, "after">, store: () => CalledStore): WrittenStore {
  const answered = <T>(call: Promise<T>): Promise<T> => withTimeout(clock, OPERATION_DEADLINE_MS, call);
  const named = gathered<ObjectKey, string | null>({
    call: (keys) => answered(store().objectsNamed(keys)),
    weightMax: NAMED_MAX,
    weigh: () => 1,
  });
  const write = gathered<WriteRequest, WriteResult>({
    call: (requests) => answered(writeAllOf(store, requests)),
    weightMax: WRITTEN_CHARS_MAX,
    weigh: (request) => ("object" in request ? request.object.length : 0),
  });
  return {
    write,
    objectsSince: (cursor, limit) => answered(store().objectsSince(cursor, limit)),
    objectsAfter: (after, limit) => answered(store().objectsAfter(after, limit)),
    objectsNamed: (keys) => Promise.all(keys.map(named)),
  };
}
