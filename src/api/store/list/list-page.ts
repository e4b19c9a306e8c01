/** The pages of a list: what a CollectionRequest asks for, out of the rows of a store or of a published copy. */
import { ok, type Result } from "../../../core/base/result";
import { encodeContinue } from "../../meta/continue-token";
import type { ListMeta } from "../../meta/list";
import type { Status } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest } from "../../rpc/store";
import type { EncodedItems } from "../../schema/protobuf/encode-protobuf";
import { filterOf } from "../hub/collection-filter";
import type { Filter } from "../hub/filter";
import { type KeyRange, rangeBehind } from "../state/keys";
import type { KeptItems } from "./kept-items";
import type { ListCopy } from "./list-copy";
import { remainingBehind } from "./list-remainder";
import { startOf } from "./list-start";
import { addRow, fixedPages, isSeen, noRows, type RowPage, rowPages } from "./row-pages";
import { rowsAt, rowsNow, type SnapshotRow } from "../state/snapshot";
import type { StoreEngine } from "../engine/store-engine";
import type { StreamedList } from "./streamed-lists";
import type { JsonListForm, ProtobufListForm, View } from "../hub/view";
import { viewOf } from "../hub/view-of";

type ListedStore = Pick<
  StoreEngine<unknown>,
  "storage" | "history" | "clock" | "revision" | "floor" | "listFloor" | "isOfAnotherLife" | "incarnation" | "countIn"
>;

/** Sizes in characters of stored rows. */
export interface ListBounds {
  /** a longer list is sent in pieces; a shorter one is held whole, and is a single body, which travels between objects faster than a stream */
  readonly whole: number;
  /** rows read and encoded at once */
  readonly piece: number;
}

export const LIST_BOUNDS: ListBounds = { whole: 1024 * 1024, piece: 256 * 1024 };

/** Rows and those of them, by their index, whose bytes are there. */
export interface ListRows extends RowPage {
  readonly encoded?: EncodedItems | undefined;
}

/** A list. The rows are of one revision. */
export interface ListBody {
  readonly form: JsonListForm | ProtobufListForm;
  /** all rows, or as many as are held while the client takes none */
  readonly begun: ListRows;
  /** of a list that is sent in pieces */
  readonly rest?: ListRest;
}

/** The rows that are read when the client takes them. */
export interface ListRest {
  /** characters of all rows of the list, about */
  readonly chars: number;
  /** the key behind which the list begins; "" = no key is before it */
  readonly after: string;
  /** The rows of the list behind a key. Throws HistoryLost. */
  behind(key: string): AsyncGenerator<ListRows, void>;
  /** whether the history still reaches back to the list */
  isThere(): boolean;
  /** the list's place among others; absent = there is none */
  place?: StreamedList;
}

