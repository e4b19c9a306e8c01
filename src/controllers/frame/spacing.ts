/** Passes at most once in a period, however many pokes come. The first one begins at once. */
import type { Clock } from "../../core/base/ports";
import { type PassResult, RETRY_MAX_MS } from "./controller";

/** Longer waits are cut: an alarm may ring too early, and the pass names the rest. */
const WAIT_MAX_MS = 24 * 60 * 60_000;
/** The first wait of a pass that left work; each further one is twice as long, up to RETRY_MAX_MS. */
const RETRY_BASE_MS = 2_000;

/**
 * A poke within the period after the beginning of a pass waits for the period's end. The alarm is not kept waiting, as it rings when the pass before
 * asked it to. It is set once, however many pokes come. A pass that leaves work is repeated after a wait that no poke shortens below the period.
 */
export class Spacing {
  #begunAt = -Infinity;
  #alarmAt = Infinity;
  #retries = 0;

  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly periodMs: number,
  ) {}

  async run(isPoked: boolean, pass: () => Promise<PassResult>): Promise<PassResult> {
    const { clock, periodMs } = this;
    const now = clock.now();
    const nextAt = this.#begunAt + periodMs;
    // A clock that was set back keeps nobody waiting.
    if (isPoked && now >= this.#begunAt && now < nextAt) {
      return this.#alarmAt <= nextAt ? { left: false, isPutOff: true } : { ...this.#askFor(nextAt), isPutOff: true };
    }
    this.#begunAt = now;
    // After a pass that fails, the loop's own alarm asks for the next one.
    this.#alarmAt = -Infinity;
    const { left, againAt, ...result } = await pass();
    if (left) return { ...result, ...this.#askFor(clock.now() + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#retries++)) };
    this.#retries = 0;
    if (againAt !== undefined) return { ...result, ...this.#askFor(Math.min(againAt, clock.now() + WAIT_MAX_MS)) };
    this.#alarmAt = Infinity;
    return { ...result, left };
  }

  #askFor(atMs: number): PassResult {
    this.#alarmAt = atMs;
    return { left: false, againAt: atMs };
  }
}
