/**
 * All rules that one Service has to meet, in upstream's order (pkg/apis/core/validation, ValidateService). Metadata rules common
 * to all kinds are not here. The rules hold before and after addresses are given out, so a caller may refuse before it asks for one.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../../meta/field-errors";
import type { Service } from "../../meta/kubernetes";
import { validateDNS1123Subdomain, validateQualifiedName } from "../../meta/names";
import { validateLabels } from "../../meta/object-meta";
import { DEPRECATED_TOPOLOGY_ANNOTATION, TOPOLOGY_ANNOTATION } from "./annotations";
import { validateClusterIPFields } from "./families";
import {
  isExternallyAccessible,
  isHeadlessList,
  isNil,
  listOf,
  needsHealthCheckNodePort,
  samePointer,
  type ServiceSpec,
  specOf,
} from "./predicates";
import { validateExternalIPs, validateSourceRanges } from "./validate-addresses";
import { validateHealthCheckPort, validatePortClashes, validatePortPresence, validatePorts } from "./validate-ports";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const AFFINITIES = ["ClientIP", "None"];
const TRAFFIC_POLICIES = ["Cluster", "Local"];
const TRAFFIC_DISTRIBUTIONS = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";
/** one day */
const AFFINITY_TIMEOUT_SECONDS_MAX = 86400;

/** Every error of a Service with defaults and families. With `before` (update), the spelling of stored values is not checked again. */
export function validateService(service: Service, before?: Service): FieldError[] {
  const errors: FieldError[] = [];
  const spec = specOf(service);
  const old = before && specOf(before);
  validateTopologyAnnotations(service, errors);
  validatePortPresence(spec, errors);
  validateByType(spec, errors);
  validatePorts(spec, errors);
  validateLabels(spec.selector, "spec.selector", errors);
  validateAffinity(spec, errors);
  for (const error of validateClusterIPFields(spec, old)) errors.push(error);
  validateExternalIPs(spec, new Set(listOf(old?.externalIPs)), errors);
  if (!spec.type) errors.push(required("spec.type"));
  else if (!TYPES.includes(spec.type)) errors.push(notSupported("spec.type", spec.type, TYPES));
  validatePortClashes(spec, errors);
  validateSourceRanges(service, before, errors);
  if (!isNil(spec.allocateLoadBalancerNodePorts) && spec.type !== "LoadBalancer") {
    errors.push(forbiddenField("spec.allocateLoadBalancerNodePorts", ONLY_LOAD_BALANCER));
  }
  validateLoadBalancerClass(spec, undefined, errors);
  validateTrafficPolicies(spec, errors);
  return errors;
}

function validateTopologyAnnotations(service: Service, errors: FieldError[]): void {
  const annotations = service.metadata?.annotations;
  const mode = annotations?.[TOPOLOGY_ANNOTATION];
  const hints = annotations?.[DEPRECATED_TOPOLOGY_ANNOTATION];
  if (mode === undefined || hints === undefined || mode === hints) return;
  const detail = `must match annotations[${DEPRECATED_TOPOLOGY_ANNOTATION}] when both are specified`;
  errors.push(invalidValue(`metadata.annotations[${TOPOLOGY_ANNOTATION}]`, mode, detail));
}

function validateByType(spec: ServiceSpec, errors: FieldError[]): void {
  if (spec.type === "LoadBalancer" || spec.type === "NodePort") {
    if (isHeadlessList(spec)) {
      errors.push(invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${spec.type} services`));
    }
    return;
  }
  if (spec.type !== "ExternalName") return;
  const detail = "may not be set for ExternalName services";
  if (listOf(spec.clusterIPs).length > 0) errors.push(forbiddenField("spec.clusterIPs", detail));
  if (listOf(spec.ipFamilies).length > 0) errors.push(forbiddenField("spec.ipFamilies", detail));
  if (!isNil(spec.ipFamilyPolicy)) errors.push(forbiddenField("spec.ipFamilyPolicy", detail));
  const written = spec.externalName ?? "";
  // a trailing dot marks a fully qualified name
  const name = written.endsWith(".") ? written.slice(0, -1) : written;
  if (name === "") errors.push(required("spec.externalName"));
  else for (const message of validateDNS1123Subdomain(name)) errors.push(invalidValue("spec.externalName", name, message));
}

function validateAffinity(spec: ServiceSpec, errors: FieldError[]): void {
  const affinity = spec.sessionAffinity;
  if (!affinity) errors.push(required("spec.sessionAffinity"));
  else if (!AFFINITIES.includes(affinity)) errors.push(notSupported("spec.sessionAffinity", affinity, AFFINITIES));
  if (affinity !== "ClientIP") return;
  const field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (isNil(seconds)) errors.push(required(field, "when session affinity type is ClientIP"));
  else if (seconds <= 0 || seconds > AFFINITY_TIMEOUT_SECONDS_MAX) {
    errors.push(invalidValue(field, seconds, `must be greater than 0 and less than ${AFFINITY_TIMEOUT_SECONDS_MAX}`));
  }
}

/** With `old` (update) the class of a load balancer must stay too. */
export function validateLoadBalancerClass(spec: ServiceSpec, old: ServiceSpec | undefined, errors: FieldError[]): void {
  const field = "spec.loadBalancerClass";
  const isLoadBalancer = spec.type === "LoadBalancer";
  if (isLoadBalancer && old?.type === "LoadBalancer" && !samePointer(spec.loadBalancerClass, old.loadBalancerClass)) {
    errors.push(invalidValue(field, spec.loadBalancerClass, "may not change once set"));
  }
  if (isNil(spec.loadBalancerClass)) return;
  if (!isLoadBalancer) errors.push(forbiddenField(field, ONLY_LOAD_BALANCER));
  else
    for (const message of validateQualifiedName(spec.loadBalancerClass)) errors.push(invalidValue(field, spec.loadBalancerClass, message));
}

function validateTrafficPolicies(spec: ServiceSpec, errors: FieldError[]): void {
  const external = spec.externalTrafficPolicy;
  if (!isExternallyAccessible(spec)) {
    if (external) {
      errors.push(invalidValue("spec.externalTrafficPolicy", external, "may only be set for externally-accessible services"));
    }
  } else if (!external) errors.push(required("spec.externalTrafficPolicy"));
  else if (!TRAFFIC_POLICIES.includes(external)) errors.push(notSupported("spec.externalTrafficPolicy", external, TRAFFIC_POLICIES));

  if (spec.healthCheckNodePort) {
    const field = "spec.healthCheckNodePort";
    if (needsHealthCheckNodePort(spec)) validateHealthCheckPort(spec.healthCheckNodePort, field, errors);
    else {
      const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
      errors.push(invalidValue(field, spec.healthCheckNodePort, detail));
    }
  }

  const internal = spec.internalTrafficPolicy;
  if (!isNil(internal) && !TRAFFIC_POLICIES.includes(internal)) {
    errors.push(notSupported("spec.internalTrafficPolicy", internal, TRAFFIC_POLICIES));
  }
  const distribution = spec.trafficDistribution;
  if (!isNil(distribution) && !TRAFFIC_DISTRIBUTIONS.includes(distribution)) {
    errors.push(notSupported("spec.trafficDistribution", distribution, TRAFFIC_DISTRIBUTIONS));
  }
}
