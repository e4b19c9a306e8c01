/** When a loop of the agent tries again what has failed. */
import type { Random } from "../../../core/base/ports";
import type { ElectorClock } from "../../elector/term";
import { RETRY_MS_MAX } from "./api-client";

const RETRY_MS_MIN = 500;
const DOUBLINGS_MAX = 8;

export class Attempts {
  #failures = 0;
  #begunMs = -Infinity;

  constructor(
    private readonly clock: Pick<ElectorClock, "steady">,
    private readonly random: Pick<Random, "next">,
  ) {}

  begin(): void {
    this.#begunMs = this.clock.steady();
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** How long to rest now, in milliseconds. Attempts begin at most 5 s apart: one that took its time, as of a server that is mute, has rested meanwhile. */
  failed(): number {
    return Math.max(0, this.#begunMs + retryMs(++this.#failures, this.random) - this.clock.steady());
  }
}

/** The pause after the `failures`th failure in a row, from 1: at most 5 s, and spread, so that many agents do not come back at once. */
function retryMs(failures: number, random: Pick<Random, "next">): number {
  return Math.min(RETRY_MS_MIN * 2 ** Math.min(failures - 1, DOUBLINGS_MAX), RETRY_MS_MAX) * (1 + random.next());
}
