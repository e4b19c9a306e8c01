/**
 * The live side of watch: hands each drain's changes to every watcher of one store.
 *
 * - An event is encoded once per view and shared: watchers without a selector on the same range get the very same bytes.
 * - A drain is published after it is durable, in the order of drains (rule 21). The store's publication chain sees to that; the hub keeps
 *   the order in which it is called.
 * - A watcher whose backlog grows beyond the limit is cut off; its client resumes from its last revision.
 */
import type { Clock } from "../../core/base/ports";
import { WATCH_BACKLOG_MAX_BYTES, WATCH_BOOKMARK_INTERVAL_MS, WATCH_TICK_MS } from "./limits";
import { type Filter, ObservedChange, seenThrough } from "./filter";
import type { OpenWatches, WatchedCollection } from "../rpc/store";
import type { HistoryEntry } from "./store-storage";
import type { View } from "./view";

/** Where a watch's bytes go: the response stream in the Durable Object, an array in tests. */
export interface WatchSink {
  write(bytes: Uint8Array): void;
  /** bytes written that the client has not taken yet */
  backlogBytes(): number;
  /** a proper end of body: clients re-watch from their last revision */
  end(): void;
  /** cuts the connection */
  abort(reason: string): void;
  /** writes something that the client ignores: only a write shows that a client is gone */
  probe(): void;
}

export interface WatchRequest {
  /** what the client asked for */
  asked: WatchedCollection;
  filter: Filter;
  view: View;
  sink: WatchSink;
  bookmarks: boolean;
  /** milliseconds since the epoch */
  endsAt: number;
  /** size of what the caller writes at the start; however large, it is not yet a backlog */
  catchUpBytes: number;
}

interface Watcher extends WatchRequest {
  /** changes up to this revision were delivered or are not wanted */
  seen: number;
  /** Table watches send their column definitions once */
  columnsSent: boolean;
  /** when the next bookmark, or the probe in its place, is due */
  nextSignAt: number;
}

const encoder = new TextEncoder();
const BOOKMARK_BEFORE_END_MS = 2_000;

export class WatchHub {
  readonly #watchers = new Set<Watcher>();
  #ticking = false;
  #published: number;

  /** `inOrder` runs its argument after everything that watchers were given before, and only while storage answers. */
  constructor(
    private readonly clock: Clock,
    publishedRevision: number,
    private readonly inOrder: (work: () => void) => Promise<void>,
  ) {
    this.#published = publishedRevision;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** How many watches are open, by what they watch. */
  get open(): OpenWatches[] {
    const counts = new Map<string, OpenWatches>();
    for (const { asked } of this.#watchers) {
      const key = Object.values(asked).join(" ");
      const count = counts.get(key);
      if (count) count.count++;
      else counts.set(key, { ...asked, count: 1 });
    }
    return [...counts.values()];
  }

  /** The newest revision that watchers may know of. */
  get published(): number {
    return this.#published;
  }

  /**
   * Registers a watcher that wants every change after `seen`. Returns its removal, which may be called any number of times.
   * The caller writes the catch-up itself, in the same turn.
   */
  add(request: WatchRequest, seen: number, columnsSent: boolean): () => void {
    const watcher: Watcher = { ...request, seen, columnsSent, nextSignAt: nextSignOf(request, this.clock.now()) };
    this.#watchers.add(watcher);
    if (!this.#ticking) void this.#tick();
    return () => void this.#watchers.delete(watcher);
  }

  /** Delivers durable changes, in order. */
  publish(entries: readonly HistoryEntry[]): void {
    const last = entries.at(-1);
    if (!last) return;
    this.#published = last.revision;
    if (this.#watchers.size === 0) return;
    const changes = entries.map((entry) => new ObservedChange(entry));
    const shared = new Map<string, Uint8Array>();
    for (const watcher of [...this.#watchers]) this.#deliver(watcher, changes, shared);
  }

  #deliver(watcher: Watcher, changes: readonly ObservedChange[], shared: Map<string, Uint8Array>): void {
    const wanted =
      changes[0] && changes[0].entry.revision > watcher.seen ? changes : changes.filter((c) => c.entry.revision > watcher.seen);
    const last = wanted.at(-1);
    if (!last) return;
    watcher.seen = last.entry.revision;
    const shareKey =
      wanted === changes && !watcher.filter.matches && watcher.columnsSent ? `${watcher.view.id}\n${watcher.filter.range.from}` : undefined;
    let bytes = shareKey === undefined ? undefined : shared.get(shareKey);
    if (!bytes) {
      bytes = encoder.encode(encodeChanges(watcher, wanted));
      if (shareKey !== undefined) shared.set(shareKey, bytes);
    }
    if (bytes.length > 0) this.#write(watcher, bytes);
  }

  #write(watcher: Watcher, bytes: Uint8Array): void {
    watcher.sink.write(bytes);
    const backlog = watcher.sink.backlogBytes();
    if (backlog <= WATCH_BACKLOG_MAX_BYTES) watcher.catchUpBytes = 0;
    else if (backlog > WATCH_BACKLOG_MAX_BYTES + watcher.catchUpBytes) {
      this.#watchers.delete(watcher);
      watcher.sink.abort("the watcher fell behind; watch again from the last resourceVersion");
    }
  }

  /** Ends every watch properly, for a graceful stop of the object. */
  endAll(): void {
    for (const watcher of this.#watchers) watcher.sink.end();
    this.#watchers.clear();
  }

  /** Bookmarks, probes and timeouts. Runs only while somebody watches: an open stream keeps the object awake anyway. */
  async #tick(): Promise<void> {
    this.#ticking = true;
    while (this.#watchers.size > 0) {
      await this.clock.sleep(WATCH_TICK_MS);
      const now = this.clock.now();
      for (const watcher of [...this.#watchers]) this.#tend(watcher, now);
    }
    this.#ticking = false;
  }

  #tend(watcher: Watcher, now: number): void {
    if (now >= watcher.nextSignAt) {
      watcher.nextSignAt = nextSignOf(watcher, now);
      if (watcher.bookmarks) void this.inOrder(() => this.#bookmark(watcher)).catch(() => undefined);
      else watcher.sink.probe();
    }
    if (now >= watcher.endsAt && this.#watchers.delete(watcher)) watcher.sink.end();
  }

  #bookmark(watcher: Watcher): void {
    if (!this.#watchers.has(watcher)) return;
    this.#write(watcher, encoder.encode(watcher.view.bookmark(this.#published, false)));
  }
}

/** About every minute, and once shortly before the end; never again after that. */
function nextSignOf({ endsAt }: Pick<WatchRequest, "endsAt">, now: number): number {
  const last = endsAt - BOOKMARK_BEFORE_END_MS;
  return now >= last ? Infinity : Math.min(now + WATCH_BOOKMARK_INTERVAL_MS, last);
}

function encodeChanges(watcher: Watcher, changes: readonly ObservedChange[]): string {
  let text = "";
  for (const change of changes) {
    const seen = seenThrough(watcher.filter, change);
    if (!seen) continue;
    text += watcher.view.event(seen.type, seen.data, !watcher.columnsSent);
    watcher.columnsSent = true;
  }
  return text;
}
