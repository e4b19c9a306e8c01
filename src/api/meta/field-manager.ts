/** Names of field managers. Source: apimachinery pkg/apis/meta/v1/validation (ValidateFieldManager, ValidateManagedFields). */
import { utf8Length } from "../../core/encoding/utf8-length";
import { type FieldError, invalidValue, tooLong } from "./field-errors";

export const FIELD_MANAGER_MAX_BYTES = 128;
const SUBRESOURCE_MAX_BYTES = 256;

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(character: string): boolean {
  return character === " " || !/[\p{C}\p{Z}]/u.test(character);
}

/** What is wrong with the name of a manager that stands in `field`. */
export function fieldManagerErrors(manager: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (utf8Length(manager) > FIELD_MANAGER_MAX_BYTES) {
    errors.push(tooLong(field, `may not be more than ${FIELD_MANAGER_MAX_BYTES} bytes`));
  }
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalidValue(field, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += utf8Length(character);
  }
  return errors;
}

interface ManagerNames {
  manager?: string;
  subresource?: string;
}

/**
 * What is wrong with the managers of an object, whoever wrote them there. Operations and fields have been read before. Names that the stored object has are
 * not judged again: earlier releases took any, and nobody could write such an object any more.
 */
export function managedFieldsErrors(entries: readonly ManagerNames[] = [], stored: readonly ManagerNames[] = []): FieldError[] {
  const isStored = (entry: ManagerNames): boolean =>
    stored.some(({ manager, subresource }) => manager === entry.manager && subresource === entry.subresource);
  return entries.flatMap((entry, i) => {
    const { manager = "", subresource = "" } = entry;
    if (isPlain(manager) && subresource.length <= SUBRESOURCE_MAX_BYTES / 3) return [];
    if (isStored(entry)) return [];
    const field = `metadata.managedFields[${i}]`;
    const errors = isPlain(manager) ? [] : fieldManagerErrors(manager, `${field}.manager`);
    return utf8Length(subresource) > SUBRESOURCE_MAX_BYTES
      ? [...errors, tooLong(`${field}.subresource`, `may not be more than ${SUBRESOURCE_MAX_BYTES} bytes`)]
      : errors;
  });
}

/** Of printable ASCII and short enough, as nearly all are. */
const isPlain = (manager: string): boolean => manager.length <= FIELD_MANAGER_MAX_BYTES && /^[ -~]*$/.test(manager);
