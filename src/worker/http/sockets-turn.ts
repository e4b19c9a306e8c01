/**
 * Fairness among the connections of the local runtime. The runtime looks at its sockets only when it is idle, and clients that answer at once keep it busy.
 * The other connections wait, and after 5 s the runtime closes them as idle ones. It looks at all sockets before a timer fires, so after some requests the
 * next request waits for a timer.
 */
import type { Clock } from "../../core/base/ports";

/** Requests that begin at once between two timers. Fewer cost more timers; more let the others wait for longer. */
const AT_ONCE = 64;

let begun = 0;

/** What a request waits for before it begins; undefined = nothing. Those that have waited are not counted. */
export function socketsTurn(clock: Pick<Clock, "nextTurn">): Promise<void> | undefined {
  if (begun < AT_ONCE) {
    begun++;
    return undefined;
  }
  return clock.nextTurn().then(() => {
    begun = 0;
  });
}
