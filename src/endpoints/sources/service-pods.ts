/** Which Services have endpoints made of Pods, and of which Pods. Source: upstream endpointslice_controller.go and util/controller_utils.go. */
import type { Service } from "../../api/meta/kubernetes";
import { hasSelector, specOf } from "../../api/registry/services/predicates";
import type { PodFacts } from "./pod-facts";

/** Whether a controller writes the Service's endpoints. Those of other Services are written by hand, or there are none. */
export function hasPods(service: Service): boolean {
  const spec = specOf(service);
  return spec.type !== "ExternalName" && hasSelector(spec);
}

/** Whether the Service's selector names the Pod; never for a Service without a selector. */
export function selects(service: Service, pod: Pick<PodFacts, "namespace" | "labels">): boolean {
  const { selector } = specOf(service);
  if (!hasPods(service) || service.metadata?.namespace !== pod.namespace) return false;
  return Object.entries(selector ?? {}).every(([key, value]) => Object.hasOwn(pod.labels, key) && pod.labels[key] === value);
}

/** Whether a selected Pod is an endpoint at all: it has not finished, and it has an address. */
export function isEndpoint(pod: PodFacts): boolean {
  return !pod.finished && pod.ips.length + pod.refusedIps.length > 0;
}

/** The name that DNS gives the endpoint below the Service's name; undefined = none. */
export function hostnameIn(service: Service, pod: PodFacts): string | undefined {
  return pod.hostname !== "" && pod.subdomain === service.metadata?.name ? pod.hostname : undefined;
}
