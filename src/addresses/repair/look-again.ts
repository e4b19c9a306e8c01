/** Suspects: what could not be put right is looked at again, later each time. */
import type { RepairPorts } from "./repair-ports";

/** From the first failure to the next look; then twice as long each time, up to the maximum. */
export const LOOK_AGAIN_MS = 1_000;
const LOOK_AGAIN_MAX_MS = 60_000;
/** A problem that nobody can act on is reported once in this time. */
const REPORT_AGAIN_MS = 60_000;

/**
 * Notes that something is left open.
 *
 * @param id `services/ns/name` or `ipaddresses/name`
 * @param reports whether the caller would report it
 * @returns whether the caller is to report it now
 */
export function lookAgain({ clock, storage }: Pick<RepairPorts, "clock" | "storage">, id: string, reports = false): boolean {
  const { attempts, toldAt } = storage.suspectTries(id);
  const now = clock.now();
  // A clock that was set back must not silence the report.
  const isReported = reports && (toldAt === 0 || now - toldAt >= REPORT_AGAIN_MS || now < toldAt);
  const dueAt = now + Math.min(LOOK_AGAIN_MAX_MS, LOOK_AGAIN_MS * 2 ** attempts);
  storage.suspectPut(id, dueAt, { attempts: attempts + 1, toldAt: isReported ? now : toldAt });
  return isReported;
}
