/** Rules of ports that several kinds share. Source: upstream apimachinery pkg/util/validation (IsValidPortNum, IsValidPortName). */
import { utf8Length } from "../../core/encoding/utf8-length";
import { type FieldError, invalidValue } from "../meta/field-errors";

const PORT_MAX = 65535;
export const PORT_RANGE = `must be between 1 and ${PORT_MAX}, inclusive`;
const PORT_NAME_BYTES_MAX = 15;

export function isPortNumber(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= PORT_MAX;
}

/** Why a text is no name of a port (RFC 6335 §5.1, in lower case); empty = it is one. */
export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (utf8Length(name) > PORT_NAME_BYTES_MAX) problems.push(`must be no more than ${PORT_NAME_BYTES_MAX} characters`);
  if (!/^[-a-z0-9]+$/.test(name)) problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

/** Appends the errors of a port that is a number or a name. */
export function validatePortOrName(port: number | string, field: string, errors: FieldError[]): void {
  if (typeof port === "number") {
    if (!isPortNumber(port)) errors.push(invalidValue(field, port, PORT_RANGE));
    return;
  }
  for (const message of portNameProblems(port)) errors.push(invalidValue(field, port, message));
}
