/**
 * The time that refused clients are told to wait. It grows while refusals outnumber served requests. Upstream: util/flowcontrol,
 * droppedRequestsTracker.
 */
import { RETRY_AFTER_MAX_SECONDS } from "./queue-limits";

const SECOND_MS = 1_000;

export class Pressure {
  #second = 0;
  #refused = 0;
  #served = 0;
  #waitSeconds = 1;

  refuse(nowMs: number): void {
    this.#turn(nowMs);
    this.#refused++;
  }

  serve(nowMs: number): void {
    this.#turn(nowMs);
    this.#served++;
  }

  /** 1..RETRY_AFTER_MAX_SECONDS */
  waitSeconds(nowMs: number): number {
    this.#turn(nowMs);
    return this.#waitSeconds;
  }

  /** Each whole second doubles the wait, or halves it; seconds without a request halve it, too. */
  #turn(nowMs: number): void {
    const second = Math.floor(nowMs / SECOND_MS);
    if (second <= this.#second) return;
    const isHard = this.#refused > this.#served;
    const quiet = second - this.#second - 1;
    this.#waitSeconds = isHard ? Math.min(2 * this.#waitSeconds, RETRY_AFTER_MAX_SECONDS) : this.#waitSeconds / 2;
    this.#waitSeconds = Math.max(1, Math.floor(this.#waitSeconds / 2 ** Math.min(quiet, 10)));
    this.#second = second;
    this.#refused = this.#served = 0;
  }
}
