/** A store's side of ValuedStore. Reads only; objects that have not changed are not parsed. */
import type { Clock } from "../../../core/base/ports";
import type { StoreCursor } from "../../rpc/object-links";
import type { ObjectValues, ValuesQuestion } from "../../rpc/object-values";
import { namespaceRange, rangeBehind } from "../state/keys";
import type { StoreEngine } from "../engine/store-engine";

/** Rows read in one turn, some milliseconds of the store's thread. */
const TURN_ROWS = 1_000;

type ValuesStore = Pick<StoreEngine<unknown>, "storage" | "revision" | "isOfAnotherLife" | "incarnation">;

/** Answers of writers go out between the turns. A cursor of another incarnation, or of the future, is as good as none. */
export async function objectValuesSince(
  store: ValuesStore,
  clock: Pick<Clock, "nextTurn">,
  { namespace, path }: ValuesQuestion,
  since: StoreCursor | undefined,
): Promise<ObjectValues> {
  const { incarnation, revision } = store;
  const isKnown = since?.incarnation === incarnation && since.revision <= revision && !store.isOfAnotherLife(since.revision);
  const after = isKnown ? since.revision : -1;
  const values: [string, string, number][] = [];
  const range = namespaceRange(namespace);
  for (let last = ""; ;) {
    let rows = 0;
    const { from, to } = rangeBehind(range, last);
    for (const row of store.storage.objectScan(from, to)) {
      rows++;
      last = row.key;
      if (row.revision > after) values.push([row.key, valueAt(row.data, path), row.revision]);
      if (rows === TURN_ROWS) break;
    }
    if (rows < TURN_ROWS) return { values, cursor: { incarnation, revision } };
    await clock.nextTurn();
  }
}

/** "" = there is no such text, or the object is damaged. */
function valueAt(text: string, path: readonly string[]): string {
  try {
    let value: unknown = JSON.parse(text);
    for (const member of path) value = (value as Record<string, unknown> | null | undefined)?.[member];
    return typeof value === "string" ? value : "";
  } catch {
    return "";
  }
}
