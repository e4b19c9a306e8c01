/**
 * The lists that a store is sending in pieces. Each holds its next rows until the client takes them, so there are so many at most, and what they have
 * encoded ahead is bounded for all together. A list that takes long loses its place to the next one: upstream ends each list after a minute
 * (`--request-timeout`), however much its client has taken.
 */
import type { Clock } from "../../../core/base/ports";
import { LIST_TIME_MS, LISTS_ENCODED_AHEAD_BYTES } from "../state/limits";

export class StreamedLists {
  readonly #open = new Set<StreamedList>();
  #heldBytes = 0;

  /** @param max at the same time; 0 = any number, and none is counted */
  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly max: number,
    private readonly heldBytesMax = LISTS_ENCODED_AHEAD_BYTES,
  ) {}

  get size(): number {
    return this.#open.size;
  }

  /** The place of another list; undefined = there are too many. */
  begin(): StreamedList | undefined {
    if (this.max > 0 && this.#open.size >= this.max) this.#endOldest();
    if (this.max > 0 && this.#open.size >= this.max) return undefined;
    const list: StreamedList = new StreamedList(
      this.clock,
      (bytes) => this.#hold(bytes),
      () => this.#open.delete(list),
    );
    if (this.max > 0) this.#open.add(list);
    return list;
  }

  /** The one that began first, if it has had its time. */
  #endOldest(): void {
    const [oldest] = this.#open;
    if (oldest && Math.abs(this.clock.now() - oldest.begunAt) >= LIST_TIME_MS) oldest.lose("the list took too long, and another one waits");
  }

  /** Negative: lets go. Answers whether there was room. */
  #hold(bytes: number): boolean {
    if (bytes > 0 && this.#heldBytes + bytes > this.heldBytesMax) return false;
    this.#heldBytes += bytes;
    return true;
  }
}

/** One of them. */
export class StreamedList {
  /** in milliseconds since the epoch */
  readonly begunAt: number;
  #heldBytes = 0;
  #isOver = false;
  #onLoss: (reason: string) => void = () => undefined;

  constructor(
    clock: Pick<Clock, "now">,
    private readonly holdOfAll: (bytes: number) => boolean,
    private readonly ended: () => void,
  ) {
    this.begunAt = clock.now();
  }

  /** Nothing of it is to be sent any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the list may hold so many encoded bytes more. */
  hold(bytes: number): boolean {
    if (this.#isOver || !this.holdOfAll(bytes)) return false;
    this.#heldBytes += bytes;
    return true;
  }

  /** Encoded bytes are no longer held. */
  release(bytes: number): void {
    if (this.#isOver) return;
    this.#heldBytes -= bytes;
    this.holdOfAll(-bytes);
  }

  /** Who breaks the connection when the place is lost. */
  whenLost(onLoss: (reason: string) => void): void {
    this.#onLoss = onLoss;
  }

  /** The client has everything, or is gone. Repeats do nothing. */
  end(): void {
    if (this.#isOver) return;
    this.release(this.#heldBytes);
    this.#isOver = true;
    this.ended();
  }

  /** Breaks the list off. */
  lose(reason: string): void {
    if (this.#isOver) return;
    this.end();
    this.#onLoss(reason);
  }
}
