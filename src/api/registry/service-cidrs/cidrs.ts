/** Lists of Service ranges (upstream pkg/apis/networking/validation). */
import { type FieldError, invalidValue, required } from "../../meta/field-errors";
import { parsePrefix, prefixErrorText } from "../../../core/net/prefix";

const CIDRS_MAX = 2;
const ONE_PER_FAMILY = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

/** The errors of a list of one range, or of one for each family. */
export function validateCIDRs(cidrs: readonly string[], field: string): FieldError[] {
  if (cidrs.length === 0) return [required(field, "at least one CIDR required")];
  if (cidrs.length > CIDRS_MAX) return [invalidValue(field, { CIDRs: cidrs }, `may only hold up to ${CIDRS_MAX} values`)];
  const errors: FieldError[] = [];
  const families: string[] = [];
  cidrs.forEach((cidr, i) => {
    const parsed = parsePrefix(cidr);
    if (parsed.ok) families.push(parsed.value.family);
    else {
      errors.push(invalidValue(`${field}[${i}]`, cidr, prefixErrorText(parsed.error)));
      if (parsed.error.reason === "notCanonical") families.push(parsed.error.prefix.family);
    }
  });
  if (families.length === 2 && families[0] === families[1]) errors.push(invalidValue(field, cidrs, ONE_PER_FAMILY));
  return errors;
}
