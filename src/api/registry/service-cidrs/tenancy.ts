/** The annotations that keep the ranges of a ServiceCIDR for the Services of some namespaces (addresses/topology/tenants.ts). */
import { type FieldError, invalidValue, notSupported } from "../../meta/field-errors";
import type { ServiceCIDR } from "../../meta/kubernetes";
import { OWN_DOMAIN } from "../../meta/own-annotation";
import { parseLabelSelector } from "../../meta/selector";

/** A label selector over Namespaces, in the syntax of `labelSelector=`. */
export const NAMESPACE_SELECTOR = `${OWN_DOMAIN}/namespace-selector`;
/** What a Service gets whose ranges are full: nothing, or an address of a range that is kept for no namespaces. */
const WHEN_FULL = `${OWN_DOMAIN}/when-full`;

const WHEN_FULL_VALUES = ["Any", "Fail"];

/** The errors of the two annotations. What was stored with the same values before is not judged again. */
export function tenancyErrors(after: ServiceCIDR, before: ServiceCIDR | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const selector = changed(NAMESPACE_SELECTOR, after, before);
  if (selector !== undefined) {
    const parsed = parseLabelSelector(selector);
    if (!parsed.ok) errors.push(invalidValue(pathOf(NAMESPACE_SELECTOR), selector, parsed.error));
    else if (parsed.value.empty)
      errors.push(invalidValue(pathOf(NAMESPACE_SELECTOR), selector, "must name at least one label of namespaces"));
  }
  const whenFull = changed(WHEN_FULL, after, before);
  if (whenFull !== undefined && !WHEN_FULL_VALUES.includes(whenFull)) {
    errors.push(notSupported(pathOf(WHEN_FULL), whenFull, WHEN_FULL_VALUES));
  }
  return errors;
}

/** For whom the ranges are kept; undefined = for everybody. */
export function tenancyOf({ metadata }: ServiceCIDR): { selector: string; whenFull?: "Any" } | undefined {
  const selector = metadata?.annotations?.[NAMESPACE_SELECTOR];
  const parsed = selector === undefined ? undefined : parseLabelSelector(selector);
  if (selector === undefined || !parsed?.ok || parsed.value.empty) return undefined;
  return metadata?.annotations?.[WHEN_FULL] === "Any" ? { selector, whenFull: "Any" } : { selector };
}

export function pathOf(annotation: string): string {
  return `metadata.annotations[${annotation}]`;
}

function changed(annotation: string, after: ServiceCIDR, before: ServiceCIDR | undefined): string | undefined {
  const value = after.metadata?.annotations?.[annotation];
  return value === before?.metadata?.annotations?.[annotation] ? undefined : value;
}
