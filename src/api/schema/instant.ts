/**
 * RFC 3339 text and the numbers behind it, for metav1.Time and metav1.MicroTime, years 0000 to 9999.
 * Proleptic Gregorian calendar, UTC; no leap seconds, as in Go.
 */

/** An instant: whole seconds since 1970 (negative before) and nanoseconds in [0, 1e9). */
export interface Instant {
  seconds: number;
  nanos: number;
}

/** 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z: the first and last second of RFC 3339. */
const FIRST_SECOND = -62167219200;
const LAST_SECOND = 253402300799;
/** 400 years are a whole number of weeks and leap cycles; adding them keeps Date.UTC away from its two-digit years. */
const CYCLE_YEARS = 400;
const CYCLE_MS = 146097 * 86_400_000;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const ZERO = 48;
const NINE = 57;

/** The number that the digits text[from, to) write, or -1. */
function digits(text: string, from: number, to: number): number {
  if (to > text.length) return -1;
  let value = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code < ZERO || code > NINE) return -1;
    value = value * 10 + (code - ZERO);
  }
  return value;
}

function daysOf(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
}

/** Seconds east of UTC that text[from..] writes (`Z`, `+02:00`), or undefined. */
function offsetSeconds(text: string, from: number): number | undefined {
  const sign = text[from];
  if (sign === "Z") return text.length === from + 1 ? 0 : undefined;
  if ((sign !== "+" && sign !== "-") || text.length !== from + 6 || text[from + 3] !== ":") return undefined;
  const hours = digits(text, from + 1, from + 3);
  const minutes = digits(text, from + 4, from + 6);
  if (hours < 0 || hours > 24 || minutes < 0 || minutes > 59) return undefined;
  return (sign === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** RFC 3339 with or without a fraction; undefined when the text is not such a time. Digits past the nanosecond are dropped. */
export function parseTime(text: string): Instant | undefined {
  if (text[4] !== "-" || text[7] !== "-" || text[10] !== "T" || text[13] !== ":" || text[16] !== ":") return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return undefined;
  let end = 19;
  let nanos = 0;
  if (text[end] === ".") {
    const start = ++end;
    for (let scale = 100_000_000; end < text.length; end++, scale = Math.floor(scale / 10)) {
      const code = text.charCodeAt(end);
      if (code < ZERO || code > NINE) break;
      nanos += (code - ZERO) * scale;
    }
    if (end === start) return undefined;
  }
  const offset = offsetSeconds(text, end);
  if (offset === undefined) return undefined;
  const seconds = (Date.UTC(year + CYCLE_YEARS, month - 1, day, hour, minute, second) - CYCLE_MS) / 1000 - offset;
  return seconds < FIRST_SECOND || seconds > LAST_SECOND ? undefined : { seconds, nanos };
}

/** Whether an instant can be written as RFC 3339 text. */
export function isWritable(instant: Instant): boolean {
  return instant.seconds >= FIRST_SECOND && instant.seconds <= LAST_SECOND && instant.nanos >= 0 && instant.nanos < 1e9;
}

/** `2006-01-02T15:04:05Z`; the instant is writable. */
export function formatTime(instant: Instant): string {
  return `${new Date(instant.seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** `2006-01-02T15:04:05.000000Z`; the instant is writable; nanoseconds are cut to microseconds. */
export function formatMicroTime(instant: Instant): string {
  const micros = Math.floor(instant.nanos / 1000);
  return `${new Date(instant.seconds * 1000).toISOString().slice(0, 19)}.${micros.toString().padStart(6, "0")}Z`;
}
