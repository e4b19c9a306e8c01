/** Go's duration text ("32s", "1m30s"), as the `timeout` query parameter carries it. Source: Go time.ParseDuration. */

const UNIT_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export type Duration = { ok: true; ms: number } | { ok: false; message: string };

/** `ms` of a duration text, or Go's error text. */
export function parseDuration(text: string): Duration {
  const quoted = JSON.stringify(text);
  const negative = text.startsWith("-");
  let rest = negative || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "0") return { ok: true, ms: 0 };
  if (rest === "") return { ok: false, message: `time: invalid duration ${quoted}` };
  let ms = 0;
  while (rest !== "") {
    const number = /^(\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return { ok: false, message: `time: invalid duration ${quoted}` };
    rest = rest.slice(number.length);
    const unit = /^[^\d.]+/.exec(rest)?.[0];
    if (unit === undefined) return { ok: false, message: `time: missing unit in duration ${quoted}` };
    const factor = UNIT_MS[unit];
    if (factor === undefined) return { ok: false, message: `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}` };
    ms += Number(number) * factor;
    rest = rest.slice(unit.length);
  }
  return { ok: true, ms: negative ? -ms : ms };
}
