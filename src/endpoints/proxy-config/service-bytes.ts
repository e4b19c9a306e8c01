/**
 * What a data plane needs of one Service on one node, as JSON bytes in two pieces. The first has the definition and the endpoints of the policy
 * Cluster, perhaps thousands; nodes share it. The second has the endpoints on the node itself.
 */
import type { MergedService, ServiceRef } from "../merge/merged-services";
import { policyUse, type ProxiedPort } from "../../api/registry/services/proxied-service";
import { type MergedEndpoint, portKey } from "../../api/registry/endpoint-slices/slice-portion";
import { type NodePlace, usableEndpoints } from "../merge/usable-endpoints";

/** The names that a Service tells apart. Every other node and zone gets the same bytes. */
export interface ToldApart {
  readonly nodes: ReadonlySet<string>;
  readonly zones: ReadonlySet<string>;
}

/** One piece of a Service's bytes. */
export interface Piece {
  /** the names whose bytes may differ from those of the others */
  toldApart(merged: MergedService): ToldApart;
  /** @param place its name "" stands for every node that the Service does not tell apart */
  bytesOf(merged: MergedService, place: NodePlace): Uint8Array;
}

const encoder = new TextEncoder();

/**
 * The members of ProxiedService. Each port has `cluster`: `ip:port` for traffic of the policy Cluster; absent = the port has none. It also has
 * `isServedSomewhere`: true = traffic that finds no endpoint is dropped, false = it is refused. The object stays open.
 */
export const SHARED_PIECE: Piece = {
  toldApart(merged) {
    const nodes = new Set<string>();
    const zones = new Set<string>();
    for (const [port, list] of portsOf(merged)) {
      if (!policyUse(merged.service, port).cluster) continue;
      addHints(nodes, list, ({ nodeHints }) => nodeHints);
      addHints(zones, list, ({ zoneHints }) => zoneHints);
    }
    return { nodes, zones };
  },
  bytesOf(merged, place) {
    const ports = portsOf(merged).map(([port, list]) => {
      const { cluster, isServedSomewhere } = usableEndpoints(list, policyUse(merged.service, port), place);
      return { ...port, cluster: cluster?.map(keyOf), isServedSomewhere };
    });
    return encoder.encode(JSON.stringify({ ...merged.service, ports }).slice(0, -1));
  },
};

/**
 * `local` and `localReady`, where there are any, and the end of the object. `local` has `ip:port` for traffic of the policy Local, by `name/protocol`
 * of the port; a port without such traffic is absent. `localReady` is what the healthCheckNodePort answers with; absent without one.
 */
export const LOCAL_PIECE: Piece = {
  toldApart(merged) {
    const nodes = new Set(merged.localReady?.keys());
    for (const [port, list] of portsOf(merged)) {
      if (!policyUse(merged.service, port).local) continue;
      for (const { nodeName } of list) if (nodeName !== undefined) nodes.add(nodeName);
    }
    return { nodes, zones: new Set() };
  },
  bytesOf(merged, place) {
    const local = portsOf(merged).flatMap(([port, list]) => {
      const usable = usableEndpoints(list, policyUse(merged.service, port), place).local;
      return usable ? [[portKey(port), usable.map(keyOf)] as const] : [];
    });
    const members = JSON.stringify({
      ...(local.length > 0 ? { local: Object.fromEntries(local) } : {}),
      ...(merged.localReady ? { localReady: merged.localReady.get(place.name) ?? 0 } : {}),
    });
    return encoder.encode(members === "{}" ? "}" : `,${members.slice(1)}`);
  },
};

export function refBytes({ namespace, name, family }: ServiceRef): Uint8Array {
  return encoder.encode(JSON.stringify({ namespace, name, family }));
}

/** The ports of the Service with their endpoints. */
function portsOf({ service, endpoints }: MergedService): (readonly [ProxiedPort, readonly MergedEndpoint[]])[] {
  return service.ports.map((port) => [port, endpoints.get(portKey(port)) ?? []] as const);
}

/** Hints count when every ready endpoint has one. */
function addHints(names: Set<string>, list: readonly MergedEndpoint[], hintsOf: (endpoint: MergedEndpoint) => readonly string[]): void {
  const ready = list.filter((endpoint) => endpoint.ready);
  if (!ready.every((endpoint) => hintsOf(endpoint).length > 0)) return;
  for (const endpoint of ready) for (const name of hintsOf(endpoint)) names.add(name);
}

function keyOf({ key }: MergedEndpoint): string {
  return key;
}
