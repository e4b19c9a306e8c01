/**
 * The changes that a client has missed, when they are many. The client gets some at a time, as fast as it reads, and other work of the store has its
 * turns in between. So a client comes back to a history of any size, and little of it is ever in memory. Then the hub goes on. A client that takes
 * nothing for long loses its watch.
 */
import type { Clock } from "../../../core/base/ports";
import { expired } from "../../meta/status";
import type { Encoding } from "../../rpc/store";
import { type Filter, ObservedChange, seenThrough } from "../hub/filter";
import { FrameBuffer } from "../hub/frame-buffer";
import { historyAfter } from "../state/history";
import {
  LARGE_ENTRIES_TOGETHER,
  MISSED_CHANGES_BACKLOG_BYTES,
  MISSED_CHANGES_PAUSE_MAX_MS,
  MISSED_CHANGES_PAUSE_MS,
  MISSED_CHANGES_STALLED_MS,
  WATCH_FLUSH_MAX_CHARS,
} from "../state/limits";
import { refusedWatchFrame } from "./refused-watch";
import type { StoreEngine } from "../engine/store-engine";
import type { View } from "../hub/view";
import type { StartingWatch, WatchSink } from "../hub/watch-hub";

export type MissedChangesStore = Pick<StoreEngine<unknown>, "history" | "clock" | "floor" | "hub">;

export interface MissingClient {
  readonly filter: Filter;
  readonly view: View;
  readonly sink: WatchSink;
  readonly encoding: Encoding | undefined;
}

/**
 * Sends every change after the revision, then begins the watch. Ends early when the watch does. Rejects when the storage cannot be read. `columnsSent`:
 * the client has the columns of a Table.
 */
export async function sendMissedChanges(
  store: MissedChangesStore,
  client: MissingClient,
  watch: StartingWatch,
  after: number,
  columnsSent = false,
): Promise<void> {
  const { clock, hub } = store;
  const { sink } = client;
  for (let place = after; ;) {
    await clock.nextTurn();
    if (!(await takes(clock, sink, watch))) return watch.end();
    if (place < store.floor) {
      // The store forgets faster than the client reads.
      return endForgotten(store, client, watch, place);
    }
    const step = nextChanges(store, client, place, columnsSent);
    if (step.bytes.length > 0) {
      sink.write(step.bytes);
      columnsSent = true;
    }
    place = step.through;
    // In the turn in which the history was read: the hub has what is published later.
    if (place === hub.published) return watch.begin(place, columnsSent);
  }
}

/** The history no longer reaches back to the place of the watch: its client is told so, as upstream does. */
export function endForgotten(
  { floor }: Pick<MissedChangesStore, "floor">,
  { sink, encoding }: Pick<MissingClient, "sink" | "encoding">,
  watch: StartingWatch,
  place: number,
): void {
  const refusal = refusedWatchFrame(expired(`too old resource version: ${place} (${floor})`), encoding);
  if (refusal) sink.write(refusal);
  watch.end();
}

/**
 * Waits until the client has room for more. False: the watch is over, or the client takes nothing for MISSED_CHANGES_STALLED_MS, or nobody can see what
 * it takes. It comes back from its last revision.
 */
export async function takes(clock: Clock, sink: WatchSink, watch: StartingWatch): Promise<boolean> {
  let least = Infinity;
  let pauseMs = MISSED_CHANGES_PAUSE_MS;
  let stalledMs = 0;
  while (watch.isOpen()) {
    const backlog = sink.backlogBytes();
    if (backlog <= MISSED_CHANGES_BACKLOG_BYTES) return true;
    if (backlog < least) [least, pauseMs, stalledMs] = [backlog, MISSED_CHANGES_PAUSE_MS, 0];
    if (sink.isBlind || stalledMs >= MISSED_CHANGES_STALLED_MS) return false;
    await clock.sleep(pauseMs);
    stalledMs += pauseMs;
    pauseMs = Math.min(2 * pauseMs, MISSED_CHANGES_PAUSE_MAX_MS);
  }
  return false;
}

/** What the client sees of the next changes. Only what is published is durable. */
export function nextChanges(
  { history, hub }: MissedChangesStore,
  { filter, view }: Pick<MissingClient, "filter" | "view">,
  after: number,
  columnsSent: boolean,
): { bytes: Uint8Array; through: number } {
  const frames = new FrameBuffer();
  // Behind the last change there may be a gap.
  let through = hub.published;
  let chars = 0;
  for (const entry of historyAfter(history, after, LARGE_ENTRIES_TOGETHER)) {
    if (entry.revision > hub.published) break;
    chars += entry.data.length + entry.before.length;
    const seen = seenThrough(filter, new ObservedChange(entry));
    if (seen) frames.add(view.event(seen.type, seen.data, !columnsSent && frames.size === 0));
    if (chars >= WATCH_FLUSH_MAX_CHARS) {
      through = entry.revision;
      break;
    }
  }
  return { bytes: frames.take(), through };
}
