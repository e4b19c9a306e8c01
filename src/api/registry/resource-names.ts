/** Names of resources that are measured: cpu, memory, example.com/device, … (upstream pkg/apis/core/helper). */
import { validateQualifiedName } from "../meta/names";
import { type FieldError, invalidValue } from "../meta/field-errors";
import { compareQuantities, isFractional } from "../schema/quantity";

/** Numbers of objects, as quotas name them. */
const OBJECT_COUNTS = [
  ...["pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps"],
  ...["services.nodeports", "services.loadbalancers"],
];

const STANDARD = [
  ...OBJECT_COUNTS,
  ...["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"],
  ...["ephemeral-storage", "requests.storage", "requests.ephemeral-storage", "limits.ephemeral-storage"],
];
const HUGE_PAGES = /^(?:requests\.)?hugepages-/;

/** Whether quotas know the name. */
export function isQuotaResource(name: string): boolean {
  return STANDARD.includes(name) || HUGE_PAGES.test(name);
}

/** Whether Kubernetes itself knows the name. */
export function isStandardResource(name: string): boolean {
  return name === "storage" || isQuotaResource(name);
}

/** Whether the name is Kubernetes' own: it has no domain, or one of kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

/** Whether the name is of a resource that somebody else defines. */
export function isExtendedResource(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith("requests.") && validateQualifiedName(`requests.${name}`).length === 0;
}

/** Appends the errors of an amount that is less than nothing, or a part of what has no parts. */
export function validateAmount(field: string, name: string, quantity: string, errors: FieldError[]): void {
  if (compareQuantities(quantity, "0") < 0) errors.push(invalidValue(field, quantity, "must be greater than or equal to 0"));
  const countsWholes = OBJECT_COUNTS.includes(name) || isExtendedResource(name);
  if (countsWholes && isFractional(quantity)) errors.push(invalidValue(field, quantity, "must be an integer"));
}
