/**
 * Tells shards what they lack: one push at a time for each shard, so that one that hangs holds up no other.
 *
 * A push without an answer is not repeated before the next pass. The shard then gets everything: it may have taken the push, and anything that begins
 * before it would meet a gap, again and again where all answers are late. A push that met a gap is repeated at once, with everything as well.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Lack, ShardBooks } from "./shard-books";
import { compareCursors, type Cursor, type ShardChange } from "./shard-change";

/** After this time a shard has no answer any more. */
const PUSH_TIMEOUT_MS = 2_000;
/** Everything, and once more in a new epoch. */
const REPEATS_MAX = 2;

export interface ShardSenderPorts {
  clock: Pick<Clock, "after">;
  recorder: Recorder;
  books: ShardBooks;
  /** what the shard is told of what it lacks */
  change(shard: number, lack: Lack, to: Cursor): ShardChange;
  /** Puts what the books have on disk, and in the books what will be there then. Throws when that fails. */
  save(): void;
  /** tells a shard; answers what it has then, null = nothing. Makes a stub for one call. */
  push(shard: number, change: ShardChange): Promise<Cursor | null>;
}

export class ShardSender {
  readonly #sending = new Map<number, Promise<void>>();

  constructor(private readonly ports: ShardSenderPorts) {}

  /** Begins to tell the shards that lack anything. */
  begin(): void {
    for (const shard of this.ports.books.lacking) if (!this.#sending.has(shard)) void this.#send(shard);
  }

  /** Resolves when nobody is being told. Never rejects. */
  async end(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending.values());
  }

  /** Whether every shard has everything. */
  get isDone(): boolean {
    return this.#sending.size === 0 && this.ports.books.lacking.length === 0;
  }

  /** Tells one shard until it lacks nothing, or does not take it. Never rejects. */
  async #send(shard: number): Promise<void> {
    const { books, recorder } = this.ports;
    let lack: Lack | undefined;
    let end = (): void => undefined;
    this.#sending.set(shard, new Promise((resolve) => (end = resolve)));
    try {
      for (let repeats = 0; repeats <= REPEATS_MAX; repeats++) {
        this.ports.save();
        lack = books.take(shard);
        if (!lack) return;
        if (await this.#push(shard, lack)) repeats = -1;
        else books.putBack(shard, { ...lack, isWhole: true });
      }
    } catch (error) {
      if (lack) books.putBack(shard, { ...lack, isWhole: true });
      recorder.log("warn", "an object with the health of nodes could not be told what changed", { shard, error: String(error) });
    } finally {
      // In the turn of the last look: what the shard lacks from now on begins anew.
      this.#sending.delete(shard);
      end();
    }
  }

  /** Whether the shard has taken it. */
  async #push(shard: number, lack: Lack): Promise<boolean> {
    const { clock, books, change, push } = this.ports;
    const to = books.cursor;
    if (!to) return true;
    const has = await withTimeout(clock, PUSH_TIMEOUT_MS, push(shard, change(shard, lack, to)));
    const isDelivered = has !== null && books.delivered(shard, to, has);
    if (!isDelivered && has && compareCursors(has, books.cursor ?? to) > 0) books.beginAfter(has);
    return isDelivered;
  }
}
