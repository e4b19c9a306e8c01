/** Ages as the server prints them in tables (upstream apimachinery pkg/util/duration.HumanDuration). */
import { parseTime } from "../meta/time";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** `NxMy`, without the second part when it is zero */
function twoParts(durationMs: number, unit: number, letter: string, subunit: number, subletter: string): string {
  const rest = Math.floor((durationMs % unit) / subunit);
  return `${Math.floor(durationMs / unit)}${letter}${rest === 0 ? "" : `${rest}${subletter}`}`;
}

/** A duration in milliseconds with at most two units. Slightly negative ones (skewed clocks) print as `0s`, others as `<invalid>`. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / SECOND);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  if (durationMs < 10 * MINUTE) return twoParts(durationMs, MINUTE, "m", SECOND, "s");
  if (durationMs < 3 * HOUR) return `${Math.floor(durationMs / MINUTE)}m`;
  if (durationMs < 8 * HOUR) return twoParts(durationMs, HOUR, "h", MINUTE, "m");
  if (durationMs < 48 * HOUR) return `${Math.floor(durationMs / HOUR)}h`;
  if (durationMs < 8 * DAY) return twoParts(durationMs, DAY, "d", HOUR, "h");
  if (durationMs < 2 * YEAR) return `${Math.floor(durationMs / DAY)}d`;
  if (durationMs < 8 * YEAR) return twoParts(durationMs, YEAR, "y", DAY, "d");
  return `${Math.floor(durationMs / YEAR)}y`;
}

/** The Age cell: time since an RFC 3339 text, `<unknown>` when unset. */
export function ageSince(text: string | null | undefined, now: number): string {
  const since = parseTime(text);
  return since === undefined ? "<unknown>" : humanDuration(now - since);
}
