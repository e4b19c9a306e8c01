/**
 * Fields that stop to apply when an update changes what kind of Service this is. A field goes only if the server may have filled it in
 * and the client left it as it was; a changed value stays, and validation refuses it.
 * Source: upstream pkg/registry/core/service/strategy.go (dropTypeDependentFields).
 */
import type { Service } from "../../meta/kubernetes";
import {
  isExternallyAccessible,
  isNil,
  needsClusterIP,
  needsHealthCheckNodePort,
  needsNodePort,
  portsOf,
  sameList,
  samePointer,
  type ServiceSpec,
  specOf,
} from "./predicates";

/** `after` is normalised; `before` is the stored Service. */
export function dropTypeDependentFields({ after, before }: { after: Service; before: Service }): void {
  const spec = (after.spec ??= {});
  const old = specOf(before);
  if (needsClusterIP(old) && !needsClusterIP(spec)) dropAddressFields(spec, old);
  if (needsNodePort(old) && !needsNodePort(spec) && addsNoNodePort(spec, old)) for (const port of spec.ports ?? []) delete port.nodePort;
  if (
    needsHealthCheckNodePort(old) &&
    !needsHealthCheckNodePort(spec) &&
    (spec.healthCheckNodePort ?? 0) === (old.healthCheckNodePort ?? 0)
  ) {
    delete spec.healthCheckNodePort;
  }
  if (old.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (!isNil(old.allocateLoadBalancerNodePorts) && spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts) {
      delete spec.allocateLoadBalancerNodePorts;
    }
    if (samePointer(spec.loadBalancerClass, old.loadBalancerClass)) delete spec.loadBalancerClass;
  }
  if (
    isExternallyAccessible(old) &&
    !isExternallyAccessible(spec) &&
    (spec.externalTrafficPolicy ?? "") === (old.externalTrafficPolicy ?? "")
  ) {
    delete spec.externalTrafficPolicy;
  }
  if (spec.type !== "LoadBalancer" && after.status?.loadBalancer?.ingress) after.status = { ...after.status, loadBalancer: {} };
}

function dropAddressFields(spec: ServiceSpec, old: ServiceSpec): void {
  if (sameList(spec.clusterIPs, old.clusterIPs)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (sameList(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
  if (samePointer(spec.ipFamilyPolicy, old.ipFamilyPolicy)) delete spec.ipFamilyPolicy;
}

/** Whether no port has a node port that the stored Service lacks; ports may be added, removed and changed. */
function addsNoNodePort(spec: ServiceSpec, old: ServiceSpec): boolean {
  const known = new Set<number>();
  for (const port of portsOf(old)) if (port.nodePort) known.add(port.nodePort);
  return portsOf(spec).every((port) => !port.nodePort || known.has(port.nodePort));
}
