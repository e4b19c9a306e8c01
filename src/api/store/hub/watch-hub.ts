/**
 * The live side of watch: hands durable changes to every watcher of one store.
 *
 * - A drain is published after it is durable, in the order of drains (rule 21). The store's publication chain sees to that; the hub keeps
 *   the order in which it is called.
 * - One flush at a time hands out what was published. It begins in the turn of the publication, so a lone change leaves at once. It lets other
 *   work run after every few writes. What is published meanwhile is the next flush: a burst costs chunks, not events.
 * - The bytes of a flush are made once for each cohort, and all its watchers share them.
 * - A watcher whose backlog grows beyond the limit is cut off; its client resumes from its last revision. That of a Worker has credit instead: without it
 *   the hub leaves it to the history (watch/socket-watches.ts).
 */
import type { Clock } from "../../../core/base/ports";
import {
  WATCH_BACKLOG_MAX_BYTES,
  WATCH_BOOKMARK_INTERVAL_MS,
  WATCH_CROWDED_FLUSH_MAX_CHARS,
  WATCH_FLUSH_HELD_MAX_BYTES,
  WATCH_FLUSH_MAX_CHARS,
  WATCH_HELD_MAX_BYTES,
  WATCH_QUEUE_MAX_CHARS,
  WATCH_STEPS_PER_TURN,
  WATCH_TICK_MS,
} from "../state/limits";
import { type Filter, ObservedChange, seenThrough } from "./filter";
import type { OpenWatches, WatchedCollection } from "../../rpc/store";
import { FrameBuffer, frameBytes } from "./frame-buffer";
import type { HistoryEntry } from "../state/store-storage";
import type { View } from "./view";

/** Where a watch's bytes go: the response stream in the Durable Object, an array in tests. */
export interface WatchSink {
  /** `through`: with these bytes the watch has every change up to this revision; the hub names it where the sink is a Worker's */
  write(bytes: Uint8Array, through?: number): void;
  /** bytes written that the client has not taken yet */
  backlogBytes(): number;
  /** a proper end of body: clients re-watch from their last revision */
  end(): void;
  /** cuts the connection */
  abort(reason: string): void;
  /** writes something that the client ignores: only a write shows that a client is gone */
  probe(): void;
  /** `backlogBytes` counts what was written, whether the client has taken it or not: it never becomes less */
  readonly isBlind?: true;
  /** The watch is a Worker's: it makes bookmarks, probes and the end of time by itself (rule 28), and takes events against credit (rule 27). */
  readonly relay?: RelayedSink;
}

/** What the hub tells of a Worker's watch, and asks. */
export interface RelayedSink {
  /** whether events may be written */
  hasCredit(): boolean;
  /** No events are written any more. The watch begins anew once it has caught up from the history after `seen`. */
  behind(seen: number): void;
  /** No change up to the revision is left for the watch. */
  passed(revision: number): void;
  /** Says now what has passed. */
  tell(): void;
}

/** A watch whose client still gets what it has missed. */
export interface StartingWatch {
  /** false: it is over, and nothing more is to be written */
  isOpen(): boolean;
  /** The hub goes on with every change after `seen`. */
  begin(seen: number, columnsSent: boolean): void;
  /** Others of its cohort say now how far they are: a Worker that has one of them then needs one socket for both. */
  tellCohort(): void;
  /** Ends it properly. */
  end(): void;
  /** to be called when the client is gone; repeats do nothing */
  stop(): void;
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
  /** watchers of one cohort see the same changes as the same bytes */
  cohort: string;
  /** bytes not taken after the last write */
  backlog: number;
  /** changes up to this revision were delivered or are not wanted */
  seen: number;
  /** Table watches send their column definitions once */
  columnsSent: boolean;
  /** when the next bookmark, or the probe in its place, is due */
  nextSignAt: number;
}

/** The place of a watch that has not begun: every change is another's to send. */
const NOT_BEGUN = Infinity;

const BOOKMARK_BEFORE_END_MS = 2_000;

