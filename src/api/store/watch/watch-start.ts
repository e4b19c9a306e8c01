/** The start of a watch: the current objects, or the history since the client's revision. What comes later is the hub's. */
import { ok, type Result } from "../../../core/base/result";
import type { Status } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest } from "../../rpc/store";
import { ObservedChange, seenThrough } from "../hub/filter";
import { historyAfter } from "../state/history";
import { LARGE_ENTRIES_TOGETHER, MISSED_CHANGES_MAX_CHARS } from "../state/limits";
import { EncodedPieces } from "./encoded-pieces";
import { sendMissedChanges } from "./missed-changes";
import { sendBeginning } from "./sent-beginning";
import { anyRoom, type BeginningRoom, type WatchBeginning, watchBeginning } from "./watch-beginning";
import { planOf, watchDurationMs, watchedCollection, type WatchedStore, type WatchPlan } from "./watch-plan";
import type { WatchSink } from "../hub/watch-hub";

/** A watch that has begun. */
export interface WatchStart {
  /** to be called when the client is gone; repeats do nothing */
  stop(): void;
}

/**
 * Starts a watch into `sink`. Its start (current objects or history) is read in this turn and written once it is durable; the hub delivers
 * later changes. Of a large start this turn reads the beginning, and the client gets the rest as it takes it. A Status is a refusal before anything was
 * sent.
 */
export function startWatch(
  store: WatchedStore,
  request: CollectionRequest,
  definition: ResourceDefinition,
  sink: WatchSink,
  room: BeginningRoom = anyRoom(store),
): Result<WatchStart, Status> {
  const planned = planOf(store, request, definition);
  if (!planned.ok) return planned;
  const plan = planned.value;
  const { filter, view, head, fromNow, after } = plan;
  const beginning = fromNow ? watchBeginning(store, plan, request, room) : ok(missedEvents(store, plan));
  if (!beginning.ok) return beginning;
  const { clock, random } = store;
  const watch = {
    asked: watchedCollection(request, filter),
    filter,
    view,
    sink,
    bookmarks: request.allowWatchBookmarks,
    endsAt: clock.now() + watchDurationMs(request, random),
  };
  const { pieces, rest } = beginning.value ?? {};
  const client = { filter, view, sink, encoding: request.encoding };
  if (!pieces || rest) {
    const starting = store.hub.addStarting({ ...watch, catchUpBytes: 0 });
    const sent = rest
      ? sendBeginning(store, client, starting, { pieces: pieces ?? [], rest, head })
      : sendMissedChanges(store, client, starting, after);
    void sent.catch(() => {
      starting.stop();
      sink.abort(rest ? "the objects could not be read" : "the history could not be read");
    });
    const stop = (): void => {
      starting.stop();
      rest?.end();
    };
    return ok({ stop });
  }
  const stop = store.hub.add({ ...watch, catchUpBytes: pieces.reduce((sum, { length }) => sum + length, 0) }, head, pieces.length > 0);
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

/** undefined = there are too many for one turn. */
function missedEvents(store: WatchedStore, { filter, view, after }: WatchPlan): WatchBeginning | undefined {
  const pieces = new EncodedPieces();
  let chars = 0;
  for (const entry of historyAfter(store.history, after, LARGE_ENTRIES_TOGETHER)) {
    chars += entry.data.length + entry.before.length;
    if (chars > MISSED_CHANGES_MAX_CHARS) return undefined;
    const seen = seenThrough(filter, new ObservedChange(entry));
    if (seen) pieces.add(view.event(seen.type, seen.data, pieces.isEmpty));
  }
  return { pieces: pieces.finish() };
}
