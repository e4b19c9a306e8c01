/**
 * The resync: from time to time a controller looks at every Service again, although nothing told of it, as upstream's informers make it do. So what an
 * earlier look missed is put right without a change of the Service.
 *
 * - Cron asks for passes of a cluster that is in use; one that comes late enough begins a resync. A resync sets no alarm.
 * - Whatever changes goes first: a resync fills the rounds that have room.
 * - Where nothing was read since the last resync, another one would find the same. So a cluster at rest costs nothing.
 */
import type { DueService } from "../sources/service-members";
import type { KeptRows } from "../../controllers/followed/kept-rows";

const KIND = "resync";
/** From the end of a resync to the beginning of the next one. */
export const RESYNC_MS = 3_600_000;

interface Ended {
  /** in milliseconds since the epoch */
  readonly at: number;
  /** how far the stores had been read when the resync began */
  readonly position: string;
}

export class Resync {
  #ended: Ended | undefined;
  /** the Services that are still to be looked at; undefined = no resync is under way */
  #left: Iterator<string> | undefined;
  #position = "";

  /** @param serviceKeys of all Services; they may come and go while they are read: those that come wait for a look anyway */
  constructor(
    private readonly rows: KeptRows,
    private readonly serviceKeys: () => Iterable<string>,
  ) {}

  load(): void {
    for (const [, ended] of this.rows.saved<Ended>(KIND)) this.#ended = ended;
  }

  get isUnderWay(): boolean {
    return this.#left !== undefined;
  }

  /**
   * The next Services, at most `limit`; none while no resync is due.
   *
   * @param waits says of a Service that it waits for a look anyway: it has its own time
   */
  take(nowMs: number, limit: number, waits: (key: string) => boolean): DueService[] {
    if (!this.#left && !this.#begins(nowMs)) return [];
    this.#left ??= this.serviceKeys()[Symbol.iterator]();
    const taken: DueService[] = [];
    while (taken.length < limit) {
      const next = this.#left.next();
      if (next.done) {
        this.#end(nowMs);
        break;
      }
      if (!waits(next.value)) taken.push({ key: next.value, isNew: false, changedAt: undefined });
    }
    return taken;
  }

  #begins(nowMs: number): boolean {
    this.#position = this.rows.position;
    if (!this.#ended) {
      // The first looks of all are as good as a resync.
      this.#end(nowMs);
      return false;
    }
    const { at, position } = this.#ended;
    // Behind now it ended, unless the clock was set back.
    return this.#position !== position && (nowMs >= at + RESYNC_MS || nowMs < at);
  }

  #end(nowMs: number): void {
    this.#left = undefined;
    this.#ended = { at: nowMs, position: this.#position };
    this.rows.put(KIND, "", this.#ended);
  }
}
