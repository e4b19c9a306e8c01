/**
 * JSON whose integers keep all their digits. A number holds integers up to 2^53 exactly; Kubernetes has fields of 64 bits. A larger integer is a bigint
 * here, and every JSON.stringify writes it as it stood. For a smaller bigint JSON.stringify still throws: objects have none, so somebody forgot to print
 * an address, an offset or a size as text.
 */

import { parseMarked, printMarked } from "./marked-integers";

/** What newer engines have and TypeScript does not know yet (TC39: JSON.parse source text access). Node has it from 21 on. */
interface ExactJson {
  rawJSON?(text: string): unknown;
}

/** An integer of 64 bits as `parseJson` reads it: a bigint beyond 2^53. The two compare with `<`; arithmetic needs `Number(…)` first. */
export type Int64 = number | bigint;

const INT64_MAX = 2n ** 63n - 1n;
/** 2^53 has 16 digits. */
const LONG = /\d{16}/;

const exact = JSON as ExactJson;

/** JSON.parse, but integers beyond 2^53 are bigints. Throws as JSON.parse does. */
export function parseJson(text: string): unknown {
  if (!LONG.test(text)) return JSON.parse(text);
  try {
    return parseMarked(text);
  } catch (error) {
    // What was read is visited recursively. So deep a text is refused wherever its depth counts.
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

/** JSON.stringify with every digit of bigints. Programs need it: where they run JSON.stringify may have to round. */
export function printJson(value: object): string {
  return exact.rawJSON ? JSON.stringify(value) : printMarked(value);
}

/** An integer as `parseJson` reads it: a bigint only beyond 2^53. */
export function integerOf(value: bigint): Int64 {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** Whether a value is an integer of 64 bits that is exact. */
export function isInt64(value: unknown): value is Int64 {
  return typeof value === "bigint" ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value);
}

/** The integer of 64 bits that is nearest to the value. */
export function nearestInt64(value: Int64): Int64 {
  if (typeof value === "number" || isInt64(value)) return value;
  return value > 0n ? INT64_MAX : -INT64_MAX - 1n;
}

Object.defineProperty(BigInt.prototype, "toJSON", {
  configurable: true,
  writable: true,
  value(this: bigint): unknown {
    if (typeof integerOf(this.valueOf()) === "number") throw new TypeError("Do not know how to serialize a BigInt");
    return exact.rawJSON ? exact.rawJSON(this.toString()) : Number(this);
  },
});
