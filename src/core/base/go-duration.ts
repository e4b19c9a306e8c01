/** Durations as Go prints and reads them: `0`, `500ms`, `1s`, `1m30s`, `1.5h`. */

const MS_OF: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;

/** Milliseconds, fractions among them; undefined = the text is no duration, or a negative one. */
export function parseGoDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!WHOLE.test(text)) return undefined;
  let ms = 0;
  for (const [, number = "", unit = ""] of text.matchAll(PART)) ms += Number(number) * (MS_OF[unit] ?? 0);
  return ms;
}