/** Those that the hub tends are counted, too. */
class Watchers extends Set<Watcher> {
  #tended = 0;
  /** when the last one left, in milliseconds since the epoch; -Infinity = none has */
  leftAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, "now">) {
    super();
  }

  /** All but those of Workers. */
  get tended(): number {
    return this.#tended;
  }

  override add(watcher: Watcher): this {
    if (!this.has(watcher) && !watcher.sink.relay) this.#tended++;
    return super.add(watcher);
  }

  override delete(watcher: Watcher): boolean {
    if (!super.delete(watcher)) return false;
    this.leftAt = this.clock.now();
    if (!watcher.sink.relay) this.#tended--;
    return true;
  }

  override clear(): void {
    if (this.size > 0) this.leftAt = this.clock.now();
    this.#tended = 0;
    super.clear();
  }
}

export class WatchHub {
  readonly #watchers: Watchers;
  #ticking = false;
  #published: number;
  /** published, and not yet part of a flush */
  #queue: ObservedChange[] = [];
  #queuedChars = 0;
  #flushing = false;

  /**
   * `inOrder` runs its argument after everything that watchers were given before, and only while storage answers. `lost` hears why a flush
   * failed; every watch has ended then.
   */
  constructor(
    private readonly clock: Clock,
    publishedRevision: number,
    private readonly inOrder: (work: () => void) => Promise<void>,
    private readonly lost: (error: unknown) => void,
  ) {
    this.#published = publishedRevision;
    this.#watchers = new Watchers(clock);
  }

