/** A source map without columns: a tenth of the length of one with them, and enough for stack traces. */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));
/** A digit has five bits, and a sixth where another digit follows. */
const BITS = 5;
const MORE = 2 ** BITS;

/** Where a line of the result comes from: the index of the source, its line and column, all from 0. */
type Place = [source: number, line: number, column: number];

/** `mappings` of a source map (ECMA-426). In the result a line has one segment: that of its beginning. */
export function lineMappings(mappings: string): string {
  const read: Place = [0, 0, 0];
  let written: Place = [0, 0, 0];
  return mappings
    .split(";")
    .map((line) => {
      let first: Place | undefined;
      for (const segment of line.split(",")) {
        const [, ...differences] = numbersOf(segment);
        if (differences.length < read.length) continue;
        for (const index of read.keys()) read[index] = (read[index] ?? 0) + (differences[index] ?? 0);
        first ??= [...read];
      }
      if (!first) return "";
      const segment = [0, ...first.map((value, index) => value - (written[index] ?? 0))].map(digitsOf).join("");
      written = first;
      return segment;
    })
    .join(";");
}

function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let number = 0;
  let factor = 1;
  for (const digit of segment) {
    const value = VALUES.get(digit) ?? 0;
    number += (value % MORE) * factor;
    factor *= MORE;
    if (value >= MORE) continue;
    // The lowest bit is the sign.
    numbers.push(number % 2 === 1 ? -(number - 1) / 2 : number / 2);
    number = 0;
    factor = 1;
  }
  return numbers;
}

function digitsOf(number: number): string {
  let rest = number < 0 ? -number * 2 + 1 : number * 2;
  let digits = "";
  do {
    const value = rest % MORE;
    rest = Math.floor(rest / MORE);
    digits += DIGITS.charAt(rest > 0 ? value + MORE : value);
  } while (rest > 0);
  return digits;
}
