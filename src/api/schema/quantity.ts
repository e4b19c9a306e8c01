/**
 * Quantities: `100m`, `1.5Gi`, `1e3`. Source of the rules: upstream apimachinery pkg/api/resource (quantity.go, suffix.go, amount.go).
 *
 * A server keeps each quantity in one canonical form: no fraction, and the largest suffix of the family that the client used. All arithmetic is
 * exact. Upstream keeps some texts as they came, for example `1.500` and `+1`; so does this file.
 */
import { err, ok, type Result } from "../../core/base/result";

type QuantityFormat = "decimal" | "binary" | "exponent";

/** unscaled × 10^exponent */
interface QuantityValue {
  readonly family: QuantityFormat;
  readonly unscaled: bigint;
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
const PLAIN = /^(?:0|[1-9]\d{0,2}(?:[mkMGTPE]|[KMGTP]i)?)$/;
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
const BINARY_MAX = 2n ** 63n - 1n;

/**
 * The canonical form of a quantity, rounded away from zero to the smallest unit. The error is upstream's text. An amount that needs a suffix
 * beyond E has an exponent instead; upstream writes neither, and so loses the amount.
 */
export function canonicalQuantity(given: string, smallest: SmallestUnit): Result<string, string> {
  if (PLAIN.test(given)) return ok(given);
  const text = given.replace(SPACES, "");
  const parsed = parse(text);
  if (!parsed.ok) return parsed;
  const { family, keepsText } = parsed.value;
  const { unscaled, exponent } = rounded(parsed.value, smallest);
  if (keepsText && exponent === parsed.value.exponent) return ok(text);
  const magnitude = unscaled < 0n ? -unscaled : unscaled;
  if (magnitude === 0n) return ok("0");
  const sign = unscaled < 0n ? "-" : "";
  const isWhole = exponent >= 0 || magnitude % 10n ** BigInt(-exponent) === 0n;
  if (family === "binary" && isWhole) {
    const whole = exponent >= 0 ? magnitude * 10n ** BigInt(exponent) : magnitude / 10n ** BigInt(-exponent);
    if (whole >= 1024n) return ok(sign + binaryForm(whole));
  }
  return ok(sign + decimalForm(magnitude, exponent, family));
}

function binaryForm(whole: bigint): string {
  let rest = whole;
  let power = 0;
  for (; rest % 1024n === 0n; power++) rest /= 1024n;
  return `${rest}${BINARY[power] ?? ""}`;
}

function decimalForm(magnitude: bigint, exponent: number, family: QuantityFormat): string {
  const digits = magnitude.toString();
  const significant = digits.replace(/0+$/, "");
  const power = exponent + digits.length - significant.length;
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
  const unscaled = BigInt(sign + number);
  const power = BINARY.indexOf(suffix);
  if (power > 0) {
    const keepsText = fraction === "" && number.length + power * 3 <= BINARY_DIGITS_MAX && unscaled % 8n !== 0n;
    const amount = { family: "binary", unscaled: unscaled * 1024n ** BigInt(power), exponent: -fraction.length, keepsText } as const;
    return ok(capped(rounded(amount, BILLIONTH)));
  }
  const decimal = DECIMAL.get(suffix);
  const shift = decimal ?? Number(EXPONENT.exec(suffix)?.[1] ?? NaN);
  if (!(Math.abs(shift) <= EXPONENT_MAX)) return err(WRONG_SUFFIX);
  const family = decimal === undefined ? "exponent" : "decimal";
  const exponent = shift - fraction.length;
  const isShort = number.length <= DECIMAL_DIGITS_MAX && exponent >= BILLIONTH;
  const keepsText = isShort && exponent % 3 === 0 && !number.endsWith("000") && !number.startsWith("0");
  return ok(rounded({ family, unscaled, exponent, keepsText }, BILLIONTH));
}

/** Away from zero: who wants a little gets a little. */
function rounded(amount: QuantityValue, smallest: SmallestUnit): QuantityValue {
  const { unscaled, exponent } = amount;
  if (exponent >= smallest) return amount;
  const divisor = 10n ** BigInt(smallest - exponent);
  const rest = unscaled % divisor;
  const away = rest > 0n ? 1n : rest < 0n ? -1n : 0n;
  return { ...amount, unscaled: unscaled / divisor + away, exponent: smallest };
}

/** Binary amounts end at 2^63 - 1. */
function capped(amount: QuantityValue): QuantityValue {
  const scale = 10n ** BigInt(-amount.exponent);
  const isNegative = amount.unscaled < 0n;
  const magnitude = isNegative ? -amount.unscaled : amount.unscaled;
  if (magnitude <= BINARY_MAX * scale) return amount;
  return { ...amount, unscaled: isNegative ? -BINARY_MAX : BINARY_MAX, exponent: 0 };
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
  return amount ? Number(`${amount.unscaled}e${amount.exponent}`) : NaN;
}

/** Below 0 when `a` is less than `b`, above 0 when it is more, 0 when both are one amount. Exact. A text that is no quantity counts as 0. */
export function compareQuantities(a: string, b: string): number {
  const [left, right] = [amountOf(a), amountOf(b)];
  const exponent = Math.min(left?.exponent ?? 0, right?.exponent ?? 0);
  const units = (amount: QuantityValue | undefined): bigint => (amount ? amount.unscaled * 10n ** BigInt(amount.exponent - exponent) : 0n);
  const difference = units(left) - units(right);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Whether a quantity is no whole number, counted in thousandths that are rounded up. */
export function isFractional(text: string): boolean {
  const amount = amountOf(text);
  if (!amount) return false;
  const { unscaled, exponent } = rounded(amount, -3);
  return exponent < 0 && unscaled % 10n ** BigInt(-exponent) !== 0n;
}
