/** How a watch is refused. */
import type { Status } from "../../meta/status";
import type { Encoding } from "../../rpc/store";
import { frameBytes } from "../hub/frame-buffer";
import { errorEvent } from "../hub/view-of";

/** A revision before the history is an ERROR event of a watch that begins, as upstream. Undefined: any other refusal is an HTTP error. */
export function refusedWatchFrame(status: Status, encoding?: Encoding): Uint8Array | undefined {
  return status.reason === "Expired" ? frameBytes(errorEvent(status, encoding)) : undefined;
}
