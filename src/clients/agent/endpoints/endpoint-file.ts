/** The file of endpoints: YAML, or JSON, which is YAML too. A list of what read-entry.ts reads. */
import type { FieldError } from "../../../api/meta/field-errors";
import { parseYamlText } from "../../../api/schema/json/yaml-text";
import { err, ok, type Result } from "../../../core/base/result";
import type { EndpointEntry } from "./endpoint-entry";
import { readEntries } from "./read-entry";

/** Errors that a message names. */
const NAMED_MAX = 5;

/**
 * The entries of a text, or one line that says what is wrong with it. A text without a document is wrong, too: an editor that begins to write leaves an
 * empty file, and nothing may drain because of it.
 */
export function readEndpointFile(text: string): Result<readonly EndpointEntry[], string> {
  const parsed = parseYamlText(text);
  if (!parsed.ok) return err(parsed.error);
  const { value, repeated } = parsed.value;
  if (repeated.length > 0) return err(repeated.slice(0, NAMED_MAX).join("; "));
  if (value === null) return err("the file is empty; [] has no endpoints");
  const errors: FieldError[] = [];
  const entries = readEntries(value, "endpoints", errors);
  return errors.length > 0 ? err(errorText(errors)) : ok(entries);
}

/** All errors in one line. */
export function errorText(errors: readonly FieldError[]): string {
  const named = errors.slice(0, NAMED_MAX).map(({ field, body }) => `${field}: ${body}`);
  return [...named, ...(errors.length > NAMED_MAX ? [`${errors.length - NAMED_MAX} more errors`] : [])].join("; ");
}
