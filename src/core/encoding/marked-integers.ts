/**
 * JSON with every digit of its integers, for engines that do not tell a reviver the source of a number (Node before 21). An integer beyond 2^53 goes
 * through JSON.parse and JSON.stringify as a string behind a mark: one more `#` in a row than the rest of the text has.
 */

/** a string, or what may be a number */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d{16,400}$/;

/** JSON.parse, but integers beyond 2^53 are bigints. Throws as JSON.parse does. */
export function parseMarked(text: string): unknown {
  const rounded: unknown = JSON.parse(text);
  // Printed again, because a text may also spell the mark by escapes.
  const mark = markFor(JSON.stringify(rounded));
  const marked = text.replace(TOKEN, (token) =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  );
  if (marked === text) return rounded;
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

/** JSON.stringify, where a bigint is an integer with all its digits. */
export function printMarked(value: object): string {
  const plain = printWith(value, () => 0);
  const mark = markFor(plain);
  let marks = 0;
  const marked = printWith(value, (integer) => {
    marks++;
    return `${mark}${integer}`;
  });
  return marks === 0 ? plain : marked.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

function printWith(value: object, shown: (integer: bigint) => unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, member: unknown) {
    const own = this[key];
    return typeof own === "bigint" ? shown(own) : member;
  });
}

function markFor(text: string): string {
  let longest = 0;
  for (const [run] of text.matchAll(/#+/g)) longest = Math.max(longest, run.length);
  return "#".repeat(longest + 1);
}
