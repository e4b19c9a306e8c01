/**
 * Validation errors with the path of their field, in upstream's words (apimachinery pkg/util/validation/field).
 * Validation collects all errors; it does not stop at the first.
 */
import { cutValue, VALUE_MAX_CHARACTERS } from "./bounded-status";

/** Errors of one object that are collected. Nobody reads more, and a hostile object has a million. Upstream reports all. */
export const ERRORS_MAX = 100;

class TooManyErrors extends Error {}

/** What the running `collected` has met; undefined = none runs. Validation is one synchronous call. */
let met: FieldError[] | undefined;

/**
 * The errors that `judge` returns. It ends as soon as more than ERRORS_MAX have been made; the result is then those that have been made, one more than
 * are reported. Calls may nest: an inner one counts for itself.
 */
export function collected(judge: () => FieldError[]): FieldError[] {
  const outer = met;
  const own: FieldError[] = [];
  met = own;
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    return own;
  } finally {
    met = outer;
  }
}

function made(error: FieldError): FieldError {
  if (met === undefined) return error;
  met.push(error);
  if (met.length > ERRORS_MAX) throw new TooManyErrors();
  return error;
}

/** `body` is the text after `field: `; `reason` is the cause's reason on the wire. */
export interface FieldError {
  field: string;
  body: string;
  reason: string;
}

/** Values print as upstream prints them: strings quoted, numbers and booleans bare, nil as null, the rest compact JSON. Long ones are cut. */
function printValue(value: unknown): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "string") return JSON.stringify(cutValue(value));
  return cutValue(JSON.stringify(value, shortened));
}

/** What is cut anyway is not printed: a list of a million in each of a hundred errors. */
function shortened(_: string, value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, VALUE_MAX_CHARACTERS);
  return Array.isArray(value) && value.length > VALUE_MAX_CHARACTERS ? value.slice(0, VALUE_MAX_CHARACTERS) : value;
}

export function required(field: string, detail = ""): FieldError {
  return made({ field, body: detail ? `Required value: ${detail}` : "Required value", reason: "FieldValueRequired" });
}

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return made({ field, body: `Invalid value: ${printValue(value)}: ${detail}`, reason: "FieldValueInvalid" });
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((s) => JSON.stringify(s)).join(", ");
  return made({ field, body: `Unsupported value: ${printValue(value)}: supported values: ${list}`, reason: "FieldValueNotSupported" });
}

/** Appends the error of a value that is missing or none of those that are supported. */
export function oneOf(field: string, value: string | undefined, supported: readonly string[], errors: FieldError[]): void {
  if (!value) errors.push(required(field));
  else if (!supported.includes(value)) errors.push(notSupported(field, value, supported));
}

/** What a value refers to is not there. */
export function notFoundValue(field: string, value: unknown, detail = ""): FieldError {
  return made({ field, body: `Not found: ${printValue(value)}${detail && `: ${detail}`}`, reason: "FieldValueNotFound" });
}

export function duplicate(field: string, value: unknown): FieldError {
  return made({ field, body: `Duplicate value: ${printValue(value)}`, reason: "FieldValueDuplicate" });
}

export function forbiddenField(field: string, detail: string): FieldError {
  return made({ field, body: `Forbidden: ${detail}`, reason: "FieldValueForbidden" });
}

export function tooLong(field: string, detail: string): FieldError {
  return made({ field, body: `Too long: ${detail}`, reason: "FieldValueTooLong" });
}

export function tooMany(field: string, count: number, countMax: number): FieldError {
  return made({
    field,
    body: `Too many: ${count}: must have at most ${countMax} item${countMax === 1 ? "" : "s"}`,
    reason: "FieldValueTooMany",
  });
}

/** What the server could not check. */
export function internalProblem(field: string, detail: string): FieldError {
  return made({ field, body: `Internal error: ${detail}`, reason: "InternalError" });
}

export const FIELD_IMMUTABLE = "field is immutable";
