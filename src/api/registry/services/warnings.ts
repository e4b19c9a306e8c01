/**
 * Texts of Warning headers: what is accepted and yet not what the client may expect.
 * Source: upstream pkg/api/service/warnings.go and apimachinery pkg/util/validation/ip.go.
 */
import type { Service } from "../../meta/kubernetes";
import { parseAddress } from "../../../core/net/address";
import { formatPrefix, parsePrefix, prefixAround } from "../../../core/net/prefix";
import { DEPRECATED_TOPOLOGY_ANNOTATION, TOPOLOGY_ANNOTATION } from "./annotations";
import { isHeadless, listOf, NONE, specOf } from "./predicates";

/** In upstream's order; empty for a plain Service. */
export function warningsFor(service: Service): string[] {
  const warnings: string[] = [];
  const spec = specOf(service);
  if (service.metadata?.annotations && Object.hasOwn(service.metadata.annotations, DEPRECATED_TOPOLOGY_ANNOTATION)) {
    warnings.push(`annotation ${DEPRECATED_TOPOLOGY_ANNOTATION} is deprecated, please use ${TOPOLOGY_ANNOTATION} instead`);
  }
  const externalIPs = listOf(spec.externalIPs);
  const headless = spec.type === "ClusterIP" && isHeadless(spec);
  if (spec.clusterIP && spec.clusterIP !== NONE)
    listOf(spec.clusterIPs).forEach((ip, i) => warnOfAddress(`spec.clusterIPs[${i}]`, ip, warnings));
  if (headless) {
    if (spec.loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (externalIPs.length > 0) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  externalIPs.forEach((ip, i) => warnOfAddress(`spec.externalIPs[${i}]`, ip, warnings));
  if (externalIPs.length > 0 && !headless && spec.type !== "ExternalName") {
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  if (spec.loadBalancerIP) warnOfAddress("spec.loadBalancerIP", spec.loadBalancerIP, warnings);
  listOf(spec.loadBalancerSourceRanges).forEach((cidr, i) => warnOfCIDR(`spec.loadBalancerSourceRanges[${i}]`, cidr, warnings));
  if (spec.type === "ExternalName" && externalIPs.length > 0) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (spec.type !== "ExternalName" && spec.externalName) {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (spec.trafficDistribution === "PreferClose") {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return warnings;
}

/** No warning for a text that is no address: validation has refused it, or the field takes any text. */
function warnOfAddress(field: string, text: string, warnings: string[]): void {
  const parsed = parseAddress(text);
  if (parsed.ok) {
    const { canonical } = parsed.value;
    if (canonical !== text)
      warnings.push(`${field}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${quote(canonical)})`);
    return;
  }
  const meant = parsed.error === "leadingZeros" ? withoutLeadingZeros(text) : parsed.error === "ipv4Mapped" ? mappedIPv4(text) : undefined;
  if (meant !== undefined) warnings.push(`${field}: non-standard IP address ${quote(text)} is invalid: use ${quote(meant)}`);
}

function withoutLeadingZeros(text: string): string | undefined {
  const parsed = parseAddress(text.replace(/(^|[.:])0+(?=[0-9a-fA-F])/g, "$1"));
  return parsed.ok ? parsed.value.canonical : undefined;
}

/** `::ffff:10.0.0.1`, `::ffff:a00:1` -> `10.0.0.1`. The marker is replaced so that the rest of the text can be parsed. */
function mappedIPv4(text: string): string | undefined {
  const parsed = parseAddress(text.replace(/ffff/i, "fffe"));
  if (!parsed.ok) return undefined;
  const value = Number(parsed.value.value & 0xffff_ffffn);
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
}

function warnOfCIDR(field: string, text: string, warnings: string[]): void {
  const parsed = parsePrefix(text);
  if (parsed.ok) return;
  if (parsed.error.reason === "notCanonical") {
    warnings.push(`${field}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${quote(parsed.error.canonical)})`);
  }
  if (parsed.error.reason !== "hostBits") return;
  const slash = text.indexOf("/");
  const address = parseAddress(text.slice(0, slash));
  if (!address.ok) return;
  const { family, value, canonical } = address.value;
  const network = formatPrefix(prefixAround(family, value, Number(text.slice(slash + 1))));
  const single = `${canonical}/${family === "IPv4" ? 32 : 128}`;
  warnings.push(`${field}: CIDR value ${quote(text)} is ambiguous in this context (should be ${quote(network)} or ${quote(single)}?)`);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
