/**
 * Fairness among the connections of the local runtime. It looks at its sockets only when it has nothing else to do, and clients that answer at once keep it
 * busy: the others wait, and after 5 s it closes them like idle ones. It has to look before a timer fires. So after some requests the next ones wait for
 * one.
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
