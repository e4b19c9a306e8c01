/** Lists and watches of one store: what a CollectionRequest means, and where its bytes come from. */
import { WATCH_TIMEOUT_MIN_MS } from "./limits";
import { err, ok, type Result } from "../../core/base/result";
import { parseFieldSelector } from "../meta/field-selector";
import type { KubeObject } from "../meta/kubernetes";
import { decodeContinue, encodeContinue } from "../meta/continue-token";
import { type Envelope, type ListMeta } from "../meta/list";
import { parseLabelSelector } from "../meta/selector";
import { badRequest, expired, revisionTooLarge, type Status } from "../meta/status";
import type { ResourceDefinition } from "../registry/resource";
import type { CollectionRequest, WatchedCollection } from "../rpc/store";
import { type Filter, ObservedChange, seenThrough } from "./filter";
import { historyAfter } from "./history";
import { type KeyRange, namespaceRange, storageKey } from "./keys";
import type { ListCopy } from "./list-copy";
import type { StoreEngine } from "./store-engine";
import { countAt, rowsAt, rowsNow, type SnapshotRow } from "./snapshot";
import { type View, viewOf } from "./view";
import type { WatchSink } from "./watch-hub";

/** What a collection needs of its store, whatever its extension. */
type AnyStore = Pick<
  StoreEngine<unknown>,
  "definition" | "storage" | "clock" | "random" | "revision" | "floor" | "incarnation" | "hub" | "afterPublication"
>;

/** A list body in pieces: head, rows, tail. The rows are of one revision; they are text already. */
export interface ListBody {
  envelope: Envelope;
  rows: string[];
  /** the rows' storage keys */
  keys: string[];
}

const CONTINUE_EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
  "or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an " +
  "inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** The objects that a request sees, or the 400 of a selector that cannot be read. `definition` is the requested representation. */
function filterOf(
  request: Pick<CollectionRequest, "namespace" | "labelSelector" | "fieldSelector">,
  definition: ResourceDefinition,
): Result<Filter, Status> {
  const labels = parseLabelSelector(request.labelSelector);
  if (!labels.ok) return err(badRequest(labels.error));
  const fields = parseFieldSelector(request.fieldSelector);
  if (!fields.ok) return err(badRequest(fields.error));
  const known = ["metadata.name", "metadata.namespace", ...definition.fieldLabels];
  const unknown = fields.value.terms.find((term) => !known.includes(term.field));
  if (unknown) return err(badRequest(definition.unknownFieldLabel(unknown.field)));
  const range = rangeOf(request.namespace, fields.value.exact("metadata.name"), definition);
  if (labels.value.empty && fields.value.empty) return ok({ range });
  const convert = definition.representationOf?.fromStored;
  const matches = (stored: KubeObject): boolean => {
    if (!labels.value.matches(stored.metadata?.labels)) return false;
    if (fields.value.empty) return true;
    const object = convert ? convert(stored) : stored;
    const { name = "", namespace = "" } = object.metadata ?? {};
    return fields.value.matches({ ...definition.selectableFields(object), "metadata.name": name, "metadata.namespace": namespace });
  };
  return ok({ range, selector: JSON.stringify([definition.group, request.labelSelector, request.fieldSelector]), matches });
}

/** One named object is a range of one key. */
function rangeOf(namespace: string, name: string | undefined, definition: ResourceDefinition): KeyRange {
  if (!name || (definition.namespaced && !namespace)) return namespaceRange(namespace);
  const key = storageKey({ namespace, name });
  return { from: key, to: `${key}\0` };
}

/** As upstream's CleanScope: a watch of one name has the scope of an object. */
function scopeOf({ namespace }: Pick<CollectionRequest, "namespace">, range: KeyRange): WatchedCollection["scope"] {
  if (range.to === `${range.from}\0`) return "resource";
  return namespace === "" ? "cluster" : "namespace";
}

