/** A store as a controller calls it: every call has a timeout, and calls of one moment are one. */
import { gathered } from "../../core/turns/gathered";
import { OPERATION_DEADLINE_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { qualifiedResource } from "../../api/meta/status";
import type { StoredResource } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import { writeAllOf } from "../../api/rpc/older-release";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { BatchedStore, ObjectKey, StoreRpc, WriteRequest, WriteResult } from "../../api/rpc/store";
import type { NamedFeed, OwnChange } from "./followed-store";
import { type EnteredNames, UsedStores } from "./used-stores";

/** A store that is written to as well; each call may fail. */
export type WrittenStore = NamedFeed & Pick<StoreRpc, "write">;

/** The same as its object answers: many objects with one call. */
export type CalledStore = ObjectFeed & BatchedStore;

/** Characters of the objects that one call writes, some milliseconds of the store's thread. A larger object goes alone. */
const WRITTEN_CHARS_MAX = 512 * 1024;
/** Objects that one call asks for. */
const NAMED_MAX = 64;

/** The stores of a cluster as a controller reaches them. */
export interface CalledPeers<Definition extends StoredResource = ResourceDefinition> {
  /** makes a stub for one call */
  storeOf(definition: Definition): CalledStore;
  /** absent = every store may be used */
  entered?: EnteredNames;
}

/** What makes the stores of a cluster as a controller calls them. */
export function gatheredStores<Definition extends StoredResource>({
  clock,
  peers,
}: {
  clock: Pick<Clock, "after">;
  peers: CalledPeers<Definition>;
}): (definition: Definition) => WrittenStore {
  const used = new UsedStores(clock, peers.entered);
  return (definition) => {
    const resource = qualifiedResource(definition);
    // Objects are asked for by name where a mistake would do harm: such a question goes to the store in any case.
    return { resource, isUnused: () => used.isUnused(resource), ...gatheredStore(clock, () => peers.storeOf(definition)) };
  };
}

/** Hands on what an own write has changed. The function `heard` answers what it was given. */
export function ownWrites(): { heard(answer: WriteResult): WriteResult; onWritten: NonNullable<NamedFeed["onWritten"]> } {
  const told: ((change: OwnChange) => void)[] = [];
  return {
    onWritten: (listener) => void told.push(listener),
    heard(answer) {
      if (answer.ok && answer.at) for (const tell of told) tell({ at: answer.at, object: answer.object, isDeletion: answer.gone });
      return answer;
    },
  };
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
  const { heard, onWritten } = ownWrites();
  return {
    onWritten,
    write: async (request) => heard(await write(request)),
    objectsSince: (cursor, limit) => answered(store().objectsSince(cursor, limit)),
    objectsAfter: (after, limit) => answered(store().objectsAfter(after, limit)),
    objectsNamed: (keys) => Promise.all(keys.map(named)),
  };
}
