/** A store's side of ValuedStore. Reads only; objects that have not changed are not parsed. */
import type { Clock } from "../../../core/base/ports";
import type { StoreCursor } from "../../rpc/object-links";
import { lastWritten } from "../../fields/last-written";
import type { KubeObject } from "../../meta/kubernetes";
import type { ObjectValue, ObjectValues, ValuesQuestion } from "../../rpc/object-values";
import { namespaceRange, rangeBehind } from "../state/keys";
import type { StoreEngine } from "../engine/store-engine";

/** Rows read in one turn, some milliseconds of the store's thread. */
const TURN_ROWS = 1_000;

type ValuesStore = Pick<StoreEngine<unknown>, "storage" | "revision" | "isOfAnotherLife" | "incarnation">;

/** Answers of writers go out between the turns. A cursor of another incarnation, or of the future, is as good as none. */
export async function objectValuesSince(
  store: ValuesStore,
  clock: Pick<Clock, "now" | "nextTurn">,
  { namespace, path }: ValuesQuestion,
  since: StoreCursor | undefined,
): Promise<ObjectValues> {
  const { incarnation, revision } = store;
  const isKnown = since?.incarnation === incarnation && since.revision <= revision && !store.isOfAnotherLife(since.revision);
  const after = isKnown ? since.revision : -1;
  const values: ObjectValue[] = [];
  const range = namespaceRange(namespace);
  const fields = path.map((member) => `f:${member}`);
  for (let last = ""; ;) {
    let rows = 0;
    const { from, to } = rangeBehind(range, last);
    for (const row of store.storage.objectScan(from, to)) {
      rows++;
      last = row.key;
      if (row.revision > after) {
        const now = clock.now();
        const { value, writtenAt } = valueAt(row.data, path, fields, now);
        values.push([row.key, value, row.revision, writtenAt === undefined ? undefined : now - writtenAt]);
      }
      if (rows === TURN_ROWS) break;
    }
    if (rows < TURN_ROWS) return { values, cursor: { incarnation, revision } };
    await clock.nextTurn();
  }
}

/** "" = there is no such text, or the object is damaged. */
function valueAt(
  text: string,
  path: readonly string[],
  fields: readonly string[],
  nowMs: number,
): { value: string; writtenAt: number | undefined } {
  try {
    const object = JSON.parse(text) as KubeObject;
    let value: unknown = object;
    for (const member of path) value = (value as Record<string, unknown> | null | undefined)?.[member];
    return { value: typeof value === "string" ? value : "", writtenAt: lastWritten(object, fields, nowMs) };
  } catch {
    return { value: "", writtenAt: undefined };
  }
}
