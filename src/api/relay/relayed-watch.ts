/**
 * One client's watch in the Worker. It follows a feed of its store, alone or with others. What needs a timer it does by itself: bookmarks, probes and the
 * end of its time. So the store may sleep (rule 28).
 *
 * It goes on by itself when its feed ends: with another feed that has its place, or over a new socket, from the store's history. What is no longer in the
 * history is the watch's end with 410, as upstream. Only a start that was broken off cannot be resumed: the connection is cut then.
 *
 * Everything that touches the platform runs in the watch's own request, in `run`. Others only write to its sink and wake it.
 */
import { EndableWait } from "../../core/base/endable-wait";
import type { Clock, Random } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import { serviceUnavailable, type Status } from "../meta/status";
import type { CollectionRequest } from "../rpc/store";
import { frameBytes } from "../store/hub/frame-buffer";
import type { View } from "../store/hub/view";
import { nextSignOf, type WatchSink } from "../store/hub/watch-hub";
import { WATCH_BACKLOG_MAX_BYTES } from "../store/state/limits";
import { refusedWatchFrame } from "../store/watch/refused-watch";
import { Feed, type Follower, NO_PLACE, type OpenedSocket } from "./feed";
import type { Feeds, NotOpened } from "./feeds";
import {
  CLIENT_BACKLOG_BYTES,
  REOPEN_MAX_MS,
  REOPEN_PAUSE_MS,
  REOPEN_SERVED_MS,
  REQUEST_DELIVERIES_MAX,
  ROOM_LOOK_MAX_MS,
  WATCH_OPENING_MS,
  WATCH_SILENT_MS,
  WATCH_TEND_MS,
} from "./limits";

export interface RelayedWatchPorts {
  clock: Clock;
  random: Random;
  feeds: Feeds;
  /** what the client asked for */
  request: CollectionRequest;
  /** watches with this name see the same bytes; undefined = nobody else sees the same */
  cohort: string | undefined;
  view: View;
  /** milliseconds since the epoch */
  endsAt: number;
  /** Asks the store, in the watch's own request. A Status is its refusal. */
  open(request: CollectionRequest): Promise<Result<OpenedSocket, Status>>;
}

/** Where the client's bytes go. */
export interface ClientSink extends WatchSink {
  /** does what waits for the watch's own request */
  flush?(): void;
}

export class RelayedWatch implements Follower {
  place: number;
  feed: Feed | undefined;
  readonly #ports: RelayedWatchPorts;
  #sink: ClientSink | undefined;
  /** its socket is of this watch's request */
  #owned: Feed | undefined;
  #isOpen = true;
  #isWoken = false;
  #resume: (() => void) | undefined;
  /** when the request last showed that it runs; later than now = it waits for the store */
  #heardAt: number;
  #nextSignAt: number;
  #hasWritten = false;
  /** of the start: however large it is, it is no backlog */
  #startBytes = 0;
  /** its request has made as many deliveries as it may */
  #isSpent = false;
  /** over the sockets it had before */
  #deliveries = 0;
  #lostAt: number | undefined;
  #retryAt = 0;
  #attempts = 0;
  /** where and when it got the feed that follows upon a lost one */
  #returned: { place: number; at: number } | undefined;
  /** why another watch at this place has got no socket */
  #notOpened: NotOpened | undefined;

