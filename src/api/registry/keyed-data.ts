/** Rules that ConfigMaps and Secrets share (upstream pkg/apis/core/validation: ValidateConfigMap, ValidateSecret and their updates). */
import { semanticEqual } from "../meta/equality";
import { forbiddenField, invalidValue, tooLong } from "../meta/field-errors";
import type { FieldError } from "../meta/field-errors";
import type { KubeObject } from "../meta/kubernetes";
import { validateConfigMapKey } from "../meta/names";
import type { Change } from "./resource";

/** All values of one object together (upstream core.MaxSecretSize). */
const DATA_BYTES_MAX = 1024 * 1024;

/** Appends the errors of the keys of the member `field`; returns how many bytes its values have together. */
export function validateKeys(
  field: string,
  data: Record<string, string> | undefined,
  bytesOf: (value: string) => number,
  errors: FieldError[],
): number {
  let bytes = 0;
  // A list of all names and values would cost as much as their parse.
  for (const key in data) {
    for (const message of validateConfigMapKey(key)) errors.push(invalidValue(`${field}[${key}]`, key, message));
    bytes += bytesOf(data[key] ?? "");
  }
  return bytes;
}

/** Appends an error at `field` when all values together are too large. */
export function validateTotal(field: string, bytes: number, errors: FieldError[]): void {
  if (bytes > DATA_BYTES_MAX) errors.push(tooLong(field, `may not be more than ${DATA_BYTES_MAX} bytes`));
}

/** The errors of a change to an object that is immutable: neither that nor the given members may change. */
export function validateImmutable<T extends KubeObject & { immutable?: boolean }>(
  { after, before }: Change<T>,
  members: readonly (keyof T & string)[],
): FieldError[] {
  if (!before.immutable) return [];
  const changed = members.filter((member) => !semanticEqual(after[member], before[member]));
  return [...(after.immutable ? [] : ["immutable"]), ...changed].map((field) =>
    forbiddenField(field, "field is immutable when `immutable` is set"),
  );
}
