/**
 * The watches of Workers, each over a socket that outlives the object's sleep (rules 26 to 28).
 *
 * - What must be known after a sleep is kept with the socket: the request, the store's incarnation, the cursor, and what was sent and taken. It is
 *   saved with each frame and each answer. So the object may leave memory at any time between two events.
 * - Events go out against credit (RELAY_WINDOW_BYTES). A watch without credit is its cursor: it costs no memory, and goes on from the history.
 * - An object that wakes hands over the history behind each cursor before any live event. Where history does not reach, or a socket's state is not
 *   this store's, the socket ends, and the Worker asks anew: it hears 410 then.
 * - No timer is left when all is told. Soon after changes that a watch does not see (WATCH_PROGRESS_MS), its Worker hears how far it is complete. A start
 *   that the client does not take is watched by a timer, because it is in memory alone.
 */
import { ok, type Result } from "../../../core/base/result";
import { expired, type Status } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest } from "../../rpc/store";
import { filterOf } from "../hub/collection-filter";
import type { Filter } from "../hub/filter";
import type { View } from "../hub/view";
import { viewOf } from "../hub/view-of";
import type { StartingWatch, WatchSink } from "../hub/watch-hub";
import { MISSED_CHANGES_STALLED_MS, WATCH_PROGRESS_FIRST_MS, WATCH_PROGRESS_MS } from "../state/limits";
import { HistoryLost } from "../state/snapshot";
import { nextChanges } from "./missed-changes";
import { refusedWatchFrame } from "./refused-watch";
import { readRelayAnswer, RELAY_WINDOW_BYTES, relayFrame, type RelayFrameKind } from "./relay-frames";
import { anyRoom, type BeginningRest, type BeginningRoom, NO_BEGINNING, type WatchBeginning, watchBeginning } from "./watch-beginning";
import { planOf, type WatchedStore, watchedCollection, type WatchPlan } from "./watch-plan";

/** The store's end of a socket. It is also the socket's name here. */
export interface WatchSocket {
  /** Throws when the socket is gone. */
  send(bytes: Uint8Array): void;
  close(code: number, reason: string): void;
  /** Keeps this for the object's next life in memory. What is too large is not kept: the watch ends with the sleep. */
  keep(state: KeptWatch): void;
}

/** What is kept with the socket. */
export interface KeptWatch {
  request: CollectionRequest;
  /** of the store */
  incarnation: string;
  /** every change up to this revision has been handed to the socket, and it knows that */
  cursor: number;
  /** the objects at the first `cursor` have been handed over, all of them */
  isStarted: boolean;
  /** the Worker knows that the start is complete */
  isLive: boolean;
  columnsSent: boolean;
  /** bytes of events */
  sent: number;
  taken: number;
}

interface SocketWatch {
  readonly socket: WatchSocket;
  readonly filter: Filter;
  readonly view: View;
  readonly kept: KeptWatch;
  entry: StartingWatch;
  /** of the start, not sent yet */
  pieces: readonly Uint8Array[];
  /** of a large start, not read yet */
  rest?: BeginningRest | undefined;
  /** the hub delivers what comes */
  isLive: boolean;
  isCatchingUp: boolean;
  /** no change up to here is left for the watch; never before the cursor */
  passed: number;
  cancelStall: () => void;
}

/** RFC 6455: the store has left the watch, and the Worker asks anew. */
const GOING_AWAY = 1001;

const NOTHING = new Uint8Array();

export type SocketWatchesStore = WatchedStore & { readonly incarnation: string };

export class SocketWatches {
  readonly #watches = new Map<WatchSocket, SocketWatch>();
  #isTelling = false;
  #toldAt = -Infinity;

  /** `shown`: the representation that a request asks for */
  constructor(
    private readonly store: SocketWatchesStore,
    private readonly shown: (request: CollectionRequest) => ResourceDefinition,
    private readonly room: BeginningRoom = anyRoom(store),
  ) {}

