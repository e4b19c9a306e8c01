/** When fields were last written, by metadata.managedFields: the server's own time, kept with the object, so it outlives every start. */
import type { KubeObject } from "../meta/kubernetes";
import { parseTime } from "../meta/time";

/** A client may write managedFields, so a time may lie in the future. Such a one says nothing. */
const AHEAD_MAX_MS = 5_000;
/** The times have whole seconds, rounded down. */
const WITHIN_MS = 1_000;

/**
 * The latest time at which the field may have been written, in milliseconds since the epoch; undefined = no manager with a time has it. It is at most a
 * second late, or as late as the last other change by the field's manager. It is never early.
 *
 * @param path the keys of fieldsV1 that lead to the field, as ["f:spec", "f:renewTime"]
 */
export function lastWritten({ metadata }: KubeObject, path: readonly string[], nowMs: number): number | undefined {
  let latest: number | undefined;
  for (const { time, fieldsV1 } of metadata?.managedFields ?? []) {
    if (!has(fieldsV1, path)) continue;
    const at = parseTime(time);
    if (at === undefined || at > nowMs + AHEAD_MAX_MS) return undefined;
    latest = Math.max(latest ?? -Infinity, Math.floor(at / WITHIN_MS) * WITHIN_MS + WITHIN_MS);
  }
  return latest === undefined ? undefined : Math.min(latest, nowMs);
}

function has(fields: unknown, path: readonly string[]): boolean {
  let inner: unknown = fields;
  for (const key of path) {
    inner = typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined;
    if (inner === undefined) return false;
  }
  return true;
}
