/** ServiceCIDRs (KEP-1880; upstream pkg/apis/networking/validation, pkg/registry/networking/servicecidr). */
import { type FieldError, FIELD_IMMUTABLE, invalidValue } from "../../meta/field-errors";
import type { ServiceCIDR } from "../../meta/kubernetes";
import { BASE_STRATEGY, dropStatus, keepStatus, takeStatusAlone } from "../base-strategy";
import { validateCIDRs } from "./cidrs";
import { tenancyErrors } from "./tenancy";
import type { Change, Strategy, StrategyContext } from "../resource";

function cidrsOf(serviceCIDR: ServiceCIDR): readonly string[] {
  return serviceCIDR.spec?.cidrs ?? [];
}

/** The ranges of an update are judged only when it adds a second one: no other change is allowed. */
function validateServiceCIDR(serviceCIDR: ServiceCIDR, _context: StrategyContext, before?: ServiceCIDR): FieldError[] {
  const errors = tenancyErrors(serviceCIDR, before);
  return before && !addsRange({ after: serviceCIDR, before }) ? errors : [...errors, ...validateCIDRs(cidrsOf(serviceCIDR), "spec.cidrs")];
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