  /** Looks at a request. A Status refuses it; otherwise the result begins the watch over its socket, and is to be called in the same turn. */
  prepare(request: CollectionRequest): Result<(socket: WatchSocket) => void, Status> {
    const plan = planOf(this.store, request, this.shown(request));
    if (!plan.ok) return plan;
    // Read before there is a socket: what fails here is the answer to the request.
    const beginning = plan.value.fromNow ? watchBeginning(this.store, plan.value, request, this.room) : ok(NO_BEGINNING);
    if (!beginning.ok) return beginning;
    return ok((socket) => this.#begin(request, plan.value, beginning.value, socket));
  }

  /** The object came back to memory, and the socket with it. `kept`: what was kept there; undefined = nothing. */
  wake(socket: WatchSocket, kept: KeptWatch | undefined): void {
    const filter = kept && filterOf(kept.request, this.shown(kept.request));
    // A start was in memory alone.
    if (kept?.incarnation !== this.store.incarnation || !kept.isStarted || !filter?.ok || !this.#isPast(kept.cursor)) {
      close(socket, "the store does not know what the socket was given");
      return;
    }
    const view = viewOf(this.shown(kept.request), kept.request, () => this.store.clock.now());
    this.#serveSoon(this.#enter(socket, { filter: filter.value, view }, kept));
  }

  /** Whether this store has been there: one that was set back has not (rule 26). */
  #isPast(revision: number): boolean {
    return revision <= this.store.revision && !this.store.isOfAnotherLife(revision);
  }

  /** The Worker says what its clients have taken. */
  heard(socket: WatchSocket, message: unknown): void {
    const watch = this.#watches.get(socket);
    const taken = readRelayAnswer(message);
    if (!watch || taken === undefined) return;
    const { kept } = watch;
    kept.taken = Math.min(kept.sent, Math.max(kept.taken, taken));
    socket.keep(kept);
    watch.cancelStall();
    if (!watch.isLive) void this.#serve(watch);
  }

  /** The Worker has left, or the socket is lost. */
  closed(socket: WatchSocket): void {
    const watch = this.#watches.get(socket);
    if (!watch) return;
    this.#forget(watch);
    watch.entry.stop();
  }

