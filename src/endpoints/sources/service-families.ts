import { type Family, FAMILIES, familyOfText } from "../../core/net/family";
import type { Service } from "../../api/meta/kubernetes";
import { NONE, listOf, specOf } from "../../api/registry/services/predicates";

/** Whether the Service has a cluster IP. */
export function hasClusterIP(service: Service): boolean {
  const { clusterIP } = specOf(service);
  return Boolean(clusterIP) && clusterIP !== NONE;
}

/**
 * The families in which the Service has endpoints, primary first. A Service that an older server stored names none: then that of its cluster IP,
 * or both. Source: upstream getAddressTypesForService.
 */
export function serviceFamilies(service: Service): readonly Family[] {
  const spec = specOf(service);
  const named = listOf(spec.ipFamilies);
  if (named.length > 0) return FAMILIES.filter((family) => named.includes(family)).sort((a, b) => named.indexOf(a) - named.indexOf(b));
  return hasClusterIP(service) ? [familyOfText(spec.clusterIP ?? "")] : FAMILIES;
}

/** The family of the Service's Endpoints, which have one; undefined = that of each Pod (a headless Service that an older server stored). */
export function primaryFamily(service: Service): Family | undefined {
  const [first, second] = serviceFamilies(service);
  const isNamed = listOf(specOf(service).ipFamilies).length > 0;
  return isNamed || second === undefined ? first : undefined;
}
