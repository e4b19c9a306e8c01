/**
 * The default values of a Service. Static ones depend on nothing but the object (upstream pkg/apis/core/v1/defaults.go); the families of objects
 * written by old versions are filled in when they are read (upstream pkg/registry/core/service/storage). Families of new objects are decided in
 * `families.ts`.
 */
import type { Service } from "../../meta/kubernetes";
import { type Family, familyOfText } from "../../../core/net/family";
import { normalizeClusterIPs } from "./normalize";
import { hasSelector, isExternallyAccessible, isHeadless, isNil, listOf, needsClusterIP, otherFamily } from "./predicates";

/** three hours, as in `--session-affinity` of every proxy mode */
const SESSION_TIMEOUT_SECONDS = 10800;

/** Runs on every decoded Service; a second run changes nothing. */
export function applyDefaults(service: Service): void {
  const spec = (service.spec ??= {});
  if (!spec.type) spec.type = "ClusterIP";
  if (!spec.sessionAffinity) spec.sessionAffinity = "None";
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  else if (spec.sessionAffinity === "ClientIP" && isNil(spec.sessionAffinityConfig?.clientIP?.timeoutSeconds)) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: SESSION_TIMEOUT_SECONDS } };
  }
  for (const port of spec.ports ?? []) {
    if (!port.protocol) port.protocol = "TCP";
    if (!port.targetPort) port.targetPort = port.port;
  }
  if (!spec.externalTrafficPolicy && isExternallyAccessible(spec)) spec.externalTrafficPolicy = "Cluster";
  const hasAddress = spec.type === "ClusterIP" || spec.type === "NodePort" || spec.type === "LoadBalancer";
  if (hasAddress && isNil(spec.internalTrafficPolicy)) spec.internalTrafficPolicy = "Cluster";
  if (spec.type !== "LoadBalancer") return;
  if (isNil(spec.allocateLoadBalancerNodePorts)) spec.allocateLoadBalancerNodePorts = true;
  for (const ingress of service.status?.loadBalancer?.ingress ?? []) if (ingress.ip && isNil(ingress.ipMode)) ingress.ipMode = "VIP";
}

/** Completes a stored Service for clients and for comparison; `families` are the cluster's, primary first. */
export function applyReadDefaults(service: Service, families: readonly Family[]): void {
  normalizeClusterIPs({ after: service });
  dropUnusedTrafficPolicy(service);
  const spec = service.spec;
  const primary = families[0];
  if (!spec || primary === undefined || !needsClusterIP(spec) || listOf(spec.ipFamilies).length > 0) return;
  if (isHeadless(spec)) {
    // the families of hand-written endpoints are unknown: both is the safe guess
    const dual = !hasSelector(spec);
    spec.ipFamilyPolicy = dual ? "RequireDualStack" : "SingleStack";
    spec.ipFamilies = dual ? [primary, otherFamily(primary)] : [primary];
    return;
  }
  const addresses = listOf(spec.clusterIPs);
  if (addresses.length === 0) return;
  spec.ipFamilies = addresses.map(familyOfText);
  spec.ipFamilyPolicy = addresses.length === 1 ? "SingleStack" : "RequireDualStack";
}

/** A copy of the stored Service with `applyReadDefaults` applied; the Service itself when nothing is missing, as is usual. */
export function withReadDefaults(stored: Service, families: readonly Family[]): Service {
  if (!lacksReadDefaults(stored)) return stored;
  const copy: Service = { ...stored, spec: { ...stored.spec } };
  applyReadDefaults(copy, families);
  return copy;
}

function lacksReadDefaults(service: Service): boolean {
  const spec = service.spec;
  if (!spec) return false;
  if (spec.type === "ExternalName") return !isNil(spec.internalTrafficPolicy);
  return (!!spec.clusterIP && listOf(spec.clusterIPs).length === 0) || listOf(spec.ipFamilies).length === 0;
}

/** ExternalName: a valid value of the field is accepted and dropped. An invalid one stays, and validation refuses it. */
export function dropUnusedTrafficPolicy(service: Service): void {
  const spec = service.spec;
  if (spec?.type !== "ExternalName") return;
  if (isNil(spec.internalTrafficPolicy) || spec.internalTrafficPolicy === "Cluster" || spec.internalTrafficPolicy === "Local") {
    delete spec.internalTrafficPolicy;
  }
}
