/** Addresses and ranges that a Service names without owning them. Source: upstream pkg/apis/core/validation. */
import { assert } from "../../../core/base/assert";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../../meta/field-errors";
import type { Service } from "../../meta/kubernetes";
import { validateDNS1123Subdomain } from "../../meta/names";
import { type Address, parseAddress } from "../../../core/net/address";
import { containsAddress, parsePrefix, type Prefix, prefixErrorText } from "../../../core/net/prefix";
import { SOURCE_RANGES_ANNOTATION } from "./annotations";
import { addressError } from "./families";
import { isNil, listOf, specOf, type ServiceSpec } from "./predicates";

const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";
const IP_MODES = ["Proxy", "VIP"];

function prefixOf(text: string): Prefix {
  const parsed = parsePrefix(text);
  assert(parsed.ok, `prefixOf: ${text} is a prefix`);
  return parsed.value;
}

/** Every flag nibble of an IPv6 multicast address of link-local scope (RFC 4291 §2.7). */
const LINK_LOCAL_MULTICAST_IPV6 = Array.from("0123456789abcdef", (flags) => `ff${flags}2::/16`);

/** Addresses that no traffic from outside can reach, with upstream's text. */
const SPECIAL: readonly { prefixes: readonly Prefix[]; detail: string }[] = [
  { prefixes: ["127.0.0.0/8", "::1/128"].map(prefixOf), detail: "may not be in the loopback range (127.0.0.0/8, ::1/128)" },
  { prefixes: ["169.254.0.0/16", "fe80::/10"].map(prefixOf), detail: "may not be in the link-local range (169.254.0.0/16, fe80::/10)" },
  {
    prefixes: ["224.0.0.0/24", ...LINK_LOCAL_MULTICAST_IPV6].map(prefixOf),
    detail: "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
  },
];

/** `known` are the stored Service's entries: their spelling is not checked again. */
export function validateExternalIPs(spec: ServiceSpec, known: ReadonlySet<string>, errors: FieldError[]): void {
  listOf(spec.externalIPs).forEach((text, i) => {
    const field = `spec.externalIPs[${i}]`;
    const refusal = addressError(field, text, known);
    if (refusal) {
      errors.push(refusal);
      return;
    }
    const parsed = parseAddress(text);
    if (parsed.ok) validateReachable(field, text, parsed.value, errors);
  });
}

function validateReachable(field: string, text: string, { family, value }: Address, errors: FieldError[]): void {
  if (value === 0n) errors.push(invalidValue(field, text, `may not be unspecified (${text})`));
  for (const { prefixes, detail } of SPECIAL) {
    if (prefixes.some((prefix) => containsAddress(prefix, family, value))) errors.push(invalidValue(field, text, detail));
  }
}

/** spec.loadBalancerSourceRanges (upstream spells the field of its errors with a capital L), or the annotation that preceded it. */
export function validateSourceRanges(service: Service, before: Service | undefined, errors: FieldError[]): void {
  const spec = specOf(service);
  const ranges = listOf(spec.loadBalancerSourceRanges);
  if (ranges.length > 0) {
    const field = "spec.LoadBalancerSourceRanges";
    if (spec.type !== "LoadBalancer") errors.push(forbiddenField(field, ONLY_LOAD_BALANCER));
    const known = new Set(before && listOf(specOf(before).loadBalancerSourceRanges));
    ranges.forEach((range, i) => {
      if (!known.has(range)) validateCIDR(`${field}[${i}]`, range.trim(), errors);
    });
    return;
  }
  const annotation = service.metadata?.annotations?.[SOURCE_RANGES_ANNOTATION];
  if (annotation === undefined) return;
  const field = `metadata.annotations[${SOURCE_RANGES_ANNOTATION}]`;
  if (spec.type !== "LoadBalancer") errors.push(forbiddenField(field, ONLY_LOAD_BALANCER));
  if (annotation.trim() === "" || before?.metadata?.annotations?.[SOURCE_RANGES_ANNOTATION] === annotation) return;
  for (const range of annotation.split(",")) validateCIDR(field, range.trim(), errors);
}

/** Any spelling of a prefix is valid here, canonical or not. */
function validateCIDR(field: string, text: string, errors: FieldError[]): void {
  const parsed = parsePrefix(text);
  if (parsed.ok || parsed.error.reason === "notCanonical") return;
  errors.push(invalidValue(field, text, prefixErrorText(parsed.error)));
}

/** Status writes: the addresses of the load balancer. `before` is the stored Service. */
export function validateLoadBalancerStatus({ after, before }: { after: Service; before: Service }): FieldError[] {
  const errors: FieldError[] = [];
  const field = "status.loadBalancer.ingress";
  const ingress = after.status?.loadBalancer?.ingress ?? [];
  if (ingress.length === 0) return errors;
  if (specOf(after).type !== "LoadBalancer") {
    errors.push(forbiddenField(field, "may only be used when `spec.type` is 'LoadBalancer'"));
    return errors;
  }
  const known = new Set(before.status?.loadBalancer?.ingress?.map((entry) => entry.ip ?? ""));
  ingress.forEach(({ ip, ipMode, hostname }, i) => {
    const refusal = ip ? addressError(`${field}[${i}].ip`, ip, known) : undefined;
    if (refusal) errors.push(refusal);
    validateIPMode(`${field}[${i}].ipMode`, ip ?? "", ipMode, errors);
    if (hostname) validateIngressHost(`${field}[${i}].hostname`, hostname, errors);
  });
  return errors;
}

function validateIPMode(field: string, ip: string, ipMode: string | undefined, errors: FieldError[]): void {
  if (isNil(ipMode)) {
    if (ip) errors.push(required(field, "must be specified when `ip` is set"));
  } else if (!ip) {
    errors.push(forbiddenField(field, "may not be specified when `ip` is not set"));
  } else if (!IP_MODES.includes(ipMode)) {
    errors.push(notSupported(field, ipMode, IP_MODES));
  }
}

function validateIngressHost(field: string, hostname: string, errors: FieldError[]): void {
  for (const message of validateDNS1123Subdomain(hostname)) errors.push(invalidValue(field, hostname, message));
  const parsed = parseAddress(hostname);
  if (parsed.ok || parsed.error !== "invalid") errors.push(invalidValue(field, hostname, "must be a DNS name, not an IP address"));
}
