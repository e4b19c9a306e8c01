/**
 * JSON with every digit of its integers. An integer beyond 2^53 goes through JSON.parse and JSON.stringify as a string behind a mark that no other string
 * begins with. A reviver would learn the source of each number from newer engines, and is called for every value: three times the work.
 */

/** Digits beyond which no integer is read exactly: they cost more than they say. */
const INTEGER = /^-?[1-9]\d{15,399}$/;
const LONG_MIN = 16;
const QUOTE = 34;
const BACKSLASH = 92;
const HASH = 35;
const MINUS = 45;

/** JSON.parse, but integers beyond 2^53 are bigints. Throws as JSON.parse does. */
export function parseMarked(text: string): unknown {
  const tokens = longIntegers(text);
  if (tokens.length === 0) return JSON.parse(text);
  // A text may also spell the mark by escapes.
  const mark = markFor(text.includes("\\u00") ? JSON.stringify(JSON.parse(text)) : text);
  let marked = "";
  let kept = 0;
  for (const { start, end } of tokens) {
    marked += `${text.slice(kept, start)}"${mark}${text.slice(start, end)}"`;
    kept = end;
  }
  let value: unknown;
  try {
    value = JSON.parse(marked + text.slice(kept));
  } catch {
    return JSON.parse(text);
  }
  return withIntegers(value, mark);
}

/** Where integers beyond 2^53 stand as values. In a text that is no JSON, quotes around them do not make it one. */
function longIntegers(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === MINUS || isDigit(code)) {
      const start = i;
      while (i + 1 < text.length && isOfNumber(text.charCodeAt(i + 1))) i++;
      if (i + 1 - start < LONG_MIN) continue;
      const token = text.slice(start, i + 1);
      if (INTEGER.test(token) && !Number.isSafeInteger(Number(token)) && !isName(text, i + 1)) found.push({ start, end: i + 1 });
    }
  }
  return found;
}

/** Index of the closing quote; the length of the text when there is none. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  return i;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** `0-9 . e E + -` */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 46 || code === 69 || code === 101 || code === 43 || code === MINUS;
}

/** Whether a colon follows. No number is a name, and a string in its place would be one. */
function isName(text: string, end: number): boolean {
  let i = end;
  while (" \t\r\n".includes(text.charAt(i)) && i < text.length) i++;
  return text.charAt(i) === ":";
}

/** The value with an integer for each marked text. Objects and lists are changed in place. */
function withIntegers(value: unknown, mark: string): unknown {
  if (typeof value === "string") return value.charCodeAt(0) === HASH && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const before: unknown = value[i];
      const after = withIntegers(before, mark);
      if (after !== before) value[i] = after;
    }
    return value;
  }
  const object = value as Record<string, unknown>;
  for (const name in object) {
    const before = object[name];
    const after = withIntegers(before, mark);
    // Assignment of `__proto__` would change nothing.
    if (after !== before) Object.defineProperty(object, name, { value: after, writable: true, enumerable: true, configurable: true });
  }
  return object;
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

/** `#0:`, with the first number that no string in the text begins with. Short, because each integer gets it. */
function markFor(text: string): string {
  const taken = new Set<string>();
  for (const [, number = ""] of text.matchAll(/"#(\d+):/g)) taken.add(number);
  let free = 0;
  while (taken.has(String(free))) free++;
  return `#${free}:`;
}