/** One page of a list. `kept`: bytes of objects that earlier lists of the store have made. */
export function listPage(
  store: ListedStore,
  request: CollectionRequest,
  definition: ResourceDefinition,
  kept?: KeptItems,
  bounds = LIST_BOUNDS,
): Result<ListBody, Status> {
  const filter = filterOf(request, definition);
  if (!filter.ok) return filter;
  const start = startOf(store, request);
  if (!start.ok) return start;
  const { revision, madeAt, after } = start.value;
  const { matches } = filter.value;
  // All ages of a Table are those of one time.
  const now = store.clock.now();
  const view = viewOf(definition, request, () => now);
  const range = rangeBehind(filter.value.range, after);
  const limit = request.resourceVersion === "0" && !request.continueToken ? 0 : request.limit;
  const rows = revision === store.revision ? rowsNow(store.storage, range) : rowsAt(store, range, revision);
  const beginning = beginningOf(rows, filter.value, limit, bounds.whole);
  const meta: ListMeta = { resourceVersion: String(revision) };
  if (beginning.hasMore) {
    const { namespace } = request;
    // With a selector the number is unknown, as upstream's.
    const remaining = matches ? undefined : remainingBehind(store, { namespace, start: start.value, taken: beginning.count });
    const left = remaining === undefined ? {} : { remaining };
    meta.continue = encodeContinue({ revision, start: beginning.last, incarnation: store.incarnation, madeAt, ...left });
    if (remaining !== undefined) meta.remainingItemCount = remaining;
  }
  const known = (page: RowPage): ListRows => ({ ...page, encoded: kept?.of(view.id, page) });
  const body: ListBody = { form: view.list(meta), begun: known(beginning.page) };
  if (beginning.isWhole) return ok(body);
  const whole: KeyRange = limit > 0 ? { from: range.from, to: `${beginning.last}\0` } : range;
  async function* behind(key: string): AsyncGenerator<ListRows, void> {
    const collection = { range: rangeBehind(whole, key), revision, ...(matches && { matches }) };
    for await (const page of rowPages(store, collection, bounds.piece)) yield known(page);
  }
  const isThere = (): boolean => store.floor <= revision;
  return ok({ ...body, rest: { after, behind, isThere, chars: charsOf(store, request, filter.value, limit, beginning) } });
}

/** A list of any version out of a published copy: whole, because `limit` does not count at resourceVersion 0. `now` as for viewOf. */
export function listOfCopy(
  copy: ListCopy,
  request: CollectionRequest,
  definition: ResourceDefinition,
  now: () => number,
  bounds = LIST_BOUNDS,
): Result<ListBody, Status> {
  const filter = filterOf(request, definition);
  if (!filter.ok) return filter;
  const { range } = filter.value;
  const madeAt = now();
  const view: View = viewOf(definition, request, () => madeAt);
  const { page, isWhole } = beginningOf(copy.rowsIn(range), filter.value, 0, bounds.whole);
  const body: ListBody = { form: view.list({ resourceVersion: String(copy.revision) }), begun: page };
  if (isWhole) return ok(body);
  const behind = (key: string) => fixedPages(copy.rowsIn(rangeBehind(range, key)), filter.value, bounds.piece);
  return ok({ ...body, rest: { after: "", behind, isThere: () => true, chars: copy.chars } });
}

/** How a list begins. */
interface ListBeginning {
  /** its first rows */
  page: RowPage;
  /** they are all its rows */
  isWhole: boolean;
  /** matching rows that were read, their characters, and the key of the last one */
  count: number;
  chars: number;
  last: string;
  /** there are rows beyond the limit */
  hasMore: boolean;
}

/** Reads at most `limit` (0 = all) matching rows, and keeps those within `wholeChars`. Where a limit says which row is the last one, it is looked for. */
function beginningOf(rows: Iterable<SnapshotRow>, filter: Filter, limit: number, wholeChars: number): ListBeginning {
  const beginning: ListBeginning = { page: noRows(), isWhole: true, count: 0, chars: 0, last: "", hasMore: false };
  for (const row of rows) {
    if (!isSeen(filter, row)) continue;
    if (limit > 0 && beginning.count === limit) {
      beginning.hasMore = true;
      break;
    }
    if (beginning.chars + row.data.length > wholeChars && beginning.count > 0) beginning.isWhole = false;
    if (!beginning.isWhole && limit === 0) break;
    beginning.count++;
    beginning.chars += row.data.length;
    beginning.last = row.key;
    if (beginning.isWhole) addRow(beginning.page, row);
  }
  return beginning;
}

/** An estimate for a list of which only the beginning was read: all its objects are as large as the first ones. */
function charsOf(
  store: Pick<ListedStore, "countIn">,
  { namespace }: CollectionRequest,
  { matches }: Filter,
  limit: number,
  { chars, count }: ListBeginning,
): number {
  const all = limit > 0 || matches ? undefined : store.countIn(namespace);
  return all === undefined ? chars : Math.round(chars * Math.max(1, all / count));
}
