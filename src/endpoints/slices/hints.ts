/**
 * Hints by `spec.trafficDistribution` (KEP-4444, KEP-3015; upstream trafficdist/trafficdist.go).
 *
 *   PreferClose, PreferSameZone   a ready endpoint with a zone is for its zone
 *   PreferSameNode                and for its node; without a zone for its node alone
 *   otherwise                     no hints
 *
 * The annotation for topology aware hints wins over the field, and then there are no hints. They would need the CPU of all Nodes, and upstream gives
 * the feature up in favour of the field.
 */
import { ANNOTATION_TOPOLOGY_AWARE_HINTS, ANNOTATION_TOPOLOGY_MODE } from "../../api/meta/endpoint-keys";
import { semanticEqual } from "../../api/meta/equality";
import type { Endpoint, EndpointSlice, Service } from "../../api/meta/kubernetes";
import { specOf } from "../../api/registry/services/predicates";
import { endpointsOf } from "./slice-endpoint";

/** What the ready endpoints of a Service are for. */
export type HintPolicy = "none" | "zone" | "zoneAndNode";

/** Whether the Service asks for topology aware hints. The older one of the two annotations decides. */
export function asksForTopologyHints(service: Service): boolean {
  const annotations = service.metadata?.annotations ?? {};
  const mode = annotations[ANNOTATION_TOPOLOGY_AWARE_HINTS] ?? annotations[ANNOTATION_TOPOLOGY_MODE];
  return mode === "Auto" || mode === "auto";
}

/** The trafficDistribution by which the Service's endpoints get hints; "" = none. */
export function usedTrafficDistribution(service: Service): string {
  return hintPolicyOf(service) === "none" ? "" : (specOf(service).trafficDistribution ?? "");
}

/** How the endpoints of the Service get their hints. Topology aware hints come first, and are none (upstream endpointslice/trafficdist). */
export function hintPolicyOf(service: Service): HintPolicy {
  if (asksForTopologyHints(service)) return "none";
  switch (specOf(service).trafficDistribution) {
    case "PreferClose":
    case "PreferSameZone":
      return "zone";
    case "PreferSameNode":
      return "zoneAndNode";
    default:
      return "none";
  }
}

/** The endpoint with exactly the hints that it should have. */
export function withHints(endpoint: Endpoint, policy: HintPolicy): Endpoint {
  const hints = hintsOf(endpoint, policy);
  if (hints) return { ...endpoint, hints };
  if (!endpoint.hints) return endpoint;
  const { hints: _, ...rest } = endpoint;
  return rest;
}

/** Whether an endpoint of the slice has other hints than it should have. */
export function hasOldHints(slice: EndpointSlice, policy: HintPolicy): boolean {
  return endpointsOf(slice).some((endpoint) => !semanticEqual(endpoint.hints, hintsOf(endpoint, policy)));
}

function hintsOf({ conditions, zone, nodeName }: Endpoint, policy: HintPolicy): Endpoint["hints"] {
  if (policy === "none" || conditions?.ready !== true) return undefined;
  const forNode = policy === "zoneAndNode" && nodeName;
  if (!zone && !forNode) return undefined;
  return { ...(zone && { forZones: [{ name: zone }] }), ...(forNode && { forNodes: [{ name: nodeName }] }) };
}
