/**
 * Quantities: `100m`, `1.5Gi`, `1e3`. Source of the rules: upstream apimachinery pkg/api/resource (quantity.go, suffix.go, amount.go).
 *
 * A server keeps each quantity in one canonical form: no fraction, and the largest suffix of the family that the client used. All arithmetic is
 * exact. Upstream keeps some texts as they came, for example `1.500` and `+1`; so does this file.
 */
import { err, ok, type Result } from "../../core/base/result";

type QuantityFormat = "decimal" | "binary" | "exponent";

/** digits × 10^exponent. A bigint for each amount would cost ten times as much, and most answers are decided by the digits. */
interface QuantityValue {
  readonly family: QuantityFormat;
  readonly isNegative: boolean;
  /** without zeros at the front: "" is the amount 0 */
  readonly digits: string;
  readonly exponent: number;
  /** upstream remembers the text of the client; as long as nothing is rounded, that text is the quantity */
  readonly keepsText: boolean;
}

/** The smallest unit that is kept, as a power of ten. Lists of resources keep thousandths, all other quantities billionths. */
export type SmallestUnit = -3 | -9;

const WRONG_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_NUMBER = "unable to parse numeric part of quantity";
const WRONG_SUFFIX = "unable to parse quantity's suffix";

/** Every part may be empty: upstream reads `+`, `.` and `k` as zero. */
const FORM = /^([+-]?)0*(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;
/** What is canonical at first sight: most quantities are. */
const PLAIN = /^(?:0|[1-9]\d{0,17}(?<!000)[mkMGTPE]?|[1-9]\d{0,2}[KMGTP]i)$/;
/** Whole numbers below 10^15. */
const SMALL = /^([1-9]\d{0,14})([mkMGTPE]|[KMGT]i)?$/;
const EXPONENT = /^[eE]([+-]?\d+)$/;
/** Spaces around a quantity do not count. Control characters do. */
const SPACES = /^[\p{Z}\u0085]+|[\p{Z}\u0085]+$/gu;

const DECIMAL: ReadonlyMap<string, number> = new Map([
  ...([["n", -9] as const, ["u", -6] as const, ["m", -3] as const, ["", 0] as const, ["k", 3] as const] as const),
  ...([["M", 6] as const, ["G", 9] as const, ["T", 12] as const, ["P", 15] as const, ["E", 18] as const] as const),
]);
const DECIMAL_SUFFIXES: ReadonlyMap<number, string> = new Map([...DECIMAL].map(([suffix, exponent]) => [exponent, suffix]));
/** The place is the power of 1024. */
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Upstream takes longer texts and larger exponents, and computes with them until its request times out. */
const LENGTH_MAX = 1000;
const EXPONENT_MAX = 1000;

/** Amounts of these many digits fit the machine words that upstream computes with. */
const DECIMAL_DIGITS_MAX = 18;
const BINARY_DIGITS_MAX = 14;
const BILLIONTH = -9;
const BINARY_MAX = "9223372036854775807";
/** Whole numbers of so many digits are exact without bigints, and so is one more than they are. */
const EXACT_DIGITS_MAX = 15;
const POWERS_OF_1024: readonly bigint[] = BINARY.map((_, power) => 1024n ** BigInt(power));

/**
 * The canonical form of a quantity, rounded away from zero to the smallest unit. The error is upstream's text. An amount that needs a suffix
 * beyond E has an exponent instead; upstream writes neither, and so loses the amount.
 */
export function canonicalQuantity(given: string, smallest: SmallestUnit): Result<string, string> {
  if (PLAIN.test(given)) return ok(given);
  const small = smallForm(given);
  if (small !== undefined) return ok(small);
  const text = hasBareEnds(given) ? given : given.replace(SPACES, "");
  const parsed = parse(text);
  if (!parsed.ok) return parsed;
  const amount = rounded(parsed.value, smallest);
  if (amount.keepsText && amount.exponent === parsed.value.exponent) return ok(text);
  const { significant, power } = significantOf(amount);
  if (significant === "") return ok("0");
  const sign = amount.isNegative ? "-" : "";
  if (amount.family === "binary" && power >= 0) {
    const binary = binaryForm(significant + "0".repeat(power));
    if (binary !== undefined) return ok(sign + binary);
  }
  return ok(sign + decimalForm(significant, power, amount.family));
}

/** Whether a text begins and ends with visible ASCII, so that it has no spaces around it. */
function hasBareEnds(text: string): boolean {
  const [first, last] = [text.charCodeAt(0), text.charCodeAt(text.length - 1)];
  return first > SPACE && first < DELETE && last > SPACE && last < DELETE;
}

const SPACE = 32;
const DELETE = 127;

/** The canonical form of a whole number that arithmetic without bigints keeps exact; undefined = `given` may be none. */
function smallForm(given: string): string | undefined {
  const [, digits = "", suffix = ""] = SMALL.exec(given) ?? [];
  if (digits === "") return undefined;
  let rest = Number(digits);
  let power = BINARY.indexOf(suffix);
  if (power > 0) {
    if (digits.length + power * 3 > BINARY_DIGITS_MAX) return undefined;
    for (; rest % 1024 === 0; power++) rest /= 1024;
    return `${rest}${BINARY[power] ?? ""}`;
  }
  let exponent = DECIMAL.get(suffix) ?? 0;
  for (; rest % 1000 === 0; exponent += 3) rest /= 1000;
  const shown = DECIMAL_SUFFIXES.get(exponent);
  return shown === undefined ? undefined : `${rest}${shown}`;
}

/** The amount without zeros at its end: significant × 10^power. */
function significantOf({ digits, exponent }: QuantityValue): { significant: string; power: number } {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === ZERO) end--;
  return { significant: digits.slice(0, end), power: exponent + digits.length - end };
}

