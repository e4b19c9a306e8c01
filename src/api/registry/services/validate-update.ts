/**
 * Rules between the stored and the wanted Service: the primary address and family never change, the second may come and go.
 * Source: KEP-563, upstream pkg/apis/core/validation (ValidateServiceUpdate). `validateService(after, before)` is run besides.
 */
import { type FieldError, forbiddenField, invalidValue } from "../../meta/field-errors";
import type { Service } from "../../meta/kubernetes";
import { isHeadlessList, listOf, needsClusterIP, needsHealthCheckNodePort, type ServiceSpec, specOf } from "./predicates";
import { validateLoadBalancerClass } from "./validate";

const FIXED = "may not change once set";

/** Runs on a prepared `after`; `before` has its read defaults. */
export function validateServiceUpdate({ after, before }: { after: Service; before: Service }): FieldError[] {
  const errors: FieldError[] = [];
  const spec = specOf(after);
  const old = specOf(before);
  if (needsClusterIP(spec) && needsClusterIP(old)) {
    const headless = isHeadlessList(spec);
    const wasHeadless = isHeadlessList(old);
    if (!(headless && wasHeadless)) validateClusterIPsChange(spec, old, errors);
    if (!headless && !wasHeadless) validateIPFamiliesChange(spec, old, errors);
  }
  validateLoadBalancerClass(spec, old, errors);
  const neededPort = needsHealthCheckNodePort(old) && needsHealthCheckNodePort(spec);
  if (neededPort && (spec.healthCheckNodePort ?? 0) !== (old.healthCheckNodePort ?? 0)) {
    errors.push(forbiddenField("spec.healthCheckNodePort", "field is immutable"));
  }
  return errors;
}

function validateClusterIPsChange(spec: ServiceSpec, old: ServiceSpec, errors: FieldError[]): void {
  const field = "spec.clusterIPs";
  const addresses = listOf(spec.clusterIPs);
  const oldAddresses = listOf(old.clusterIPs);
  if (addresses.length === oldAddresses.length) {
    oldAddresses.forEach((address, i) => {
      if (address !== addresses[i]) errors.push(invalidValue(`${field}[${i}]`, addresses, FIXED));
    });
    return;
  }
  const shrinks = addresses.length < oldAddresses.length;
  if (addresses.length === 0) errors.push(invalidValue(`${field}[0]`, spec.clusterIPs, "primary clusterIP can not be unset"));
  else if (oldAddresses.length > 0 && addresses[0] !== oldAddresses[0]) errors.push(invalidValue(`${field}[0]`, addresses, FIXED));
  if (shrinks && addresses.length === 1)
    requireSingleStack(spec, "must be set to 'SingleStack' when releasing the secondary clusterIP", errors);
}

/** Upstream puts every change of a family at index 0, and prints clusterIPs for the primary one when the length differs. */
function validateIPFamiliesChange(spec: ServiceSpec, old: ServiceSpec, errors: FieldError[]): void {
  const field = "spec.ipFamilies[0]";
  const families = listOf(spec.ipFamilies);
  const oldFamilies = listOf(old.ipFamilies);
  if (families.length === oldFamilies.length) {
    oldFamilies.forEach((family, i) => {
      if (family !== families[i]) errors.push(invalidValue(field, families, FIXED));
    });
    return;
  }
  const primaryDiffers = families.length > 0 && oldFamilies.length > 0 && families[0] !== oldFamilies[0];
  if (families.length < oldFamilies.length && listOf(spec.clusterIPs).length === 0) {
    errors.push(invalidValue(field, spec.ipFamilies, "primary ipFamily can not be unset"));
  }
  if (primaryDiffers) errors.push(invalidValue(field, spec.clusterIPs, FIXED));
  if (families.length < oldFamilies.length && families.length === 1) {
    requireSingleStack(spec, "must be set to 'SingleStack' when releasing the secondary ipFamily", errors);
  }
}

function requireSingleStack(spec: ServiceSpec, detail: string, errors: FieldError[]): void {
  if (spec.ipFamilyPolicy !== "SingleStack") errors.push(invalidValue("spec.ipFamilyPolicy", spec.ipFamilyPolicy, detail));
}
