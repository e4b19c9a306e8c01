/** The start of a watch: the current objects, or the history since the client's revision. What comes later is the hub's. */
import { err, ok, type Result } from "../../../core/base/result";
import type { KubeObject } from "../../meta/kubernetes";
import { expired, revisionTooLarge, type Status, tooManyRequests } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest } from "../../rpc/store";
import { filterOf, scopeOf } from "../hub/collection-filter";
import { type Filter, ObservedChange, seenThrough } from "../hub/filter";
import { type WatchFrame, FrameBuffer } from "../hub/frame-buffer";
import { historyAfter } from "../state/history";
import { LARGE_ENTRIES_TOGETHER, MISSED_CHANGES_MAX_CHARS, WATCH_TIMEOUT_MIN_MS, WATCHES_RETRY_SECONDS } from "../state/limits";
import { sendMissedChanges } from "./missed-changes";
import { rowsNow } from "../state/snapshot";
import type { StoreEngine } from "../engine/store-engine";
import type { View } from "../hub/view";
import { viewOf } from "../hub/view-of";
import type { WatchSink } from "../hub/watch-hub";

type WatchedStore = Pick<
  StoreEngine<unknown>,
  "storage" | "clock" | "random" | "revision" | "floor" | "isOfAnotherLife" | "hub" | "afterPublication"
>;

/** Characters or bytes. */
const PIECE_SIZE = 256 * 1024;

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
  store: WatchedStore,
  request: CollectionRequest,
  definition: ResourceDefinition,
  sink: WatchSink,
): Result<WatchStart, Status> {
  const tooMany = watchesProblem(store, request);
  if (tooMany) return err(tooMany);
  const filter = filterOf(request, definition);
  if (!filter.ok) return filter;
  const view = viewOf(definition, request, () => store.clock.now());
  const since = Number(request.resourceVersion || "0");
  const head = store.revision;
  if (since > head) return err(revisionTooLarge(request.resourceVersion, head));
  const fromNow = request.sendInitialEvents ?? since === 0;
  // Without a resourceVersion and without initial events a watch begins with what comes.
  const after = since === 0 ? head : since;
  if (store.isOfAnotherLife(since) || (!fromNow && after < store.floor)) {
    return err(expired(`too old resource version: ${since} (${store.floor})`));
  }
  const catchUp = fromNow ? initialEvents(store, filter.value, view) : missedEvents(store, filter.value, view, after);
  const { clock, random } = store;
  const wantedMs = request.timeoutSeconds * 1000;
  const durationMs = wantedMs !== 0 ? wantedMs : WATCH_TIMEOUT_MIN_MS + random.below(WATCH_TIMEOUT_MIN_MS);
  const { group, version, resource, encoding } = request;
  const watch = {
    asked: { group, version, resource, scope: scopeOf(request, filter.value.range) },
    filter: filter.value,
    view,
    sink,
    user: request.watchedBy?.user ?? "",
    bookmarks: request.allowWatchBookmarks,
    endsAt: clock.now() + durationMs,
  };
  if (!catchUp) {
    const starting = store.hub.addStarting({ ...watch, catchUpBytes: 0 });
    void sendMissedChanges(store, { filter: filter.value, view, sink, encoding }, starting, after).catch(() => {
      starting.stop();
      sink.abort("the history could not be read");
    });
    return ok({ stop: starting.stop });
  }
  if (fromNow && request.allowWatchBookmarks) catchUp.add(view.bookmark(head, true, catchUp.empty));
  const columnsSent = !catchUp.empty;
  const pieces = catchUp.finish();
  const stop = store.hub.add({ ...watch, catchUpBytes: pieces.reduce((sum, { length }) => sum + length, 0) }, head, columnsSent);
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

/** A client that opens watches and forgets them takes the memory of one store, not of all. */
function watchesProblem({ hub }: WatchedStore, { watchedBy, resource }: CollectionRequest): Status | undefined {
  if (!watchedBy || watchedBy.max === 0 || hub.openBy(watchedBy.user) < watchedBy.max) return undefined;
  const text = `user ${JSON.stringify(watchedBy.user)} has ${watchedBy.max} watches of ${resource} open, which is the most`;
  return tooManyRequests(text, WATCHES_RETRY_SECONDS);
}

/** Frames that are encoded piece by piece, so that a large start is never held twice. */
class Pieces {
  readonly #done: Uint8Array[] = [];
  readonly #frames = new FrameBuffer();

  get empty(): boolean {
    return this.#frames.size === 0 && this.#done.length === 0;
  }

  add(frame: WatchFrame): void {
    this.#frames.add(frame);
    if (this.#frames.size >= PIECE_SIZE) this.#done.push(this.#frames.take());
  }

  finish(): Uint8Array[] {
    if (this.#frames.size > 0) this.#done.push(this.#frames.take());
    return this.#done;
  }
}

function initialEvents(store: WatchedStore, filter: Filter, view: View): Pieces {
  const pieces = new Pieces();
  for (const row of rowsNow(store.storage, filter.range)) {
    if (filter.matches && !filter.matches(JSON.parse(row.data) as KubeObject)) continue;
    pieces.add(view.event("ADDED", row.data, pieces.empty));
  }
  return pieces;
}

/** undefined = there are too many for one turn. */
function missedEvents(store: WatchedStore, filter: Filter, view: View, since: number): Pieces | undefined {
  const pieces = new Pieces();
  let chars = 0;
  for (const entry of historyAfter(store.storage, since, LARGE_ENTRIES_TOGETHER)) {
    chars += entry.data.length + entry.before.length;
    if (chars > MISSED_CHANGES_MAX_CHARS) return undefined;
    const seen = seenThrough(filter, new ObservedChange(entry));
    if (seen) pieces.add(view.event(seen.type, seen.data, pieces.empty));
  }
  return pieces;
}
