/** How a watch is refused. */
import { errorFrame } from "../meta/watch-event";
import type { Status } from "../meta/status";

/** A revision before the history is an ERROR event of a watch that begins, as upstream. Undefined: any other refusal is an HTTP error. */
export function refusedWatchFrame(status: Status): string | undefined {
  return status.reason === "Expired" ? errorFrame(status) : undefined;
}