  /** When somebody watched last: now, or when the last watch ended; in milliseconds since the epoch, -Infinity = nobody has. */
  get watchedAt(): number {
    return this.size > 0 ? this.clock.now() : this.#watchers.leftAt;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** How many watches are open besides those of Workers. */
  get tended(): number {
    return this.#watchers.tended;
  }

  /** The same by what they watch. */
  get open(): OpenWatches[] {
    const counts = new Map<string, OpenWatches>();
    for (const { asked, sink } of this.#watchers) {
      if (sink.relay) continue;
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
    const watcher = this.#enter(request, seen, columnsSent);
    return () => void this.#watchers.delete(watcher);
  }

  /** Registers a watcher that gets nothing from the hub before it begins. Meanwhile its time runs, and it ends with all the others. */
  addStarting(request: WatchRequest): StartingWatch {
    const watcher = this.#enter(request, NOT_BEGUN, false);
    const stop = (): boolean => this.#watchers.delete(watcher);
    return {
      isOpen: () => this.#watchers.has(watcher),
      begin: (seen, columnsSent) => void Object.assign(watcher, { seen, columnsSent }),
      tellCohort: () => this.#tellCohort(watcher),
      end: () => void (stop() && watcher.sink.end()),
      stop,
    };
  }

  #enter(request: WatchRequest, seen: number, columnsSent: boolean): Watcher {
    const nextSignAt = nextSignOf(request, this.clock.now());
    const watcher: Watcher = { ...request, cohort: cohortOf(request), backlog: 0, seen, columnsSent, nextSignAt };
    this.#watchers.add(watcher);
    if (!this.#ticking && this.#watchers.tended > 0) void this.#tick();
    return watcher;
  }

  #tellCohort({ cohort }: Watcher): void {
    for (const other of this.#watchers) {
      if (other.cohort === cohort && other.seen !== NOT_BEGUN) other.sink.relay?.tell();
    }
  }

  /** The store began anew at the revision. Every watch is of the life before: it ends, and its client lists again. */
  beginAt(revision: number): void {
    this.#published = Math.max(this.#published, revision);
    this.endAll();
  }

  /** Takes durable changes, in order. They leave in this turn unless a flush is under way; then they are part of the next one. */
  publish(entries: readonly HistoryEntry[]): void {
    const last = entries.at(-1);
    if (!last) return;
    this.#published = last.revision;
    if (this.#watchers.size === 0) return;
    // However large one turn is: only what waited before it tells that flushes do not keep up.
    if (this.#queuedChars > WATCH_QUEUE_MAX_CHARS) {
      this.endAll();
      return;
    }
    for (const entry of entries) {
      this.#queue.push(new ObservedChange(entry));
      this.#queuedChars += sizeOf(entry);
    }
    if (!this.#flushing) void this.#flushAll();
  }

  /** Never rejects. */
  async #flushAll(): Promise<void> {
    this.#flushing = true;
    let steps = 0;
    try {
      while (this.#queue.length > 0 && this.#watchers.size > 0) {
        const flush = new Flush(this.#takeFlush());
        for (const watcher of [...this.#watchers]) {
          if (steps >= WATCH_STEPS_PER_TURN) {
            steps = 0;
            await this.clock.nextTurn();
            if (flush.heldBytes > WATCH_FLUSH_HELD_MAX_BYTES) {
              flush.forget();
              this.#cutSlowest();
            }
          }
          if (this.#watchers.has(watcher)) steps += this.#deliver(watcher, flush);
        }
        this.#cutSlowest();
        // Clients take this flush before the next one counts as their backlog.
        steps = WATCH_STEPS_PER_TURN;
      }
      // Nobody is left who wants it.
      this.#emptyQueue();
    } catch (error) {
      this.endAll();
      this.lost(error);
    }
    // In the turn in which the queue was seen empty: a later publication begins a flush of its own.
    this.#flushing = false;
  }

  /** The oldest queued changes, as many as one chunk may hold, and at least one. The more wait, the larger is the chunk: each takes a turn. */
  #takeFlush(): ObservedChange[] {
    const charsMax = Math.min(WATCH_CROWDED_FLUSH_MAX_CHARS, Math.max(WATCH_FLUSH_MAX_CHARS, this.#queuedChars * CROWD_SHARE));
    let chars = 0;
    let count = 0;
    for (const { entry } of this.#queue) {
      if (count > 0 && chars + entry.data.length > charsMax) break;
      chars += entry.data.length;
      this.#queuedChars -= sizeOf(entry);
      count++;
    }
    return this.#queue.splice(0, count);
  }

  /** Answers how many steps of work that was. */
  #deliver(watcher: Watcher, flush: Flush): number {
    const wanted = flush.after(watcher.seen);
    if (wanted === undefined) return 0;
    const before = watcher.seen;
    const { relay } = watcher.sink;
    watcher.seen = flush.revision;
    const { bytes, steps } = flush.bytesFor(watcher, wanted);
    if (bytes.length === 0) relay?.passed(flush.revision);
    else if (!relay) this.#write(watcher, bytes);
    else if (relay.hasCredit()) watcher.sink.write(bytes, flush.revision);
    else {
      watcher.seen = NOT_BEGUN;
      relay.behind(before);
    }
    return steps + 1;
  }

  /** What the watcher had not taken before counts: a single large chunk is no backlog. */
  #write(watcher: Watcher, bytes: Uint8Array): void {
    const backlog = watcher.backlog === 0 ? 0 : watcher.sink.backlogBytes();
    if (backlog <= WATCH_BACKLOG_MAX_BYTES) watcher.catchUpBytes = 0;
    else if (backlog > WATCH_BACKLOG_MAX_BYTES + watcher.catchUpBytes) {
      this.#cut(watcher);
      return;
    }
    watcher.sink.write(bytes);
    watcher.backlog = watcher.sink.backlogBytes();
  }

  #cut(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    watcher.sink.abort("the watcher fell behind; watch again from the last resourceVersion");
  }

  /** Slow watchers hold what they have not taken. Those of a cohort share it; the sum over cohorts is bounded, however many there are. */
  #cutSlowest(): void {
    const slowest = new Map<string, { watcher: Watcher; held: number }>();
    let sum = 0;
    for (const watcher of this.#watchers) {
      if (watcher.backlog <= watcher.catchUpBytes) continue;
      watcher.backlog = watcher.sink.backlogBytes();
      const held = watcher.backlog - watcher.catchUpBytes;
      const other = slowest.get(watcher.cohort)?.held ?? 0;
      if (held <= other) continue;
      slowest.set(watcher.cohort, { watcher, held });
      sum += held - other;
    }
    if (sum <= WATCH_HELD_MAX_BYTES) return;
    const [first] = [...slowest.values()].sort((a, b) => b.held - a.held);
    if (!first) return;
    this.#cut(first.watcher);
    this.#cutSlowest();
  }

  /** Ends every watch properly, for a graceful stop of the object. */
  endAll(): void {
    for (const watcher of this.#watchers) watcher.sink.end();
    this.#watchers.clear();
    this.#emptyQueue();
  }

  #emptyQueue(): void {
    this.#queue = [];
    this.#queuedChars = 0;
  }

  /** Bookmarks, probes and timeouts. Runs only while somebody reads a stream, which keeps the object awake anyway: an object with Workers' watches sleeps. */
  async #tick(): Promise<void> {
    this.#ticking = true;
    while (this.#watchers.tended > 0) {
      await this.clock.sleep(WATCH_TICK_MS);
      const now = this.clock.now();
      for (const watcher of [...this.#watchers]) this.#tend(watcher, now);
    }
    this.#ticking = false;
  }

  #tend(watcher: Watcher, now: number): void {
    if (watcher.sink.relay) return;
    if (now >= watcher.nextSignAt) {
      watcher.nextSignAt = nextSignOf(watcher, now);
      if (watcher.bookmarks) {
        void this.inOrder(() => this.#bookmark(watcher)).catch(() => undefined);
        // A look that comes late may find the end due, too. The next one ends the watch, behind its bookmark.
        return;
      }
      watcher.sink.probe();
    }
    if (now >= watcher.endsAt && this.#watchers.delete(watcher)) watcher.sink.end();
  }

  /** Names the watcher's own place: a revision of a flush that has not reached it would lose the changes up to there. */
  #bookmark(watcher: Watcher): void {
    if (!this.#watchers.has(watcher) || watcher.seen === NOT_BEGUN) return;
    const bookmark = watcher.view.bookmark(watcher.seen, false, !watcher.columnsSent);
    watcher.columnsSent = true;
    this.#write(watcher, frameBytes(bookmark));
  }
}

/** The part of the waiting text that one flush takes. */
const CROWD_SHARE = 1 / 16;

/** About every minute, and once shortly before the end; never again after that. */
export function nextSignOf({ endsAt }: Pick<WatchRequest, "endsAt">, now: number): number {
  const last = endsAt - BOOKMARK_BEFORE_END_MS;
  return now >= last ? Infinity : Math.min(now + WATCH_BOOKMARK_INTERVAL_MS, last);
}

/** Changes that are handed out together. */
class Flush {
  readonly revision: number;
  readonly #encoded = new Map<string, Uint8Array>();
  #heldBytes = 0;

  /** `changes` in the order of their revisions; at least one */
  constructor(private readonly changes: readonly ObservedChange[]) {
    this.revision = changes.at(-1)?.entry.revision ?? 0;
  }

  /** of the bytes that are kept for further watchers of a cohort */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The next watcher of each cohort has its bytes made anew. */
  forget(): void {
    this.#encoded.clear();
    this.#heldBytes = 0;
  }

  /** The place of the first change after `revision`; undefined = there is none. */
  after(revision: number): number | undefined {
    if (this.revision <= revision) return undefined;
    const first = this.changes.findIndex(({ entry }) => entry.revision > revision);
    return first < 0 ? undefined : first;
  }

  /** What the watcher gets of the changes from the place `from` on, and how many steps of work that took. */
  bytesFor(watcher: Watcher, from: number): { bytes: Uint8Array; steps: number } {
    const key = `${from}\n${watcher.columnsSent}\n${watcher.cohort}`;
    const shared = this.#encoded.get(key);
    if (shared) {
      if (shared.length > 0) watcher.columnsSent = true;
      return { bytes: shared, steps: 0 };
    }
    const changes = this.changes.slice(from);
    const bytes = encodeChanges(watcher, changes);
    this.#encoded.set(key, bytes);
    this.#heldBytes += bytes.length;
    return { bytes, steps: Math.ceil(changes.length / CHANGES_PER_STEP) };
  }
}

/** Encoding so many changes takes about as long as writing one chunk. */
const CHANGES_PER_STEP = 8;

function cohortOf({ view, filter }: WatchRequest): string {
  const { range, selector = "" } = filter;
  return JSON.stringify([view.id, range.from, range.to, selector]);
}

function sizeOf({ data, before }: HistoryEntry): number {
  return data.length + before.length;
}

function encodeChanges(watcher: Watcher, changes: readonly ObservedChange[]): Uint8Array {
  const frames = new FrameBuffer();
  for (const change of changes) {
    const seen = seenThrough(watcher.filter, change);
    if (!seen) continue;
    frames.add(watcher.view.event(seen.type, seen.data, !watcher.columnsSent));
    watcher.columnsSent = true;
  }
  return frames.take();
}
