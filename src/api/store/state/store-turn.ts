/** Work of the server itself inside a store's turn: no client's rules apply, and no size limit. */
import { parseJson } from "../../../core/encoding/exact-json";
import type { KubeObject } from "../../meta/kubernetes";
import type { Revisions } from "./revisions";
import type { StoredObject, StoreStorage } from "./store-storage";

export interface StoreTurn {
  get(key: string): StoredObject | undefined;
  /** stores `object` as the next revision; creates or replaces by key */
  put(key: string, object: KubeObject): void;
  /** the same for a key that `get` has just found free */
  add(key: string, object: KubeObject): void;
  remove(key: string): void;
}

/** To be used inside the turn's transaction only. */
export function turnOver<Supply>(storage: StoreStorage, revisions: Revisions<Supply>): StoreTurn {
  return {
    get: (key) => storage.objectGet(key),
    put: (key, object) => void revisions.put(key, object, storage.objectGet(key), undefined),
    add: (key, object) => void revisions.put(key, object, undefined, undefined),
    remove: (key) => {
      const before = storage.objectGet(key);
      if (before) revisions.remove(before, parseJson(before.data) as KubeObject, undefined);
    },
  };
}
