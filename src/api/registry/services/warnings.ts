/**
 * Texts of Warning headers: the request is accepted, but may not do what the client expects. Source: upstream pkg/api/service/warnings.go.
 */
import type { Service } from "../../meta/kubernetes";
import { warnOfAddress, warnOfCIDR } from "../address-warnings";
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

/** Warnings of the status endpoint. They name the entry and not its member `ip`, as upstream pkg/registry/core/service/strategy.go does. */
export function statusWarningsFor({ status }: Service): string[] {
  const warnings: string[] = [];
  (status?.loadBalancer?.ingress ?? []).forEach(({ ip }, i) => {
    if (ip) warnOfAddress(`status.loadBalancer.ingress[${i}]`, ip, warnings);
  });
  return warnings;
}
