/**
 * Dual-stack rules: which families a Service has, in which order, and what the client's wish collides with.
 * Source: KEP-563, upstream pkg/registry/core/service/storage/alloc.go (initIPFamilyFields) and pkg/apis/core/validation
 * (ValidateServiceClusterIPsRelatedFields).
 */
import { duplicate, type FieldError, invalidValue, notSupported, required } from "../../meta/field-errors";
import type { Service } from "../../meta/kubernetes";
import { ADDRESS_ERROR_TEXT, parseAddress } from "../../../core/net/address";
import { type Family, familyOfText } from "../../../core/net/family";
import {
  hasSelector,
  isHeadless,
  isHeadlessList,
  isNil,
  listOf,
  needsClusterIP,
  NONE,
  otherFamily,
  sameList,
  type ServiceSpec,
  specOf,
} from "./predicates";

const CLUSTER_IPS = "spec.clusterIPs";
const IP_FAMILIES = "spec.ipFamilies";
const IP_FAMILY_POLICY = "spec.ipFamilyPolicy";
const POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];

const CLUSTER_IPS_MAX = 2;

/**
 * Sets `ipFamilyPolicy` and `ipFamilies` of `after` by the cluster's `families` (primary first), the given addresses and, on update,
 * the stored Service. Trims the lists when an update goes back to SingleStack. Runs on normalised objects, before any allocation.
 * Any error ends the request; `after` is then incomplete and must not be used.
 */
export function initFamilies({ after, before }: { after: Service; before?: Service }, families: readonly Family[]): FieldError[] {
  const spec = (after.spec ??= {});
  if (!needsClusterIP(spec)) return [];
  const old = before ? specOf(before) : undefined;
  if (old && keepsPreferDualStack(spec, old)) return [];
  if (isNil(spec.ipFamilyPolicy)) spec.ipFamilyPolicy = defaultPolicy(spec, old);

  const related = validateClusterIPFields(spec, old);
  if (related.length > 0) return related;

  const errors = old ? applyReduction(spec, old) : [];
  if (spec.ipFamilyPolicy === "SingleStack") {
    const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
    if (listOf(spec.clusterIPs).length === 2) {
      errors.push(invalidValue(IP_FAMILY_POLICY, spec.ipFamilyPolicy, `${detail} cluster IPs are specified`));
    }
    if (listOf(spec.ipFamilies).length === 2) {
      errors.push(invalidValue(IP_FAMILY_POLICY, spec.ipFamilyPolicy, `${detail} IP families are specified`));
    }
  }
  inferFamilies(spec, families, errors);
  if (errors.length > 0) return errors;

  // its endpoints are written by hand, so it may have families that the cluster lacks
  const selectorless = isHeadless(spec) && !hasSelector(spec);
  if (!selectorless) {
    checkConfigured(spec, families, errors);
    if (errors.length > 0) return errors;
  }
  completeFamilies(spec, families, selectorless);
  return errors;
}

/**
 * A PreferDualStack Service keeps its families when the cluster gains or loses one, unless the client changes fields about addresses.
 */
function keepsPreferDualStack(spec: ServiceSpec, old: ServiceSpec): boolean {
  return (
    spec.ipFamilyPolicy === "PreferDualStack" &&
    (isNil(old.ipFamilyPolicy) || old.ipFamilyPolicy === "PreferDualStack") &&
    spec.type === old.type &&
    needsClusterIP(spec) &&
    sameList(spec.clusterIPs, old.clusterIPs) &&
    sameList(spec.ipFamilies, old.ipFamilies)
  );
}

function defaultPolicy(spec: ServiceSpec, old: ServiceSpec | undefined): string {
  if (old && !isNil(old.ipFamilyPolicy)) return old.ipFamilyPolicy;
  return isHeadless(spec) && !hasSelector(spec) ? "RequireDualStack" : "SingleStack";
}

