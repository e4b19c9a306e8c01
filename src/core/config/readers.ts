/** How the text of a variable becomes its value. The texts of errors begin with the variable's name. */
import { parseGoDuration } from "../base/go-duration";
import { LOG_LEVELS, type LogLevel, parseLogLevel } from "../base/log-level";
import { err, ok, type Result } from "../base/result";
import { RANGE_HOST_BITS_MIN, TOO_FEW_ADDRESSES } from "./first-ranges";
import { ADDRESS_ERROR_TEXT, parseAddress } from "../net/address";
import { hostBitsOf, parsePrefix, type Prefix, prefixErrorText } from "../net/prefix";
import { specialAddressMessages } from "../net/special-addresses";

/** `text` has no blanks around it and is not empty, unless the default is. */
export type Reader<T> = (text: string, name: string) => Result<T, string[]>;

const INT32_MAX = 2 ** 31 - 1;

/** A whole number in `min`..`max`. */
export function wholeNumber({ min = 1, max = INT32_MAX } = {}): Reader<number> {
  return (text, name) => {
    const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : -1;
    if (value >= min && value <= max) return ok(value);
    return err([`${name} must be a whole number between ${min} and ${max}, got ${JSON.stringify(text)}`]);
  };
}

/** `true` or `false`. */
export const trueOrFalse: Reader<boolean> = (text, name) =>
  text === "true" || text === "false" ? ok(text === "true") : err([`${name} must be true or false, got ${JSON.stringify(text)}`]);

/** A level of the log, in small or capital letters. */
export const logLevel: Reader<LogLevel> = (text, name) => {
  const level = parseLogLevel(text);
  return level === undefined ? err([`${name} must be one of ${LOG_LEVELS.join(", ")}, got ${JSON.stringify(text)}`]) : ok(level);
};

/** What stands between commas, each once. `problem` says what is wrong with a part, behind the part itself; undefined = nothing. */
export function listOf(problem: (part: string) => string | undefined): Reader<string[]> {
  return (text, name) => {
    const parts = partsOf(text);
    const errors = parts.flatMap((part) => {
      const why = problem(part);
      return why === undefined ? [] : [`${name}: ${JSON.stringify(part)} ${why}`];
    });
    return errors.length > 0 ? err(errors) : ok([...new Set(parts)]);
  };
}

/** Texts of one line or many, which are used as they stand. */
export const anyText: Reader<string> = (text) => ok(text);

/** Milliseconds of a Go duration in 0..`maxMs`. `limits` is how the error names them. */
export function duration(maxMs: number, limits: string): Reader<number> {
  return (text, name) => {
    const ms = parseGoDuration(text);
    if (ms !== undefined && ms <= maxMs) return ok(ms);
    return err([`${name} must be a duration between ${limits}, as "500ms" or "1s", got ${JSON.stringify(text)}`]);
  };
}

/** Canonical addresses between commas, each once, sorted. What an EndpointSlice would refuse is refused here. */
export const addresses: Reader<string[]> = (text, name) => {
  const errors: string[] = [];
  const canonical = partsOf(text).flatMap((part) => {
    const parsed = parseAddress(part);
    const problem = parsed.ok ? specialAddressMessages(parsed.value, part)[0] : ADDRESS_ERROR_TEXT[parsed.error];
    if (problem !== undefined) errors.push(`${name}: ${JSON.stringify(part)} ${problem}`);
    return parsed.ok ? parsed.value.canonical : [];
  });
  return errors.length > 0 ? err(errors) : ok([...new Set(canonical)].sort());
};

/** One or two CIDRs of different families. A CIDR in another spelling (`FD00::/112`) is accepted. Texts as those of upstream's flag. */
export const serviceRanges: Reader<Prefix[]> = (text, name) => {
  const parts = text.split(",");
  if (parts.length > 2) return err([`${name} must not contain more than two entries`]);
  const errors: string[] = [];
  const prefixes = parts.flatMap((part, index) => {
    const where = `${name}[${index}]`;
    const prefix = rangeIn(part.trim(), where, errors);
    if (prefix !== undefined && index === 0 && hostBitsOf(prefix) < RANGE_HOST_BITS_MIN) {
      errors.push(`${where}: ${TOO_FEW_ADDRESSES}`);
    }
    return prefix ?? [];
  });
  const [first, second] = prefixes;
  if (first !== undefined && second !== undefined && first.family === second.family) {
    errors.push(`${name}[0] and ${name}[1] must be of different IP family`);
  }
  return errors.length > 0 ? err(errors) : ok(prefixes);
};

function rangeIn(text: string, where: string, errors: string[]): Prefix | undefined {
  const parsed = parsePrefix(text);
  if (parsed.ok) return parsed.value;
  if (parsed.error.reason === "notCanonical") return parsed.error.prefix;
  errors.push(`${where}: ${JSON.stringify(text)} ${prefixErrorText(parsed.error)}`);
  return undefined;
}

function partsOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
