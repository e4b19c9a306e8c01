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
export function parseInstant(text: string): Instant | undefined {
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
  if (text[end] === "." || text[end] === ",") {
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

/** The layouts of metav1.Time and metav1.MicroTime, in Go's way of writing them. */
const LAYOUTS = { time: "2006-01-02T15:04:05Z07:00", microTime: "2006-01-02T15:04:05.000000Z07:00" } as const;

/** Elements of both layouts up to the second, the lowest and highest value of each, and Go's name of its range. The day's is judged last. */
const ELEMENTS = [
  { as: "2006", min: 0, max: 9999, range: "" },
  { as: "-" },
  { as: "01", min: 1, max: 12, range: "month" },
  { as: "-" },
  { as: "02", min: 0, max: 99, range: "" },
  { as: "T" },
  { as: "15", min: 0, max: 23, range: "hour" },
  { as: ":" },
  { as: "04", min: 0, max: 59, range: "minute" },
  { as: ":" },
  { as: "05", min: 0, max: 59, range: "second" },
] as const;
const SIX_DIGITS = /^.{19}[.,]\d{6}(?!\d)/;
const FRACTION = { time: /^(?:[.,]\d+)?/, microTime: /^[.,]\d{6}/ } as const;

/** Whether the fraction of a readable time has exactly six digits, as that of a MicroTime must. */
export function hasMicroFraction(text: string): boolean {
  return SIX_DIGITS.test(text);
}

/**
 * Why a text is no metav1.Time or metav1.MicroTime, in the words of Go's time.Parse; undefined = it is one. A MicroTime's fraction has exactly
 * six digits. Source: Go's time/format.go.
 */
export function timeProblem(text: string, kind: "time" | "microTime"): string | undefined {
  const told = `parsing time ${JSON.stringify(text)}`;
  const unread = (rest: string, as: string): string => `${told} as "${LAYOUTS[kind]}": cannot parse ${JSON.stringify(rest)} as "${as}"`;
  let at = 0;
  for (const element of ELEMENTS) {
    const end = at + element.as.length;
    if ("range" in element) {
      const value = digits(text, at, end);
      if (value < 0) return unread(text.slice(at), element.as);
      if (value < element.min || value > element.max) return `${told}: ${element.range} out of range`;
    } else if (text.slice(at, end) !== element.as) return unread(text.slice(at), element.as);
    at = end;
  }
  const fraction = FRACTION[kind].exec(text.slice(at));
  if (!fraction) return unread(text.slice(at), ".000000");
  at += fraction[0].length;
  const zone = /^(?:Z|[+-]\d\d:\d\d)/.exec(text.slice(at));
  if (!zone) return unread(text.slice(at), "Z07:00");
  const extra = text.slice(at + zone[0].length);
  if (extra !== "") return `${told}: extra text: ${JSON.stringify(extra)}`;
  if (Number(zone[0].slice(1, 3)) > 24) return `${told}: time zone offset hour out of range`;
  if (Number(zone[0].slice(4, 6)) > 59) return `${told}: time zone offset minute out of range`;
  const day = digits(text, 8, 10);
  if (day < 1 || day > daysOf(digits(text, 0, 4), digits(text, 5, 7))) return `${told}: day out of range`;
  return parseInstant(text) === undefined ? `${told}: year out of range` : undefined;
}

/** Seconds of Go's zero time, 0001-01-01T00:00:00Z. Protobuf writes it as an empty message, the JSON of a MicroTime as null. */
const ZERO_TIME_SECONDS = -62135596800;

export function isZeroTime({ seconds, nanos }: Instant): boolean {
  return seconds === ZERO_TIME_SECONDS && nanos === 0;
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
