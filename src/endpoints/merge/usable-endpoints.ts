/** Where the traffic of one node goes (upstream pkg/proxy/topology.go). */
import type { PolicyUse } from "../../api/registry/services/proxied-service";
import type { MergedEndpoint } from "../../api/registry/endpoint-slices/slice-portion";

/** A node, as far as endpoints are chosen by it. */
export interface NodePlace {
  readonly name: string;
  /** its label topology.kubernetes.io/zone */
  readonly zone: string | undefined;
}

export interface UsableEndpoints {
  /** for traffic of the policy Cluster; undefined = none of the port's traffic has this policy */
  readonly cluster: readonly MergedEndpoint[] | undefined;
  /** for traffic of the policy Local; undefined = none of the port's traffic has this policy */
  readonly local: readonly MergedEndpoint[] | undefined;
  /** all that the node sends something to: the union of both */
  readonly reachable: readonly MergedEndpoint[];
  /** Some node has an endpoint. Traffic that this node has none for is then dropped; otherwise it is refused. */
  readonly isServedSomewhere: boolean;
}

/**
 * The usable ones of `endpoints` on a node. Ready endpoints are; where a policy has none, those that serve although they terminate. Hints count
 * for the policy Cluster only.
 */
export function usableEndpoints(endpoints: readonly MergedEndpoint[], use: PolicyUse, node: NodePlace): UsableEndpoints {
  const cluster = use.cluster ? readyOrServing(endpoints, hintRule(endpoints, node)) : undefined;
  const local = use.local ? readyOrServing(endpoints, ({ nodeName }) => nodeName === node.name) : undefined;
  const isServedSomewhere =
    (cluster?.length ?? 0) > 0 || (use.local && endpoints.some((endpoint) => endpoint.ready || isServingLast(endpoint)));
  return { cluster, local, reachable: union(endpoints, cluster, local), isServedSomewhere };
}

type EndpointRule = (endpoint: MergedEndpoint) => boolean;

function readyOrServing(endpoints: readonly MergedEndpoint[], isWanted: EndpointRule): readonly MergedEndpoint[] {
  const ready = endpoints.filter((endpoint) => endpoint.ready && isWanted(endpoint));
  return ready.length > 0 ? ready : endpoints.filter((endpoint) => isServingLast(endpoint) && isWanted(endpoint));
}

/** It answers until it is gone. */
function isServingLast({ serving, terminating }: MergedEndpoint): boolean {
  return serving && terminating;
}

/**
 * Hints count when every ready endpoint has one and some ready endpoint is meant for this node: by node first, then by zone. So hints never leave a
 * node without an endpoint. Where they count, a ready endpoint passes, so terminating ones are looked at without hints only.
 */
function hintRule(endpoints: readonly MergedEndpoint[], node: NodePlace): EndpointRule {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  const counts = (hintsOf: (endpoint: MergedEndpoint) => readonly string[], place: string) =>
    ready.some((endpoint) => hintsOf(endpoint).includes(place)) && ready.every((endpoint) => hintsOf(endpoint).length > 0);
  if (counts(({ nodeHints }) => nodeHints, node.name)) return ({ nodeHints }) => nodeHints.includes(node.name);
  const { zone } = node;
  if (zone && counts(({ zoneHints }) => zoneHints, zone)) return ({ zoneHints }) => zoneHints.includes(zone);
  return () => true;
}

/** In the order of `endpoints`. */
function union(
  endpoints: readonly MergedEndpoint[],
  cluster: readonly MergedEndpoint[] | undefined,
  local: readonly MergedEndpoint[] | undefined,
): readonly MergedEndpoint[] {
  if (!cluster || !local) return cluster ?? local ?? [];
  const chosen = new Set([...cluster, ...local]);
  return chosen.size === cluster.length ? cluster : endpoints.filter((endpoint) => chosen.has(endpoint));
}