  #begin(request: CollectionRequest, plan: WatchPlan, { pieces, rest }: WatchBeginning, socket: WatchSocket): void {
    const kept: KeptWatch = {
      request,
      incarnation: this.store.incarnation,
      cursor: plan.fromNow ? plan.head : plan.after,
      isStarted: pieces.length === 0 && !rest,
      isLive: false,
      columnsSent: request.columnsSent ?? false,
      sent: 0,
      taken: 0,
    };
    const watch = this.#enter(socket, plan, kept);
    watch.pieces = pieces;
    watch.rest = rest;
    rest?.whenLost(() => watch.entry.end());
    socket.keep(kept);
    this.#serveSoon(watch);
  }

  #enter(socket: WatchSocket, { filter, view }: Pick<SocketWatch, "filter" | "view">, kept: KeptWatch): SocketWatch {
    const nothing = (): void => undefined;
    const entry: StartingWatch = { isOpen: () => false, begin: nothing, tellCohort: nothing, end: nothing, stop: nothing };
    const fresh = { pieces: [], isLive: false, isCatchingUp: false, passed: kept.cursor, cancelStall: nothing };
    const watch: SocketWatch = { socket, filter, view, kept, entry, ...fresh };
    this.#watches.set(socket, watch);
    watch.entry = this.store.hub.addStarting({
      asked: watchedCollection(kept.request, filter),
      filter,
      view,
      sink: this.#sinkOf(watch),
      bookmarks: false,
      endsAt: Infinity,
      catchUpBytes: 0,
    });
    return watch;
  }

  #sinkOf(watch: SocketWatch): WatchSink {
    const end = (): void => {
      this.#forget(watch);
      close(watch.socket, "the store ends the watch");
    };
    return {
      write: (bytes, through = watch.kept.cursor) => this.#send(watch, "through", through, bytes),
      backlogBytes: () => 0,
      end,
      abort: end,
      probe: () => undefined,
      relay: {
        hasCredit: () => hasCredit(watch.kept),
        behind: (seen) => {
          watch.isLive = false;
          watch.passed = seen;
        },
        passed: (revision) => {
          watch.passed = revision;
          this.#tellLater();
        },
        tell: () => this.#tell(watch),
      },
    };
  }

  /** Once everything before is durable and published. */
  #serveSoon(watch: SocketWatch): void {
    void this.store.afterPublication(() => void this.#serve(watch)).catch(() => watch.entry.end());
  }

  /** Hands over what the watch is behind, as far as its credit goes. Ends it where the history cannot be read. */
  async #serve(watch: SocketWatch): Promise<void> {
    if (watch.isCatchingUp) return;
    watch.isCatchingUp = true;
    try {
      while (watch.entry.isOpen() && hasCredit(watch.kept)) {
        if (watch.rest && watch.pieces.length === 0) await this.#readOn(watch, watch.rest);
        else if (this.#step(watch)) break;
        await this.store.clock.nextTurn();
      }
    } catch (error) {
      if (error instanceof HistoryLost) this.#forgotten(watch);
      watch.entry.end();
    }
    watch.isCatchingUp = false;
    if (watch.entry.isOpen() && !watch.kept.isStarted) this.#awaitClient(watch);
  }

  /** The next page of a large start. */
  async #readOn(watch: SocketWatch, rest: BeginningRest): Promise<void> {
    const piece = await rest.next();
    if (piece) {
      watch.pieces = [piece];
      return;
    }
    watch.rest = undefined;
    watch.kept.isStarted = true;
  }

  /**
   * The store forgets faster than the client reads. Behind a complete start the Worker asks anew from there. One that has not all objects must go on nowhere:
   * its client is told that the revision is too old, as upstream tells it.
   */
  #forgotten(watch: SocketWatch): void {
    const { entry, kept } = watch;
    if (entry.isOpen() && !kept.isStarted) {
      const status = expired(`too old resource version: ${kept.cursor} (${this.store.floor})`);
      this.#send(watch, "last", kept.cursor, refusedWatchFrame(status, kept.request.encoding) ?? NOTHING);
    } else if (entry.isOpen() && !kept.isLive) this.#send(watch, "through", kept.cursor, NOTHING);
    entry.end();
  }

  /** True: there is nothing more to do, and the hub goes on in this turn. */
  #step(watch: SocketWatch): boolean {
    const { hub, floor } = this.store;
    const { kept } = watch;
    const [piece, ...rest] = watch.pieces;
    if (piece) {
      watch.pieces = rest;
      kept.isStarted = rest.length === 0 && !watch.rest;
      this.#send(watch, "start", kept.cursor, piece);
      return false;
    }
    if (watch.passed < hub.published) {
      if (watch.passed < floor) {
        this.#forgotten(watch);
        return true;
      }
      const { bytes, through } = nextChanges(this.store, watch, watch.passed, kept.columnsSent);
      if (bytes.length > 0) this.#send(watch, "through", through, bytes);
      watch.passed = through;
    }
    // In the turn in which the history was read: the hub has what is published later.
    if (watch.passed < hub.published) return false;
    const isNew = !kept.isLive;
    if (isNew) {
      kept.isLive = true;
      this.#send(watch, "live", watch.passed, NOTHING);
    }
    watch.isLive = true;
    watch.entry.begin(watch.passed, kept.columnsSent);
    if (isNew) watch.entry.tellCohort();
    if (watch.passed > kept.cursor) this.#tellLater();
    return true;
  }

  #tellLater(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    const { clock } = this.store;
    const restMs = this.#toldAt + WATCH_PROGRESS_MS - clock.now();
    // A clock that was set back makes nobody wait for longer.
    clock.after(Math.min(WATCH_PROGRESS_MS, Math.max(WATCH_PROGRESS_FIRST_MS, restMs)), () => {
      this.#isTelling = false;
      this.#toldAt = clock.now();
      for (const watch of [...this.#watches.values()]) this.#tell(watch);
    });
  }

  #tell(watch: SocketWatch): void {
    if (watch.isLive && watch.passed > watch.kept.cursor) this.#send(watch, "through", watch.passed, NOTHING);
  }

  #send(watch: SocketWatch, kind: RelayFrameKind, revision: number, bytes: Uint8Array): void {
    const { kept, socket } = watch;
    kept.cursor = revision;
    watch.passed = Math.max(watch.passed, revision);
    kept.sent += bytes.length;
    kept.columnsSent ||= bytes.length > 0;
    try {
      socket.send(relayFrame({ kind, revision, bytes }));
      socket.keep(kept);
    } catch {
      // The Worker went away between two events.
      this.closed(socket);
    }
  }

  /** A start is in memory alone, so the object stays awake for it; but not for a client that takes nothing. */
  #awaitClient(watch: SocketWatch): void {
    watch.cancelStall();
    watch.cancelStall = this.store.clock.after(MISSED_CHANGES_STALLED_MS, () => watch.entry.end());
  }

  #forget(watch: SocketWatch): void {
    watch.cancelStall();
    watch.rest?.end();
    this.#watches.delete(watch.socket);
  }
}

function hasCredit({ sent, taken }: KeptWatch): boolean {
  return sent - taken < RELAY_WINDOW_BYTES;
}

function close(socket: WatchSocket, reason: string): void {
  try {
    socket.close(GOING_AWAY, reason);
  } catch {
    // The Worker was faster.
  }
}
