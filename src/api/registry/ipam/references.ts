/** What claims and addresses name: the rules and texts of their CRDs' schemas. */
import { type FieldError, invalidValue, required, tooLong } from "../../meta/field-errors";
import { EARLIER_CLAIM_VERSION, type PoolReference } from "./ipam";

const NAME_MAX = 253;
const KIND_MAX = 63;
const NAME_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
const KIND_PATTERN = "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$";
const NAME = new RegExp(NAME_PATTERN);
const KIND = new RegExp(KIND_PATTERN);

export function checkLength(field: string, value: string, charactersMax: number, errors: FieldError[]): void {
  if (value.length > charactersMax) errors.push(tooLong(field, `may not be more than ${charactersMax} bytes`));
}

/** @param version of the request; v1beta1 knows no patterns, and a pool may have no API group there */
export function checkPoolReference(
  field: string,
  reference: PoolReference | undefined,
  errors: FieldError[],
  version: string | undefined,
): void {
  if (version === EARLIER_CLAIM_VERSION) {
    for (const member of ["name", "kind"] as const) if (!reference?.[member]) errors.push(required(`${field}.${member}`));
    return;
  }
  check(`${field}.name`, reference?.name, { pattern: NAME, printed: NAME_PATTERN, charactersMax: NAME_MAX }, errors);
  check(`${field}.kind`, reference?.kind, { pattern: KIND, printed: KIND_PATTERN, charactersMax: KIND_MAX }, errors);
  check(`${field}.apiGroup`, reference?.apiGroup, { pattern: NAME, printed: NAME_PATTERN, charactersMax: NAME_MAX }, errors);
}

/** The name of an object beside the one that names it. */
export function checkReferredName(field: string, name: string | undefined, errors: FieldError[]): void {
  check(field, name, { pattern: NAME, printed: NAME_PATTERN, charactersMax: NAME_MAX }, errors);
}

interface Rule {
  pattern: RegExp;
  /** as the message shows it */
  printed: string;
  charactersMax: number;
}

function check(field: string, value: string | undefined, { pattern, printed, charactersMax }: Rule, errors: FieldError[]): void {
  if (value === undefined || value === "") errors.push(required(field));
  else if (value.length > charactersMax) errors.push(tooLong(field, `may not be more than ${charactersMax} bytes`));
  else if (!pattern.test(value)) errors.push(invalidValue(field, value, `${field} in body should match '${printed}'`));
}
