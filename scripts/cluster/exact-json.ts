/**
 * JSON of a cluster with every digit of its integers, on every Node. From 21 on, Node tells a reviver the source of a number, and parseJson does it.
 * Before, an integer beyond 2^53 travels through JSON.parse and JSON.stringify as a string with a mark that no text can know.
 */
import { randomUUID } from "node:crypto";
import { parseJson } from "../../src/core/encoding/exact-json";

const isExact = "rawJSON" in JSON;
const MARK = `integer ${randomUUID()} `;
/** a string, or what may be a number */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d{16,400}$/;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

/** JSON.parse, but integers beyond 2^53 are bigints. Throws as JSON.parse does. */
export function parseExact(text: string): unknown {
  if (isExact) return parseJson(text);
  const rounded: unknown = JSON.parse(text);
  const marked = text.replace(TOKEN, (token) =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${MARK}${token}"` : token,
  );
  if (marked === text) return rounded;
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** JSON.stringify, where a bigint is an integer with all its digits. */
export function printExact(value: object): string {
  if (isExact) return JSON.stringify(value);
  let marks = 0;
  const marked = JSON.stringify(value, function (this: Record<string, unknown>, key, member: unknown) {
    const own = this[key];
    if (typeof own !== "bigint") return member;
    marks++;
    return `${MARK}${own}`;
  });
  return marks === 0 ? marked : marked.replace(MARKED, "$1");
}
