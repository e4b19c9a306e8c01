/** The Services that need a look after a Pod changed (upstream util/controller_utils.go, podEndpointsChanged). */
import { semanticEqual } from "../../api/meta/equality";
import type { Service } from "../../api/meta/kubernetes";
import type { PodFacts } from "./pod-facts";
import { selects } from "./service-pods";

/**
 * Those that select the Pod, and those that did. If only its labels changed, a Service that selects it before and after sees no difference.
 * Upstream compares fewer facts: there a new host name, node or phase waits for the next look.
 *
 * @param before undefined = the Pod is new
 * @param after undefined = the Pod is gone
 * @param services those of the Pod's namespace
 */
export function affectedServices(before: PodFacts | undefined, after: PodFacts | undefined, services: readonly Service[]): Service[] {
  if (semanticEqual(before, after)) return [];
  const isSameEndpoint = before && after && semanticEqual({ ...before, labels: {} }, { ...after, labels: {} });
  return services.filter((service) => {
    const did = before !== undefined && selects(service, before);
    const does = after !== undefined && selects(service, after);
    return isSameEndpoint ? did !== does : did || does;
  });
}
