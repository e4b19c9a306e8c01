import type { ServicePort } from "../../api/meta/kubernetes";
import type { PodFacts } from "./pod-facts";

/**
 * The number at which a Pod serves a Service's port: the target port itself, or that of the first port of its name and protocol.
 * undefined = the Pod has no such port. Source: upstream FindPort.
 */
export function targetPortOf(pod: Pick<PodFacts, "ports">, { targetPort, protocol }: ServicePort): number | undefined {
  if (typeof targetPort !== "string") return targetPort ?? 0;
  return pod.ports.find((port) => port.name === targetPort && port.protocol === (protocol ?? "TCP"))?.port;
}
