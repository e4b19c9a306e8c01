/**
 * Completes an update: values that the server once chose and the client left out, and `clusterIP` from `clusterIPs` or the other way round. Source:
 * upstream pkg/registry/core/service/storage/storage.go (patchAllocatedValues, normalizeClusterIPs).
 */
import type { Service } from "../../meta/kubernetes";
import { choosesNodePorts, needsClusterIP, needsHealthCheckNodePort, portsOf, sameList, type ServiceSpec, specOf } from "./predicates";

/** Update only: fills in values that the server gave the stored Service, so that a client without knowledge of a field keeps its value. */
export function patchAllocatedValues({ after, before }: { after: Service; before: Service }): void {
  const spec = (after.spec ??= {});
  const old = specOf(before);
  if (needsClusterIP(old) && needsClusterIP(spec)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = old.clusterIPs.slice();
  }
  // Where the server chooses none, a port without a number has none: that is how a client frees one.
  if (choosesNodePorts(old) && choosesNodePorts(spec)) patchNodePorts(spec, old);
  if (needsHealthCheckNodePort(old) && needsHealthCheckNodePort(spec) && !spec.healthCheckNodePort && old.healthCheckNodePort) {
    spec.healthCheckNodePort = old.healthCheckNodePort;
  }
}

/** By the port's name: its number may have changed. A value that the client set on another port is not used twice. */
function patchNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const byName = new Map<string, number>();
  for (const port of portsOf(old)) if (port.nodePort) byName.set(port.name ?? "", port.nodePort);
  if (byName.size === 0) return;
  const used = new Set<number>();
  for (const port of portsOf(spec)) if (port.nodePort) used.add(port.nodePort);
  for (const port of spec.ports ?? []) {
    if (port.nodePort) continue;
    const nodePort = byName.get(port.name ?? "");
    if (nodePort === undefined || used.has(nodePort)) continue;
    port.nodePort = nodePort;
    used.add(nodePort);
  }
}

/**
 * Old clients know `clusterIP` only: `clusterIPs` follows it where the client evidently set only one of them.
 * Without `before` (create, or a stored object as it is read) only the missing list is filled; a list without `clusterIP` is left for
 * validation to refuse.
 */
export function normalizeClusterIPs({ after, before }: { after: Service; before?: Service }): void {
  const spec = after.spec;
  if (!spec) return;
  if (!before) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  const old = specOf(before);
  const clusterIP = spec.clusterIP ?? "";
  const oldClusterIP = old.clusterIP ?? "";
  if (old.clusterIPs?.length && !spec.clusterIPs?.length && clusterIP === oldClusterIP) spec.clusterIPs = old.clusterIPs.slice();
  if (clusterIP === oldClusterIP || !sameList(spec.clusterIPs, old.clusterIPs)) return;
  if (clusterIP === "") delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP];
}
