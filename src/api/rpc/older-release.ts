/**
 * Calls to objects that still run an older release. During a deployment an object of the new release may call a method that the older one does not
 * have.
 */
import type { StoreCursor } from "./object-links";
import type { TouchedObjects, TouchedStore } from "./touched-objects";
import type { BatchedStore, WriteRequest, WriteResult } from "./store";

/** Whether the called object has no such method: the platform's text (workerd worker-rpc.c++). Nothing was carried out. */
export function isMethodMissing(error: unknown, method: string): boolean {
  return error instanceof Error && error.message.includes(`does not implement the method "${method}"`);
}

/**
 * The store's `writeAll`; a store without it is asked for each write alone.
 *
 * @param store makes a stub for one call
 * @throws what the call rejects with
 */
export async function writeAllOf(store: () => BatchedStore, requests: WriteRequest[]): Promise<WriteResult[]> {
  try {
    return await store().writeAll(requests);
  } catch (error) {
    if (!isMethodMissing(error, "writeAll")) throw error;
    return Promise.all(requests.map((request) => store().write(request)));
  }
}

/** The store's `touchedSince`; for one without it the history does not reach back. Rejects as the call does. */
export async function touchedSinceOf(store: TouchedStore, cursor: StoreCursor, label?: string): Promise<TouchedObjects> {
  try {
    return await store.touchedSince(cursor, label);
  } catch (error) {
    if (!isMethodMissing(error, "touchedSince")) throw error;
    return { kind: "expired" };
  }
}
