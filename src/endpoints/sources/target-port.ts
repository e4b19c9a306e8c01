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

/** The numbers of the ports in one Pod; undefined = the Pod has no such port. Equal numbers have equal keys. */
export interface TargetPorts {
  readonly numbers: readonly (number | undefined)[];
  readonly key: string;
}

/** Answers the target ports of each Pod. Where none has a name they are the same for all Pods, and made once. */
export function targetPortsFinder(servicePorts: readonly ServicePort[]): (pod: Pick<PodFacts, "ports">) => TargetPorts {
  const targetPorts = (pod: Pick<PodFacts, "ports">): TargetPorts => {
    const numbers = servicePorts.map((port) => targetPortOf(pod, port));
    return { numbers, key: numbers.join() };
  };
  if (servicePorts.some(({ targetPort }) => typeof targetPort === "string")) return targetPorts;
  const all = targetPorts({ ports: [] });
  return () => all;
}
