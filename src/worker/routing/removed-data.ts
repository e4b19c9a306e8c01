/**
 * A local server whose data folder was removed refuses every request until it stops. The files are still open and take writes that are lost with the
 * process, so no write is acknowledged.
 *
 * Reached through the cron handler (stop-signal.ts), which no client can call.
 */
import { serviceUnavailable, type Status } from "../../api/meta/status";
import { RETRY_AFTER_SECONDS } from "../http/limits";

let isRemoved = false;

export function noteRemovedData(): void {
  isRemoved = true;
}

/** What every request is answered once the data was removed. */
export function removedData(): Status | undefined {
  return isRemoved ? serviceUnavailable("the data of the server was removed; the server stops", RETRY_AFTER_SECONDS) : undefined;
}