  constructor(ports: RelayedWatchPorts) {
    this.#ports = ports;
    const { request, clock } = ports;
    const since = Number(request.resourceVersion || "0");
    this.place = (request.sendInitialEvents ?? since === 0) || since === 0 ? NO_PLACE : since;
    this.#heardAt = clock.now();
    this.#nextSignAt = nextSignOf(ports, clock.now());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The platform has dropped its request. */
  isSilent(): boolean {
    return this.#ports.clock.now() - this.#heardAt > WATCH_SILENT_MS;
  }

  /** How the store names itself; "" = it is not known. */
  get source(): string {
    return this.feed?.source ?? this.#owned?.source ?? "";
  }

  /**
   * Finds or opens the feed. `sink` is made when the watch begins, before its first byte. A Status is the store's refusal. Rejects as `open` does, be it the
   * one of another watch that it has waited for. Then `run` must be called.
   */
  async begin(sink: () => ClientSink): Promise<Result<void, Status>> {
    const { request, cohort, feeds } = this.#ports;
    while (cohort !== undefined && this.place !== NO_PLACE && this.#isOpen) {
      const feed = feeds.find(cohort, this.place);
      if (feed) {
        this.#sink = sink();
        feed.follow(this);
        return ok(undefined);
      }
      if (!feeds.isOpening(cohort, this.place, this)) break;
      await this.#pause(WATCH_TEND_MS);
      const why = this.#notOpened;
      if (why && "error" in why) throw why.error;
      if (why) return err(why.refusal);
    }
    return this.#open(request, () => (this.#sink = sink()));
  }

  /** In the watch's own request, until the watch is over. `looked` is called at each look around. Never rejects. */
  async run(looked: () => void): Promise<void> {
    while (this.#isOpen) {
      await this.#pause(this.#dueInMs());
      this.#owned?.tend();
      this.#sink?.flush?.();
      if (!this.#isOpen) break;
      looked();
      this.#tend(this.#ports.clock.now());
      if (this.#isOpen && !this.feed) await this.#goOn();
    }
    this.#owned?.end();
    // Its client is told, whoever has ended the watch.
    this.#sink?.end();
    this.#sink?.flush?.();
  }

  wake(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  notOpened(place: number, why: NotOpened): void {
    if (!this.feed && place === this.place) this.#notOpened = why;
  }

  take(bytes: Uint8Array): void {
    const sink = this.#sink;
    if (!sink || !this.#isOpen) return;
    this.#hasWritten = true;
    if (this.place === NO_PLACE) this.#startBytes += bytes.length;
    // A sink that does not see what its client takes gets so much and no more.
    if (sink.isBlind && sink.backlogBytes() > WATCH_BACKLOG_MAX_BYTES + this.#startBytes) this.end();
    else sink.write(bytes);
  }

  hasRoom(): boolean {
    const sink = this.#sink;
    return !sink || sink.isBlind === true || sink.backlogBytes() <= CLIENT_BACKLOG_BYTES;
  }

  /** Ends the body properly: the client watches again from its last revision. */
  end(): void {
    if (!this.#isOpen) return;
    this.#sink?.end();
    this.leave();
  }

  /** The client is gone. Repeats do nothing. */
  leave(): void {
    if (!this.#isOpen) return;
    const { cohort, feeds } = this.#ports;
    this.#isOpen = false;
    this.feed?.leave(this);
    if (cohort !== undefined) feeds.leave(cohort, this);
    this.wake();
  }

  /** Its request was dropped: it is forgotten, and so is what it owned. If it runs after all, its client's body ends. */
  forget(): void {
    this.leave();
    this.#owned?.end();
  }

  #abort(reason: string): void {
    this.#sink?.abort(reason);
    this.leave();
  }

  #adopt(socket: OpenedSocket): void {
    const { clock, cohort, feeds } = this.#ports;
    // One that it had opened and left would be tended by nobody: its followers open one of their own.
    if (this.#owned) {
      this.#deliveries += this.#owned.deliveries;
      this.#owned.end();
    }
    const feed: Feed = new Feed(socket, this.place, {
      clock,
      ...(cohort === undefined ? {} : { kept: feeds.kept }),
      owner: this,
      moved: () => {
        if (cohort !== undefined) feeds.join(cohort);
      },
      ended: () => {
        if (cohort !== undefined) feeds.remove(cohort, feed);
      },
    });
    this.#owned = feed;
    if (cohort !== undefined) feeds.add(cohort, feed);
    feed.follow(this);
    socket.listen(
      (frame) => feed.receive(frame),
      () => feed.end(),
    );
  }

  /** One at a time for each place of a cohort: the others wait, and come along. Rejects as the port does. */
  async #open(request: CollectionRequest, begins: () => void): Promise<Result<void, Status>> {
    const { clock, cohort, feeds, open } = this.#ports;
    const { place } = this;
    this.#heardAt = clock.now() + WATCH_OPENING_MS;
    if (cohort !== undefined) feeds.beginOpening(cohort, place, this);
    let why: NotOpened | undefined;
    try {
      const opened = await open(request);
      if (!opened.ok) {
        why = { refusal: opened.error };
        return opened;
      }
      if (this.#isOpen) {
        begins();
        this.#adopt(opened.value);
        return ok(undefined);
      }
      opened.value.close();
      return err(serviceUnavailable("the client has left", 1));
    } catch (error) {
      why = { error };
      throw error;
    } finally {
      this.#heardAt = clock.now();
      if (cohort !== undefined) feeds.endOpening(cohort, place, this, why);
    }
  }

  #dueInMs(): number {
    const now = this.#ports.clock.now();
    const retryAt = this.feed || this.#retryAt <= now ? Infinity : this.#retryAt;
    const roomMs = this.feed || this.hasRoom() ? Infinity : ROOM_LOOK_MAX_MS;
    return Math.max(0, Math.min(WATCH_TEND_MS, this.#nextSignAt - now, this.#ports.endsAt - now, retryAt - now, roomMs));
  }

  async #pause(forMs: number): Promise<void> {
    const { clock } = this.#ports;
    if (!this.#isWoken && forMs > 0) {
      const wait: EndableWait<void> = new EndableWait(clock, forMs, () => wait.end());
      this.#resume = wait.end;
      await wait.over();
      this.#resume = undefined;
    }
    this.#isWoken = false;
    this.#heardAt = clock.now();
  }

  #tend(now: number): void {
    const { request, view, endsAt, cohort } = this.#ports;
    const owned = this.#owned;
    if (owned && this.#deliveries + owned.deliveries >= REQUEST_DELIVERIES_MAX) {
      this.#isSpent = true;
      owned.end();
    }
    if (now >= this.#nextSignAt) {
      this.#nextSignAt = nextSignOf(this.#ports, now);
      if (request.allowWatchBookmarks && this.place !== NO_PLACE) {
        // The bookmark of a Table brings the columns. The store hears so as it is asked anew; otherwise it would send them once more.
        if (cohort === undefined && !this.#hasWritten) owned?.end();
        const bookmark = view.bookmark(this.place, false, !this.#hasWritten);
        this.take(frameBytes(bookmark));
      } else this.#sink?.probe();
    } else if (now >= endsAt) this.end();
  }

  /** Without a feed. */
  async #goOn(): Promise<void> {
    const { clock, cohort, feeds } = this.#ports;
    if (this.place === NO_PLACE) return this.#abort("the store was reset");
    const now = clock.now();
    const { returned, why } = this.#heard();
    if (returned && (this.place > returned.place || now - returned.at >= REOPEN_SERVED_MS)) this.#isBack();
    this.#lostAt ??= now;
    // A client that takes nothing waits at its place, and is looked at again.
    if (!this.hasRoom()) return;
    const feed = cohort === undefined ? undefined : feeds.find(cohort, this.place);
    if (feed) {
      this.#return(now);
      return feed.follow(this);
    }
    if (why) this.#failed(why);
    if (!this.#isOpen || now < this.#retryAt) return;
    if (cohort !== undefined && feeds.isOpening(cohort, this.place, this)) return;
    if (this.#isSpent) {
      if (cohort === undefined || now - this.#lostAt >= REOPEN_MAX_MS) return this.end();
      return feeds.wait(cohort, this);
    }
    // Before anything is awaited: whoever comes to the same end of the feed waits for this one.
    if (cohort !== undefined) feeds.beginOpening(cohort, this.place, this);
    try {
      if (await this.#isRead()) await this.#openAgain();
    } finally {
      if (cohort !== undefined) feeds.endOpening(cohort, this.place, this);
    }
  }

  /** What has happened since it last looked. */
  #heard(): { returned: { place: number; at: number } | undefined; why: NotOpened | undefined } {
    const heard = { returned: this.#returned, why: this.#notOpened };
    this.#returned = this.#notOpened = undefined;
    return heard;
  }

  /** Only a write shows that a client is gone: the first one is noticed by its request, the second by its stream. */
  async #isRead(): Promise<boolean> {
    for (let probes = 0; probes < 2 && this.#isOpen; probes++) {
      this.#sink?.probe();
      await this.#ports.clock.nextTurn();
    }
    return this.#isOpen;
  }

  async #openAgain(): Promise<void> {
    const { clock, request } = this.#ports;
    const columns = this.#hasWritten ? { columnsSent: true as const } : {};
    const resumed = { ...request, ...columns, resourceVersion: String(this.place), resourceVersionMatch: "", sendInitialEvents: false };
    const why = await this.#open(resumed, () => this.#return(clock.now())).then(
      (opened) => (opened.ok ? undefined : { refusal: opened.error }),
      (error: unknown) => ({ error }),
    );
    if (this.#isOpen && why) this.#failed(why);
  }

  #failed(why: NotOpened): void {
    // The cluster is gone, or the code is wrong: its client hears it when it comes again.
    if ("error" in why) return this.end();
    const now = this.#ports.clock.now();
    const last = refusedWatchFrame(why.refusal, this.#ports.request.encoding);
    if (last) this.take(last);
    if (last || now - (this.#lostAt ?? 0) >= REOPEN_MAX_MS) return this.end();
    this.#waitLonger(now);
  }

  /** There is a feed again. Whether it serves is to be seen. */
  #return(now: number): void {
    this.#returned = { place: this.place, at: now };
    this.#waitLonger(now);
  }

  #waitLonger(now: number): void {
    const pauseMs = Math.min(REOPEN_MAX_MS, REOPEN_PAUSE_MS * 2 ** this.#attempts++);
    this.#retryAt = now + pauseMs / 2 + this.#ports.random.below(pauseMs / 2);
  }

  #isBack(): void {
    this.#lostAt = undefined;
    this.#attempts = 0;
    this.#retryAt = 0;
  }
}
