/** The endpoints that a Service should have, computed one Pod after the other from the whole objects: a model of the slices' union. */
import type { EndpointSlice, Node, Pod, Service, ServicePort } from "../../src/api/meta/kubernetes";
import { endpointsOf } from "../../src/endpoints/slices/slice-endpoint";

/** One text for each endpoint: family, ports, and everything that the endpoint says but hints. Sorted; a family without endpoints has none. */
export function naiveEndpoints(service: Service, pods: readonly Pod[], nodes: readonly Node[]): string[] {
  const { spec = {}, metadata = {} } = service;
  const selector = Object.entries(spec.selector ?? {});
  if (spec.type === "ExternalName" || selector.length === 0) return [];
  const lines: string[] = [];
  for (const pod of pods) {
    const labels = pod.metadata?.labels ?? {};
    const node = nodes.find((one) => one.metadata?.name === pod.spec?.nodeName);
    if (pod.metadata?.namespace !== metadata.namespace || selector.some(([key, value]) => labels[key] !== value)) continue;
    if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") continue;
    if (!node && !spec.publishNotReadyAddresses) continue;
    const serving = Boolean(pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"));
    const terminating = pod.metadata?.deletionTimestamp !== undefined;
    for (const { ip } of pod.status?.podIPs ?? []) {
      const family = ip.includes(":") ? "IPv6" : "IPv4";
      if (ip.startsWith("127.") || !spec.ipFamilies?.includes(family)) continue;
      const ready = spec.publishNotReadyAddresses === true || (serving && !terminating);
      const target = `${pod.metadata?.name ?? ""}/${pod.metadata?.uid ?? ""}`;
      const place = `${pod.spec?.nodeName ?? ""}/${node?.metadata?.labels?.["topology.kubernetes.io/zone"] ?? ""}`;
      const hostname = pod.spec?.subdomain === metadata.name ? (pod.spec?.hostname ?? "") : "";
      lines.push([family, portsText(pod, spec.ports ?? []), ip, target, place, hostname, ready, serving, terminating].join(" "));
    }
  }
  return lines.sort();
}

function portsText(pod: Pod, ports: readonly ServicePort[]): string {
  const texts: string[] = [];
  for (const { name, protocol, targetPort } of ports) {
    const declared = pod.spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
    const found = declared.find((one) => one.name === targetPort && (one.protocol ?? "TCP") === protocol);
    const number = typeof targetPort === "number" ? targetPort : found?.containerPort;
    if (number !== undefined) texts.push(`${name ?? ""}/${protocol ?? ""}/${number}`);
  }
  return texts.sort().join();
}

/** The lines of naiveEndpoints, read from the slices. */
export function sliceLines(slices: readonly EndpointSlice[]): string[] {
  return slices
    .flatMap((slice) => {
      const ports = (slice.ports ?? []).map(({ name, protocol, port }) => `${name ?? ""}/${protocol ?? ""}/${port ?? ""}`).sort();
      return endpointsOf(slice).map(({ addresses, targetRef, nodeName, zone, hostname, conditions }) => {
        const target = `${targetRef?.name ?? ""}/${targetRef?.uid ?? ""}`;
        const { ready, serving, terminating } = conditions ?? {};
        const place = `${nodeName ?? ""}/${zone ?? ""}`;
        return [slice.addressType, ports.join(), addresses.join(), target, place, hostname ?? "", ready, serving, terminating].join(" ");
      });
    })
    .sort();
}
