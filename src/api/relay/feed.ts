/**
 * What one socket brings from a store, for all watches of this isolate that see the same (rule 29).
 *
 * - A follower stands at the revision up to which its client has everything. The feed keeps (low, high] without a gap, so that whoever stands in
 *   there may come to it.
 * - What came is written to every follower, in turns; what comes meanwhile is joined. The request that opened the socket does that work.
 * - The store is told what was taken when every follower has room. One that has none for FEED_PATIENCE_MS leaves, and goes on by itself from its place,
 *   so that it holds up nobody.
 * - At the end every follower has what had come, so all stand at one place and one of them opens the next socket for all.
 */
import type { Clock } from "../../core/base/ports";
import { RELAY_ANSWER_BYTES, RELAY_WINDOW_BYTES, relayAnswer, type RelayFrame } from "../store/watch/relay-frames";
import { FEED_KEPT_BYTES, FEED_PATIENCE_MS, FEED_WRITES_PER_TURN, FEEDS_KEPT_BYTES, ROOM_LOOK_MAX_MS, ROOM_LOOK_MS } from "./limits";

/** The Worker's end of a socket to a store. Only the request that opened it may use it; in another one its calls throw. */
export interface OpenedSocket {
  /** the header by which the store names itself (store/list/list-source.ts) */
  readonly source: string;
  /** of the store */
  readonly incarnation: string;
  /** Begins to deliver: frames in order, then once the end. */
  listen(frame: (frame: RelayFrame) => void, ended: () => void): void;
  /** Throws when the socket is gone. */
  send(text: string): void;
  /** Throws when the socket is gone. */
  close(): void;
}

/** A watch that is fed. */
export interface Follower {
  /** its client has everything up to this revision; NO_PLACE before its start is complete */
  place: number;
  /** set by the feed; undefined = it is released, and goes on from its place */
  feed: Feed | undefined;
  take(bytes: Uint8Array): void;
  /** what it was given was the last */
  end(): void;
  /** whether its client has taken most of what it was given */
  hasRoom(): boolean;
  /** Soon, in its own request, it looks what is to do. */
  wake(): void;
}

export const NO_PLACE = Infinity;

/** Events after one revision, up to another. */
interface FeedChunk {
  after: number;
  through: number;
  bytes: Uint8Array;
}

/** What all feeds of an isolate keep. */
export interface KeptBytes {
  sum: number;
}

export interface FeedPorts {
  clock: Clock;
  /** absent = nobody else may come, and nothing is kept */
  kept?: KeptBytes;
  /** the watch whose request opened the socket; woken, it calls `tend` */
  owner: Pick<Follower, "wake">;
  /** The feed has gone on. */
  moved(): void;
  /** Called once. */
  ended(): void;
}

export class Feed {
  readonly followers = new Set<Follower>();
  readonly #socket: OpenedSocket;
  readonly #ports: FeedPorts;
  #chunks: FeedChunk[] = [];
  #keptBytes = 0;
  #low: number;
  #high: number;
  #isOpen = true;
  #isRetired = false;
  #isFlushing = false;
  #receivedBytes = 0;
  #answeredBytes = 0;
  /** looks again whether every follower has room: in the request of the socket */
  #cancelLook: (() => void) | undefined;
  /** looks in a row that found somebody without room */
  #looks = 0;
  /** who had no room when the window was full, and since when */
  #slow: { since: number; followers: readonly Follower[] } | undefined;
  #deliveries = 0;
  /** what a follower at `after` lacks; most followers stand at one place */
  #joined: FeedChunk | undefined;

  /** `since`: the changes after it come; NO_PLACE = the objects come first, or the revision is not known yet */
  constructor(socket: OpenedSocket, since: number, ports: FeedPorts) {
    this.#socket = socket;
    this.#ports = ports;
    this.#low = since;
    this.#high = since;
  }

  get source(): string {
    return this.#socket.source;
  }

  get owner(): Pick<Follower, "wake"> {
    return this.#ports.owner;
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.#isRetired;
  }

  /** writes to clients: about what the request has cost */
  get deliveries(): number {
    return this.#deliveries;
  }

