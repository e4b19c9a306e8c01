/** What the runner asks while it waits for the server to become ready. */
import { HOOKS } from "../../src/worker/system/start-hooks";

/** A first repair of this length is that of a large cluster after its history was lost: the server works meanwhile. */
const REPAIR_WAIT_MS = 30_000;

/** The path of readiness. In the end the first repair is left out, which goes on by itself: however long it takes, it must not keep a server from its start. */
export function readyPath(waitedMs: number): string {
  return waitedMs < REPAIR_WAIT_MS ? "/readyz" : `/readyz?exclude=poststarthook/${HOOKS.repair}`;
}