/** A change to SingleStack drops the second entry of a list that the client left unchanged; other policies forbid dropping one. */
function applyReduction(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const addresses = listOf(spec.clusterIPs);
  const wanted = listOf(spec.ipFamilies);
  if (spec.ipFamilyPolicy === "SingleStack") {
    if (addresses.length > 1 && sameList(addresses, old.clusterIPs)) spec.clusterIPs = addresses.slice(0, 1);
    if (wanted.length > 1 && sameList(wanted, old.ipFamilies)) spec.ipFamilies = wanted.slice(0, 1);
    return errors;
  }
  // an absent list is not a shorter one: it is filled in below
  if (addresses.length > 0 && addresses.length < listOf(old.clusterIPs).length) {
    errors.push(invalidValue(IP_FAMILY_POLICY, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP"));
  }
  if (wanted.length > 0 && wanted.length < listOf(old.ipFamilies).length) {
    errors.push(invalidValue(IP_FAMILY_POLICY, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary IP family"));
  }
  return errors;
}

/** Takes the family of each given address. */
function inferFamilies(spec: ServiceSpec, families: readonly Family[], errors: FieldError[]): void {
  const addresses = listOf(spec.clusterIPs);
  for (let i = listOf(spec.ipFamilies).length; i < addresses.length; i++) {
    const address = addresses[i];
    if (address === undefined || address === NONE) return;
    const family = familyOfText(address);
    if (families.includes(family)) spec.ipFamilies = [...listOf(spec.ipFamilies), family];
    else errors.push(invalidValue(`${CLUSTER_IPS}[${i}]`, addresses, `${family} is not configured on this cluster`));
  }
}

function checkConfigured(spec: ServiceSpec, families: readonly Family[], errors: FieldError[]): void {
  if (spec.ipFamilyPolicy === "RequireDualStack" && families.length < 2) {
    errors.push(invalidValue(IP_FAMILY_POLICY, spec.ipFamilyPolicy, "this cluster is not configured for dual-stack services"));
  }
  listOf(spec.ipFamilies).forEach((family, i) => {
    if (!families.some((configured) => configured === family)) {
      errors.push(invalidValue(`${IP_FAMILIES}[${i}]`, family, "not configured on this cluster"));
    }
  });
}

function completeFamilies(spec: ServiceSpec, families: readonly Family[], selectorless: boolean): void {
  const first = listOf(spec.ipFamilies)[0] ?? families[0];
  if (first === undefined) return;
  if (listOf(spec.ipFamilies).length === 0) spec.ipFamilies = [first];
  const wantsTwo = spec.ipFamilyPolicy !== "SingleStack" && (selectorless || families.length === 2);
  if (wantsTwo && listOf(spec.ipFamilies).length === 1) spec.ipFamilies = [first, otherFamily(first)];
}

/**
 * The checks of clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy against each other. Addresses that the stored
 * Service has already are not parsed again: an old server may have accepted what this one would not.
 */
export function validateClusterIPFields(spec: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  if (!needsClusterIP(spec)) return [];
  const errors: FieldError[] = [];
  const addresses = listOf(spec.clusterIPs);
  if (spec.clusterIP) {
    if (addresses.length === 0) errors.push(required(CLUSTER_IPS));
    else if (addresses[0] !== spec.clusterIP) errors.push(invalidValue(CLUSTER_IPS, addresses, "first value must match `clusterIP`"));
  } else if (addresses.length > 0) {
    errors.push(invalidValue(CLUSTER_IPS, addresses, "must be empty when `clusterIP` is not specified"));
  }
  const seen = new Set<string>();
  listOf(spec.ipFamilies).forEach((family, i) => {
    if (family !== "IPv4" && family !== "IPv6") errors.push(notSupported(`${IP_FAMILIES}[${i}]`, family, ["IPv4", "IPv6"]));
    if (seen.has(family)) errors.push(duplicate(`${IP_FAMILIES}[${i}]`, family));
    seen.add(family);
  });
  if (!isNil(spec.ipFamilyPolicy) && !POLICIES.includes(spec.ipFamilyPolicy)) {
    errors.push(notSupported(IP_FAMILY_POLICY, spec.ipFamilyPolicy, POLICIES));
  }
  if (addresses.length > 0) validateClusterIPList(spec, addresses, new Set(listOf(old?.clusterIPs)), errors);
  return errors;
}

function validateClusterIPList(spec: ServiceSpec, addresses: readonly string[], known: ReadonlySet<string>, errors: FieldError[]): void {
  let malformed = false;
  addresses.forEach((address, i) => {
    if (i === 0 && address === NONE) {
      if (addresses.length === 1) return;
      errors.push(invalidValue(CLUSTER_IPS, addresses, "'None' must be the first and only value"));
      malformed = true;
      return;
    }
    const refusal = addressError(`${CLUSTER_IPS}[${i}]`, address, known);
    if (!refusal) return;
    errors.push(refusal);
    malformed = true;
  });
  if (addresses.length > CLUSTER_IPS_MAX) {
    errors.push(invalidValue(CLUSTER_IPS, addresses, `may only hold up to ${CLUSTER_IPS_MAX} values`));
  }
  // checks of families would report wrong errors about texts that are no address
  if (malformed || isHeadlessList(spec)) return;
  const first = familyOfText(addresses[0] ?? "");
  if (addresses.length > 1 && addresses.every((address) => familyOfText(address) === first)) {
    errors.push(invalidValue(CLUSTER_IPS, addresses, "may specify no more than one IP for each IP family"));
  }
  listOf(spec.ipFamilies).forEach((family, i) => {
    const address = addresses[i];
    if (address === undefined || (family !== "IPv4" && family !== "IPv6") || familyOfText(address) === family) return;
    errors.push(invalidValue(`${CLUSTER_IPS}[${i}]`, address, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``));
  });
}

/** Why `address` is not an IP address, or undefined; `known` values are stored already and not checked again. */
export function addressError(field: string, address: string, known: ReadonlySet<string>): FieldError | undefined {
  if (known.has(address)) return undefined;
  const parsed = parseAddress(address);
  return parsed.ok ? undefined : invalidValue(field, address, ADDRESS_ERROR_TEXT[parsed.error]);
}
