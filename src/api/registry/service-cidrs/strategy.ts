/** ServiceCIDRs (KEP-1880; upstream pkg/apis/networking/validation, pkg/registry/networking/servicecidr). */
import { FIELD_IMMUTABLE, invalidValue, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { ServiceCIDR } from "../../meta/kubernetes";
import { parsePrefix, prefixErrorText } from "../../../core/net/prefix";
import { BASE_STRATEGY, dropStatus, keepStatus, takeStatusAlone } from "../base-strategy";
import { tenancyErrors } from "./tenancy";
import type { Change, Strategy, StrategyContext } from "../resource";

const CIDRS_MAX = 2;
const ONE_PER_FAMILY = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

function cidrsOf(serviceCIDR: ServiceCIDR): readonly string[] {
  return serviceCIDR.spec?.cidrs ?? [];
}

/** The ranges of an update are judged only when it adds a second one: no other change is allowed. */
function validateServiceCIDR(serviceCIDR: ServiceCIDR, _context: StrategyContext, before?: ServiceCIDR): FieldError[] {
  const errors = tenancyErrors(serviceCIDR, before);
  return before && !addsRange({ after: serviceCIDR, before }) ? errors : [...errors, ...validateCIDRs(serviceCIDR)];
}

function validateCIDRs(serviceCIDR: ServiceCIDR): FieldError[] {
  const cidrs = cidrsOf(serviceCIDR);
  const field = "spec.cidrs";
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

function addsRange({ after, before }: Change<ServiceCIDR>): boolean {
  return cidrsOf(before).length === 1 && cidrsOf(after).length === 2;
}

/** The ranges cannot change; a second one of the other family may be added. */
function validateServiceCIDRUpdate(change: Change<ServiceCIDR>): FieldError[] {
  const wanted = cidrsOf(change.after);
  const stored = cidrsOf(change.before);
  if (wanted.length === stored.length || addsRange(change)) {
    return stored.flatMap((cidr, i) => (cidr === wanted[i] ? [] : [invalidValue(`spec.cidrs[${i}]`, wanted[i], FIELD_IMMUTABLE)]));
  }
  return [invalidValue("spec.cidrs", wanted, FIELD_IMMUTABLE)];
}

export const serviceCIDRStrategy: Strategy<ServiceCIDR> = {
  ...BASE_STRATEGY,
  prepareForCreate: dropStatus,
  validate: validateServiceCIDR,
  prepareForUpdate: keepStatus,
  validateUpdate: validateServiceCIDRUpdate,
  prepareForStatusUpdate: takeStatusAlone,
};
