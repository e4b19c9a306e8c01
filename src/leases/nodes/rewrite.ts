/** Changes one stored object: reads it, and writes what becomes of it unless somebody else has written meanwhile. */
import type { Status } from "../../api/meta/status";
import { readObject } from "../../api/meta/read-object";
import type { KubeObject } from "../../api/meta/kubernetes";
import { objectKey } from "../../api/store/keys";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { updateRequest, type Writer } from "../../controllers/followed/write-requests";

const WRITER: Writer = { manager: "node-lifecycle-controller", group: "" };

/** Somebody else wrote meanwhile; too many requests. */
const PASSING_CODES = new Set([409, 429]);

/** `failed`: nobody knows what became of it, or the store could not do it now. `refused`: the same write would be refused again. */
export type Rewritten<T> = { result: "written"; object: T } | { result: "refused"; status: Status } | { result: "none" | "failed" };

/**
 * Never rejects.
 *
 * @param key storage key
 * @param change undefined = nothing is to be written
 */
export async function rewrite<T extends KubeObject>(
  store: WrittenStore,
  key: string,
  subresource: "" | "status",
  change: (object: T) => T | undefined,
): Promise<Rewritten<T>> {
  try {
    const [text] = await store.objectsNamed([objectKey(key)]);
    const object = text ? readObject<T>(text) : undefined;
    const changed = object && change(object);
    if (!changed) return { result: "none" };
    const answer = await store.write(updateRequest(changed, WRITER, subresource));
    if (answer.ok) return { result: "written", object: changed };
    const { code = 500 } = answer.status;
    if (code === 404) return { result: "none" };
    return PASSING_CODES.has(code) || code >= 500 ? { result: "failed" } : { result: "refused", status: answer.status };
  } catch {
    return { result: "failed" };
  }
}