/** One page of a list. */
export function listPage(store: AnyStore, request: CollectionRequest, definition: ResourceDefinition): Result<ListBody, Status> {
  const filter = filterOf(request, definition);
  if (!filter.ok) return filter;
  const start = startOf(store, request);
  if (!start.ok) return start;
  const { revision, after } = start.value;
  const view = viewOf(definition, request.version, request.representation, () => store.clock.now());
  const rest = behind(filter.value.range, after);
  const rows = revision === store.revision ? rowsNow(store.storage, rest) : rowsAt(store.storage, rest, revision);
  const limit = request.resourceVersion === "0" && !request.continueToken ? 0 : request.limit;
  const page = takePage(rows, filter.value, limit);
  const meta: ListMeta = { resourceVersion: String(revision) };
  if (page.more) {
    const last = page.keys.at(-1) ?? "";
    meta.continue = encodeContinue({ revision, start: last, incarnation: store.incarnation });
    // An exact number needs no selector (conformance asks for no more).
    if (!filter.value.matches) meta.remainingItemCount = remainingBehind(store, { range: filter.value.range, revision, after, page, last });
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
  const view = viewOf(definition, request.version, request.representation, now);
  const page = takePage(copy.rowsIn(filter.value.range), filter.value, 0);
  return ok(bodyOf(view, { resourceVersion: String(copy.revision) }, page));
}

function bodyOf(view: View, meta: ListMeta, page: Page): ListBody {
  return { envelope: view.envelope(meta), rows: page.rows.map((row) => view.item(row)), keys: page.keys };
}

interface ListStart {
  revision: number;
  /** list goes on behind this key; "" = from the beginning */
  after: string;
}

function startOf(store: AnyStore, request: CollectionRequest): Result<ListStart, Status> {
  if (request.continueToken) return continued(store, request.continueToken);
  const wanted = Number(request.resourceVersion || "0");
  if (wanted > store.revision) return err(revisionTooLarge(request.resourceVersion, store.revision));
  const exact = request.resourceVersionMatch === "Exact" || (wanted > 0 && request.limit > 0 && request.resourceVersionMatch === "");
  if (!exact || wanted === 0) return ok({ revision: store.revision, after: "" });
  if (wanted < store.floor) return err(expired("The resourceVersion for the provided list is too old."));
  return ok({ revision: wanted, after: "" });
}

function continued(store: AnyStore, text: string): Result<ListStart, Status> {
  const token = decodeContinue(text);
  if (!token.ok) return err(badRequest(token.error));
  const { revision, start, incarnation } = token.value;
  if (revision === -1 && incarnation === store.incarnation) return ok({ revision: store.revision, after: start });
  if (incarnation !== store.incarnation || revision < store.floor || revision > store.revision) {
    const status = expired(CONTINUE_EXPIRED);
    status.metadata.continue = encodeContinue({ revision: -1, start, incarnation: store.incarnation });
    return err(status);
  }
  return ok({ revision, after: start });
}

/** The part of the range behind the key `after` ("" = all of it); a key out of a token may lie anywhere. */
function behind(range: KeyRange, after: string): KeyRange {
  const from = `${after}\0`;
  return after === "" || from <= range.from ? range : { from, to: range.to };
}

interface Page {
  rows: string[];
  keys: string[];
  more: boolean;
}

/** At most `limit` (0 = all) matching rows. */
function takePage(rows: Iterable<SnapshotRow>, filter: Filter, limit: number): Page {
  const page: Page = { rows: [], keys: [], more: false };
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

/** Lists under way whose remainder is remembered per store; beyond it the oldest is counted anew. */
const REMAINDERS_MAX = 64;
const remainders = new WeakMap<AnyStore, Map<string, number>>();

/** How many objects come after `last`. A revision never changes: the number of one page gives that of the next without a scan. */
function remainingBehind(store: AnyStore, at: { range: KeyRange; revision: number; after: string; page: Page; last: string }): number {
  const { range, revision, after, page, last } = at;
  const keyOf = (behindKey: string): string => `${revision}\n${range.from}\n${range.to}\n${behindKey}`;
  const known = remainders.get(store) ?? new Map<string, number>();
  remainders.set(store, known);
  const before = known.get(keyOf(after));
  const remaining = before === undefined ? countAt(store.storage, behind(range, last), revision) : before - page.rows.length;
  known.set(keyOf(last), remaining);
  const [oldest] = known.keys();
  if (known.size > REMAINDERS_MAX && oldest !== undefined) known.delete(oldest);
  return remaining;
}

/** The keys of everything that matches, for deletecollection. */
export function matchingKeys(store: AnyStore, filter: Filter): string[] {
  const keys: string[] = [];
  for (const row of rowsNow(store.storage, filter.range)) {
    if (!filter.matches || filter.matches(JSON.parse(row.data) as KubeObject)) keys.push(row.key);
  }
  return keys;
}

const encoder = new TextEncoder();
const PIECE_CHARS = 256 * 1024;

/** A watch that has begun. */
export interface WatchStart {
  /** to be called when the client is gone; repeats do nothing */
  stop(): void;
}

/**
 * Starts a watch into `sink`. Its start (current objects or history) is read in this turn and written once it is durable; the hub delivers
 * later changes. A Status is a refusal before anything was sent.
 */
export function startWatch(
  store: AnyStore,
  request: CollectionRequest,
  definition: ResourceDefinition,
  sink: WatchSink,
): Result<WatchStart, Status> {
  const filter = filterOf(request, definition);
  if (!filter.ok) return filter;
  const view = viewOf(definition, request.version, request.representation, () => store.clock.now());
  const since = Number(request.resourceVersion || "0");
  const head = store.revision;
  if (since > head) return err(revisionTooLarge(request.resourceVersion, head));
  const fromNow = request.sendInitialEvents ?? since === 0;
  // Without a resourceVersion and without initial events a watch begins with what comes.
  const after = since === 0 ? head : since;
  if (!fromNow && after < store.floor) {
    return err(expired(`too old resource version: ${since} (${store.floor})`));
  }
  const catchUp = fromNow ? initialEvents(store, filter.value, view) : missedEvents(store, filter.value, view, after);
  const columnsSent = !catchUp.empty;
  if (request.sendInitialEvents && request.allowWatchBookmarks) catchUp.add(view.bookmark(head, true));
  const pieces = catchUp.finish();
  const { clock, random } = store;
  const wantedMs = request.timeoutSeconds * 1000;
  const durationMs = wantedMs > 0 ? wantedMs : WATCH_TIMEOUT_MIN_MS + random.below(WATCH_TIMEOUT_MIN_MS);
  const { group, version, resource } = request;
  const watch = {
    asked: { group, version, resource, scope: scopeOf(request, filter.value.range) },
    filter: filter.value,
    view,
    sink,
    bookmarks: request.allowWatchBookmarks,
    endsAt: clock.now() + durationMs,
    catchUpBytes: pieces.reduce((sum, { length }) => sum + length, 0),
  };
  const stop = store.hub.add(watch, head, columnsSent);
  if (pieces.length > 0) {
    const lost = (): void => {
      stop();
      sink.abort("the store was reset");
    };
    const write = (): void => {
      for (const piece of pieces) sink.write(piece);
    };
    void store.afterPublication(write).catch(lost);
  }
  return ok({ stop });
}

/** Text that is encoded piece by piece, so that a large start is never held twice. */
class Pieces {
  readonly #done: Uint8Array[] = [];
  #text = "";

  get empty(): boolean {
    return this.#text === "" && this.#done.length === 0;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE_CHARS) this.#flush();
  }

  finish(): Uint8Array[] {
    if (this.#text !== "") this.#flush();
    return this.#done;
  }

  #flush(): void {
    this.#done.push(encoder.encode(this.#text));
    this.#text = "";
  }
}

function initialEvents(store: AnyStore, filter: Filter, view: View): Pieces {
  const pieces = new Pieces();
  for (const row of rowsNow(store.storage, filter.range)) {
    if (filter.matches && !filter.matches(JSON.parse(row.data) as KubeObject)) continue;
    pieces.add(view.event("ADDED", row.data, pieces.empty));
  }
  return pieces;
}

function missedEvents(store: AnyStore, filter: Filter, view: View, since: number): Pieces {
  const pieces = new Pieces();
  for (const entry of historyAfter(store.storage, since)) {
    const seen = seenThrough(filter, new ObservedChange(entry));
    if (seen) pieces.add(view.event(seen.type, seen.data, pieces.empty));
  }
  return pieces;
}
