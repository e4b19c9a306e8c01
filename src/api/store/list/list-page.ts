/** The pages of a list: what a CollectionRequest asks for, out of the rows of a store or of a published copy. */
import { ok, type Result } from "../../../core/base/result";
import { encodeContinue } from "../../meta/continue-token";
import type { KubeObject } from "../../meta/kubernetes";
import type { ListMeta } from "../../meta/list";
import type { Status } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest } from "../../rpc/store";
import { filterOf } from "../hub/collection-filter";
import type { Filter } from "../hub/filter";
import { rangeBehind } from "../state/keys";
import type { ListCopy } from "./list-copy";
import { remainingBehind } from "./list-remainder";
import { startOf } from "./list-start";
import { rowsAt, rowsNow, type SnapshotRow } from "../state/snapshot";
import type { StoreEngine } from "../engine/store-engine";
import type { JsonList, ProtobufList, View } from "../hub/view";
import { viewOf } from "../hub/view-of";

type ListedStore = Pick<
  StoreEngine<unknown>,
  "storage" | "clock" | "revision" | "listFloor" | "isOfAnotherLife" | "incarnation" | "countIn"
>;

/** A list body in pieces. The rows are of one revision. */
export type ListBody = (JsonList | ProtobufList) & {
  /** the rows' storage keys */
  keys: string[];
};

/** One page of a list. */
export function listPage(store: ListedStore, request: CollectionRequest, definition: ResourceDefinition): Result<ListBody, Status> {
  const filter = filterOf(request, definition);
  if (!filter.ok) return filter;
  const start = startOf(store, request);
  if (!start.ok) return start;
  const { revision, madeAt, after } = start.value;
  const view = viewOf(definition, request, () => store.clock.now());
  const rest = rangeBehind(filter.value.range, after);
  const rows = revision === store.revision ? rowsNow(store.storage, rest) : rowsAt(store.storage, rest, revision);
  const limit = request.resourceVersion === "0" && !request.continueToken ? 0 : request.limit;
  const page = takePage(rows, filter.value, limit);
  const meta: ListMeta = { resourceVersion: String(revision) };
  if (page.more) {
    const { namespace } = request;
    // With a selector the number is unknown, as upstream's.
    const remaining = filter.value.matches ? undefined : remainingBehind(store, { namespace, start: start.value, taken: page.rows.length });
    const left = remaining === undefined ? {} : { remaining };
    meta.continue = encodeContinue({ revision, start: page.keys.at(-1) ?? "", incarnation: store.incarnation, madeAt, ...left });
    if (remaining !== undefined) meta.remainingItemCount = remaining;
  }
  return ok(bodyOf(view, meta, page));
}

/** A list of any version out of a published copy: whole, because `limit` does not count at resourceVersion 0. `now` as for viewOf. */
export function listOfCopy(
  copy: ListCopy,
  request: CollectionRequest,
  definition: ResourceDefinition,
  now: () => number,
): Result<ListBody, Status> {
  const filter = filterOf(request, definition);
  if (!filter.ok) return filter;
  const view = viewOf(definition, request, now);
  const page = takePage(copy.rowsIn(filter.value.range), filter.value, 0);
  return ok(bodyOf(view, { resourceVersion: String(copy.revision) }, page));
}

function bodyOf(view: View, meta: ListMeta, page: ListPage): ListBody {
  return { ...view.list(meta, page.rows), keys: page.keys };
}

interface ListPage {
  rows: string[];
  keys: string[];
  more: boolean;
}

/** At most `limit` (0 = all) matching rows. */
function takePage(rows: Iterable<SnapshotRow>, filter: Filter, limit: number): ListPage {
  const page: ListPage = { rows: [], keys: [], more: false };
  for (const row of rows) {
    if (filter.matches && !filter.matches(JSON.parse(row.data) as KubeObject)) continue;
    if (limit > 0 && page.rows.length === limit) {
      page.more = true;
      break;
    }
    page.rows.push(row.data);
    page.keys.push(row.key);
  }
  return page;
}
