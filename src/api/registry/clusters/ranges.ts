/** The Service ranges with which a cluster is to begin. */
import { RANGE_HOST_BITS_MIN, TOO_FEW_ADDRESSES } from "../../../core/config/first-ranges";
import { hostBitsOf, parsePrefix } from "../../../core/net/prefix";
import { type FieldError, invalidValue } from "../../meta/field-errors";
import { validateCIDRs } from "../service-cidrs/cidrs";

/** The errors of a list that asks for something. As those of a ServiceCIDR; the first range has to have room for what every cluster begins with. */
export function validateFirstRanges(cidrs: readonly string[], field: string): FieldError[] {
  const errors = validateCIDRs(cidrs, field);
  const [primary = ""] = cidrs;
  const parsed = parsePrefix(primary);
  if (parsed.ok && hostBitsOf(parsed.value) < RANGE_HOST_BITS_MIN) errors.push(invalidValue(`${field}[0]`, primary, TOO_FEW_ADDRESSES));
  return errors;
}
