/** Passes at most once in a period, however many pokes come. The first one begins at once. */
import type { Clock } from "../../core/base/ports";
import { type Pass, type PassResult, RETRY_MAX_MS } from "../../controllers/controller";

/** Longer waits are cut: an alarm may ring too early, and the pass names the rest. */
const WAIT_MAX_MS = 24 * 60 * 60_000;
/** The first wait of a pass that left work; each further one is twice as long, up to RETRY_MAX_MS. */
const RETRY_BASE_MS = 2_000;

/**
 * A poke within the period after the beginning of a pass waits for the period's end. The alarm is not kept waiting, as it rings when the pass before
 * asked it to. It is set once, however many pokes come. A pass that leaves work is repeated after a wait that no poke shortens below the period.
 */
export function spacedPass(clock: Pick<Clock, "now">, periodMs: number, pass: () => Promise<PassResult>): Pass {
  let begunAt = -Infinity;
  let alarmAt = Infinity;
  let retries = 0;
  const askFor = (atMs: number): PassResult => {
    alarmAt = atMs;
    return { left: false, againAt: atMs };
  };
  return async (isPoked) => {
    const now = clock.now();
    const nextAt = begunAt + periodMs;
    // A clock that was set back keeps nobody waiting.
    if (isPoked && now >= begunAt && now < nextAt) return alarmAt <= nextAt ? { left: false } : askFor(nextAt);
    begunAt = now;
    // After a pass that fails, the loop's own alarm asks for the next one.
    alarmAt = -Infinity;
    const { left, againAt } = await pass();
    if (left) return askFor(clock.now() + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** retries++));
    retries = 0;
    if (againAt !== undefined) return askFor(Math.min(againAt, clock.now() + WAIT_MAX_MS));
    alarmAt = Infinity;
    return { left };
  };
}
