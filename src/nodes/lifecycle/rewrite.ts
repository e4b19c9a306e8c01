/** Changes one stored object: reads it, and writes what becomes of it unless somebody else has written meanwhile. */
import type { Status } from "../../api/meta/status";
import { readObject } from "../../api/meta/read-object";
import type { KubeObject } from "../../api/meta/kubernetes";
import { objectKey } from "../../api/store/state/keys";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { isPassing } from "../../controllers/followed/refusals";
import { updateRequest, type Writer } from "../../controllers/followed/write-requests";

const WRITER: Writer = { manager: "node-lifecycle-controller", group: "" };

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
    const { status } = answer;
    if (status.code === 404) return { result: "none" };
    return isPassing(status) ? { result: "failed" } : { result: "refused", status };
  } catch {
    return { result: "failed" };
  }
}