  /** Whether a watch at this place misses nothing here. */
  takes(place: number): boolean {
    if (!this.isOpen || place < this.#low || place > this.#high || this.#high === NO_PLACE) return false;
    return this.#chunks.every(({ after, through }) => place <= after || place >= through);
  }

  follow(follower: Follower): void {
    this.followers.add(follower);
    follower.feed = this;
    this.#deliver(follower);
  }

  /** The watch goes, at whatever place. */
  leave(follower: Follower): void {
    if (!this.followers.delete(follower)) return;
    follower.feed = undefined;
    if (this.followers.size === 0) this.#retire();
    else if (this.#cancelLook) this.owner.wake();
  }

  /** To be called in the request of the socket, as each frame comes. */
  receive({ kind, revision, bytes }: RelayFrame): void {
    if (!this.#isOpen) return;
    this.#receivedBytes += bytes.length;
    if (kind === "last") {
      this.#give(bytes);
      for (const follower of [...this.followers]) follower.end();
      return;
    }
    if (this.#high === NO_PLACE) {
      if (bytes.length > 0) this.#give(bytes);
      if (kind !== "start") {
        this.#low = this.#high = revision;
        for (const follower of this.followers) follower.place = revision;
      }
    } else if (revision > this.#high) {
      if (bytes.length > 0) {
        this.#chunks.push({ after: this.#high, through: revision, bytes });
        this.#keep(bytes.length);
      }
      this.#high = revision;
    }
    void this.#flush();
  }

  /** In the request of the socket, when its watch was woken. */
  tend(): void {
    if (this.#isRetired) this.end();
    else if (!this.#isFlushing) this.#answer();
  }

  /** Everything that came is handed out, and the followers go on from there. Repeats do nothing. */
  end(): void {
    if (!this.#isOpen) return;
    for (const follower of [...this.followers]) this.#deliver(follower);
    this.#close();
  }

  #close(): void {
    this.#isOpen = false;
    this.#chunks = [];
    this.#keep(-this.#keptBytes);
    // Its timer is of the socket's request, and this may be another one: it finds nothing to do.
    this.#cancelLook = undefined;
    this.#ports.ended();
    for (const follower of [...this.followers]) this.#release(follower);
    try {
      this.#socket.close();
    } catch {
      // It is gone, or of a request that is: then the runtime closes it.
    }
  }

  /** Hands all followers over to the feed, where that is possible without a gap. True: it is done. */
  moveTo(other: Feed): boolean {
    const isMovable = this.isOpen && !this.#isFlushing && other.takes(this.#high) && other.#socket.incarnation === this.#socket.incarnation;
    if (!isMovable || [...this.followers].some((follower) => follower.place !== this.#high || !follower.hasRoom())) return false;
    for (const follower of [...this.followers]) {
      this.followers.delete(follower);
      other.follow(follower);
    }
    this.#retire();
    return true;
  }

  #retire(): void {
    if (!this.isOpen) return;
    this.#isRetired = true;
    this.owner.wake();
  }

  #release(follower: Follower): void {
    this.followers.delete(follower);
    follower.feed = undefined;
    follower.wake();
  }

  /** Never rejects. What fails here would fail again: then the followers go on from their places without this feed. */
  async #flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      let writes = this.#deliveries;
      for (let isDone = false; !isDone;) {
        isDone = true;
        for (const follower of [...this.followers]) {
          if (follower.place >= this.#high) continue;
          isDone = false;
          this.#deliver(follower);
          if (this.#deliveries - writes < FEED_WRITES_PER_TURN) continue;
          await this.#ports.clock.nextTurn();
          if (!this.#isOpen) return;
          writes = this.#deliveries;
        }
      }
      this.#isFlushing = false;
      this.#forget();
      this.#answer();
      this.#ports.moved();
    } catch {
      if (this.#isOpen) this.#close();
    }
  }

  #deliver(follower: Follower): void {
    const after = follower.place;
    if (after >= this.#high || !this.followers.has(follower)) return;
    const bytes = this.#bytesAfter(after);
    follower.place = this.#high;
    if (bytes.length === 0) return;
    this.#deliveries++;
    follower.take(bytes);
  }

  #give(bytes: Uint8Array): void {
    for (const follower of [...this.followers]) {
      this.#deliveries++;
      follower.take(bytes);
    }
  }

  #bytesAfter(place: number): Uint8Array {
    const joined = this.#joined;
    if (joined?.after === place && joined.through === this.#high) return joined.bytes;
    const wanted = this.#chunks.filter(({ after }) => after >= place).map(({ bytes }) => bytes);
    const [only] = wanted;
    const bytes = only && wanted.length === 1 ? only : together(wanted);
    this.#joined = { after: place, through: this.#high, bytes };
    return bytes;
  }

  #keep(bytes: number): void {
    this.#keptBytes += bytes;
    if (this.#ports.kept) this.#ports.kept.sum += bytes;
  }

  /** All followers have everything. */
  #forget(): void {
    this.#joined = undefined;
    const { kept } = this.#ports;
    const max = kept && kept.sum <= FEEDS_KEPT_BYTES ? FEED_KEPT_BYTES : 0;
    while (this.#keptBytes > max) {
      const oldest = this.#chunks.shift();
      if (!oldest) return;
      this.#keep(-oldest.bytes.length);
      this.#low = oldest.through;
    }
  }

  #answer(): void {
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    if (!this.isOpen || this.#receivedBytes - this.#answeredBytes < RELAY_ANSWER_BYTES) return;
    const slow = [...this.followers].filter((follower) => !follower.hasRoom());
    if (slow.length === 0) {
      this.#slow = undefined;
      this.#looks = 0;
      this.#answeredBytes = this.#receivedBytes;
      try {
        this.#socket.send(relayAnswer(this.#answeredBytes));
      } catch {
        this.end();
      }
      return;
    }
    const { clock } = this.#ports;
    // A watch alone holds up nobody: its store waits with it.
    const isFull = this.#receivedBytes - this.#answeredBytes >= RELAY_WINDOW_BYTES;
    if (this.followers.size < 2 || !isFull) this.#slow = undefined;
    // However often it is looked in between.
    else this.#slow ??= { since: clock.now(), followers: slow };
    const patienceMs = this.#slow ? this.#slow.since + FEED_PATIENCE_MS - clock.now() : Infinity;
    if (patienceMs <= 0) {
      this.#part();
      return;
    }
    const lookMs = Math.min(ROOM_LOOK_MAX_MS, ROOM_LOOK_MS * 2 ** this.#looks);
    this.#cancelLook = clock.after(Math.min(lookMs, patienceMs), () => {
      this.#looks++;
      this.#answer();
    });
  }

  #part(): void {
    const { followers: slow = [] } = this.#slow ?? {};
    this.#slow = undefined;
    if (this.followers.size > 1) {
      for (const follower of slow) if (this.followers.has(follower) && !follower.hasRoom()) this.#release(follower);
    }
    if (this.followers.size === 0) this.#retire();
    else this.#answer();
  }
}

function together(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
