/** When time alone gives the Coordinator something to do. */
import { leastOf } from "../../../core/base/extremes";
import type { CoordinatorState } from "./coordinator-storage";
import { lookTimes } from "./handoff-rules";

/** The times (ms) at which fences and closings end. Both end by themselves, so that what was lost in a crash does not last. */
export function endTimes({ cidrs, owners }: Pick<CoordinatorState, "cidrs" | "owners">): number[] {
  return [...cidrs.map(({ fencedUntil }) => fencedUntil), ...owners.map(({ closedUntil }) => closedUntil)].filter((at) => at > 0);
}

/** The next time (ms) after now, or earlier if it was missed, at which the rows have to be looked at. */
export function nextLook(state: CoordinatorState, nowMs: number): number {
  return leastOf([...endTimes(state), ...state.handoffs.flatMap(lookTimes).filter((at) => at > nowMs)]);
}
