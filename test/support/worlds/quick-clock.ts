import type { Clock } from "../../../src/core/base/ports";
import { MADE_AT } from "./checked-cluster";

/** Waits cost no time and move the clock. It begins an hour after the objects of checked-cluster.ts were made. */
export function quickClock(): Clock & { waited: number } {
  const clock = {
    waited: 0,
    now: () => MADE_AT + 3_600_000 + clock.waited,
    sleep: (ms: number) => Promise.resolve(void (clock.waited += ms)),
    after: (ms: number, work: () => void) => {
      clock.waited += ms;
      queueMicrotask(work);
      return () => undefined;
    },
    nextTurn: () => Promise.resolve(),
  };
  return clock;
}
