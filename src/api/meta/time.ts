/** Times as the API prints them: metav1.Time in whole seconds, metav1.MicroTime with six digits, UTC. */

/** The text of the second that was asked for last: every write prints the present one, some of them three times. */
let printed = { second: NaN, text: "" };

/** `2006-01-02T15:04:05Z`; `ms` since the Unix epoch. */
export function rfc3339Seconds(ms: number): string {
  const second = Math.floor(ms / 1_000);
  if (second !== printed.second) printed = { second, text: `${new Date(ms).toISOString().slice(0, -5)}Z` };
  return printed.text;
}

/** `2006-01-02T15:04:05.000000Z`; `ms` since the Unix epoch. */
export function rfc3339Micros(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}

/** Milliseconds since the epoch of an RFC 3339 text, undefined when absent or unreadable. */
export function parseTime(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text === "") return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
