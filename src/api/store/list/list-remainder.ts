/** How many objects a page of a list leaves: its `remainingItemCount`. */
import type { CollectionRequest } from "../../rpc/store";
import { namespaceRange } from "../state/keys";
import type { ListStart } from "./list-start";
import { Snapshot } from "../state/snapshot";
import type { StoreEngine } from "../engine/store-engine";

type RemainderStore = Pick<StoreEngine<unknown>, "storage" | "history" | "floor" | "revision" | "countIn">;

/** Whether the kept counts are needed: for the first page of a list without selectors. Later pages have the number in their token. */
export function tellsRemainder({ verb, limit, continueToken, labelSelector, fieldSelector }: CollectionRequest): boolean {
  return verb === "list" && limit > 0 && continueToken === "" && labelSelector === "" && fieldSelector === "";
}

/**
 * How many objects of the namespace come behind a page of `taken` objects that is not the last one; undefined = unknown. Exact for pages of one
 * revision. A list that goes on at the newest revision after a 410 has an estimate, which upstream allows: that of its token.
 */
export function remainingBehind(
  store: RemainderStore,
  { namespace, start, taken }: { namespace: string; start: ListStart; taken: number },
): number | undefined {
  const before = start.after === "" ? countAt(store, namespace, start.revision) : start.remaining;
  return before === undefined ? undefined : Math.max(before - taken, 1);
}

/** How many objects the namespace had at `revision`. */
function countAt(store: RemainderStore, namespace: string, revision: number): number | undefined {
  const count = store.countIn(namespace);
  if (count === undefined || revision === store.revision) return count;
  const snapshot = new Snapshot(store, namespaceRange(namespace), revision);
  snapshot.catchUpAtOnce();
  return count - snapshot.grown();
}
