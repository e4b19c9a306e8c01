/**
 * Turns of reports about nodes. A report writes and costs as much as two or three health checks, and nobody waits for it. Where one thread serves all
 * requests, a crowd of reports would keep the checks waiting, and a load balancer takes a late answer for a dead node. So few reports are under way at
 * once, and the others let checks pass. They wait for a bounded time, and none is refused: an agent must not seem silent.
 */
import { FairQueue, type HeldSeats } from "../../access/fairness/fair-queue";
import type { Clock } from "../../core/base/ports";

/** The longest wait. Clients give a report some seconds, and two that are lost in a row make a node silent. */
const WAIT_MS = 2_000;
/** A report that the platform has dropped silently counts for one to two such periods. */
const PERIOD_MS = 10_000;

export class ReportTurns {
  readonly #queue: FairQueue;

  constructor(clock: Pick<Clock, "now" | "after">) {
    this.#queue = new FairQueue(clock, PERIOD_MS);
  }

  /** The turn of a report, to be ended; undefined = it has waited for long enough. `max`: reports under way at once; 0 = any number */
  begin(max: number, signal?: AbortSignal): HeldSeats | undefined | Promise<HeldSeats | undefined> {
    return this.#queue.begin({ kind: "writes", cluster: "", user: "", seats: 1, max, least: 0, waitMs: WAIT_MS, isExempt: false, signal });
  }
}
