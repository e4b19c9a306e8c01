/** Leases (upstream pkg/apis/coordination/validation, pkg/registry/coordination/lease). */
import { forbiddenField, invalidValue, notSupported } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Lease } from "../../meta/kubernetes";
import { validateQualifiedName } from "../../meta/names";
import { BASE_STRATEGY } from "../base-strategy";
import type { Strategy } from "../resource";

const STRATEGIES = ["OldestEmulationVersion"];

/**
 * Go writes a spec without fields as `{}`. Coordinated leader election is off, its gate's default: writes drop its two fields.
 */
function prepareSpec(lease: Lease): void {
  lease.spec ??= {};
  if (lease.spec.strategy !== undefined) delete lease.spec.strategy;
  if (lease.spec.preferredHolder !== undefined) delete lease.spec.preferredHolder;
}

function validateLease(lease: Lease): FieldError[] {
  const errors: FieldError[] = [];
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = lease.spec ?? {};
  if (typeof leaseDurationSeconds === "number" && leaseDurationSeconds <= 0) {
    errors.push(invalidValue("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0"));
  }
  if (typeof leaseTransitions === "number" && leaseTransitions < 0) {
    errors.push(invalidValue("spec.leaseTransitions", leaseTransitions, "must be greater than or equal to 0"));
  }
  // upstream's path has its last segment twice
  if (strategy?.includes("/")) {
    for (const message of validateQualifiedName(strategy)) errors.push(invalidValue("spec.strategy.strategy", strategy, message));
  } else if (strategy !== undefined && strategy !== null && !STRATEGIES.includes(strategy)) {
    errors.push(notSupported("spec.strategy.strategy", strategy, STRATEGIES));
  }
  if (preferredHolder && !strategy) {
    errors.push(forbiddenField("spec.preferredHolder", "may only be specified if `strategy` is defined"));
  }
  return errors;
}

export const leaseStrategy: Strategy<Lease> = {
  ...BASE_STRATEGY,
  prepareForCreate: prepareSpec,
  prepareForUpdate: ({ after }) => prepareSpec(after),
  validate: validateLease,
};