/** undefined = less than the smallest suffix of the family */
function binaryForm(whole: string): string | undefined {
  let power = 0;
  if (whole.length <= EXACT_DIGITS_MAX) {
    let rest = Number(whole);
    if (rest < 1024) return undefined;
    for (; rest % 1024 === 0; power++) rest /= 1024;
    return `${rest}${BINARY[power] ?? ""}`;
  }
  let rest = BigInt(whole);
  for (; rest % 1024n === 0n; power++) rest /= 1024n;
  return `${rest}${BINARY[power] ?? ""}`;
}

function decimalForm(significant: string, power: number, family: QuantityFormat): string {
  const places = ((power % 3) + 3) % 3;
  const thousands = power - places;
  const suffix = family === "exponent" && thousands !== 0 ? undefined : DECIMAL_SUFFIXES.get(thousands);
  return significant + "0".repeat(places) + (suffix ?? `e${thousands}`);
}

function parse(text: string): Result<QuantityValue, string> {
  if (text.length > LENGTH_MAX) return err(WRONG_NUMBER);
  const parts = text === "" ? null : FORM.exec(text);
  if (!parts) return err(WRONG_FORM);
  const [, sign = "", digits = "", fraction = "", suffix = ""] = parts;
  const number = (digits || "0") + fraction;
  const isNegative = sign === "-";
  const power = BINARY.indexOf(suffix);
  if (power > 0) {
    const keepsText = fraction === "" && number.length + power * 3 <= BINARY_DIGITS_MAX && Number(number) % 8 !== 0;
    const amount = { family: "binary", isNegative, digits: times1024(number, power), exponent: -fraction.length, keepsText } as const;
    return ok(capped(rounded(amount, BILLIONTH)));
  }
  const decimal = DECIMAL.get(suffix);
  const shift = decimal ?? Number(EXPONENT.exec(suffix)?.[1] ?? NaN);
  if (!(Math.abs(shift) <= EXPONENT_MAX)) return err(WRONG_SUFFIX);
  const family = decimal === undefined ? "exponent" : "decimal";
  const exponent = shift - fraction.length;
  const isShort = number.length <= DECIMAL_DIGITS_MAX && exponent >= BILLIONTH;
  const keepsText = isShort && exponent % 3 === 0 && !number.endsWith("000") && !number.startsWith("0");
  return ok(rounded({ family, isNegative, digits: withoutZeros(number), exponent, keepsText }, BILLIONTH));
}

const ZERO = 48;

/** Without the zeros at the front. */
function withoutZeros(number: string): string {
  let start = 0;
  while (number.charCodeAt(start) === ZERO) start++;
  return number.slice(start);
}

/** The digits of number × 1024^power. */
function times1024(number: string, power: number): string {
  if (number.length <= EXACT_DIGITS_MAX) {
    const product = Number(number) * 1024 ** power;
    if (product === 0) return "";
    if (Number.isSafeInteger(product)) return String(product);
  }
  return withoutZeros(String(BigInt(number) * (POWERS_OF_1024[power] ?? 1n)));
}

/** Away from zero: who wants a little gets a little. */
function rounded(amount: QuantityValue, smallest: SmallestUnit): QuantityValue {
  const { digits, exponent } = amount;
  if (exponent >= smallest) return amount;
  const end = Math.max(0, digits.length - (smallest - exponent));
  const kept = digits.slice(0, end);
  return { ...amount, digits: hasMore(digits, end) ? successor(kept) : kept, exponent: smallest };
}

function hasMore(digits: string, from: number): boolean {
  for (let i = from; i < digits.length; i++) if (digits.charCodeAt(i) !== ZERO) return true;
  return false;
}

function successor(digits: string): string {
  return digits.length <= EXACT_DIGITS_MAX ? String(Number(digits) + 1) : String(BigInt(digits) + 1n);
}

/** Binary amounts end at 2^63 - 1. */
function capped(amount: QuantityValue): QuantityValue {
  const { digits, exponent } = amount;
  const whole = digits.length + exponent;
  if (whole < BINARY_MAX.length) return amount;
  // Digits of equal number compare as texts.
  const isAbove = whole > BINARY_MAX.length || digits.slice(0, whole) > BINARY_MAX;
  const isAtEnd = !isAbove && digits.startsWith(BINARY_MAX) && hasMore(digits, whole);
  return isAbove || isAtEnd ? { ...amount, digits: BINARY_MAX, exponent: 0 } : amount;
}

/** The amount of a text; undefined for a text that is no quantity. */
function amountOf(text: string): QuantityValue | undefined {
  const parsed = parse(text);
  return parsed.ok ? parsed.value : undefined;
}

/** A number of objects as a quantity. */
export function quantityOf(count: number): string {
  const canonical = canonicalQuantity(String(count), -3);
  return canonical.ok ? canonical.value : "0";
}

/** The nearest number; NaN for a text that is no quantity. */
export function quantityValue(text: string): number {
  const amount = amountOf(text);
  if (!amount) return NaN;
  const magnitude = Number(`${amount.digits || "0"}e${amount.exponent}`);
  return signOf(amount) < 0 ? -magnitude : magnitude;
}

/** Below 0 when `a` is less than `b`, above 0 when it is more, 0 when both are one amount. Exact. A text that is no quantity counts as 0. */
export function compareQuantities(a: string, b: string): number {
  if (a === b) return 0;
  if (b === "0" && PLAIN.test(a)) return 1;
  const [left, right] = [amountOf(a), b === "0" ? undefined : amountOf(b)];
  const sign = signOf(left);
  if (sign !== signOf(right)) return Math.sign(sign - signOf(right));
  if (!left || !right) return 0;
  return sign < 0 ? compareMagnitudes(right, left) : compareMagnitudes(left, right);
}

function signOf(amount: QuantityValue | undefined): number {
  if (!amount || amount.digits === "") return 0;
  return amount.isNegative ? -1 : 1;
}

/** Of amounts that are both 0, or both not. */
function compareMagnitudes(a: QuantityValue, b: QuantityValue): number {
  if (a.digits === "" && b.digits === "") return 0;
  const places = Math.sign(a.digits.length + a.exponent - b.digits.length - b.exponent);
  if (places !== 0) return places;
  // Both begin at one place, so their digits compare as texts.
  const [left, right] = [significantOf(a).significant, significantOf(b).significant];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Whether a quantity is no whole number, counted in thousandths that are rounded up. */
export function isFractional(text: string): boolean {
  if (PLAIN.test(text) && !text.endsWith("m")) return false;
  const amount = amountOf(text);
  if (!amount) return false;
  const { significant, power } = significantOf(rounded(amount, -3));
  return significant !== "" && power < 0;
}
