/** What a data plane needs of one Service on one node, as JSON bytes. Nodes for which nothing differs share them. */
import type { MergedService, ServiceRef } from "../client/merged-services";
import { policyUse } from "../client/proxied-service";
import { type MergedEndpoint, portKey } from "../client/slice-portion";
import { localReadyCount, type NodePlace, usableEndpoints } from "../client/usable-endpoints";

/** The members that the bytes add to those of ProxiedService; lists hold `ip:port`. */
export interface PortTargets {
  /** for traffic of the policy Cluster; absent = the port has none */
  readonly cluster?: readonly string[];
  /** for traffic of the policy Local; absent = the port has none */
  readonly local?: readonly string[];
  /** false: traffic that finds no endpoint is refused; true: it is dropped */
  readonly isServedSomewhere: boolean;
}

/** The names that a Service tells apart. Every other node and zone gets the same bytes. */
export interface ToldApart {
  readonly nodes: ReadonlySet<string>;
  readonly zones: ReadonlySet<string>;
}

const encoder = new TextEncoder();

/** Nodes count by the policy Local, a health check and hints by node; zones by hints. */
export function toldApart({ service, endpoints }: MergedService): ToldApart {
  const nodes = new Set<string>();
  const zones = new Set<string>();
  const addNodesOf = (list: readonly MergedEndpoint[]): void => {
    for (const { nodeName } of list) if (nodeName !== undefined) nodes.add(nodeName);
  };
  if (service.healthCheckNodePort !== undefined) for (const list of endpoints.values()) addNodesOf(list);
  for (const port of service.ports) {
    const list = endpoints.get(portKey(port)) ?? [];
    const use = policyUse(service, port);
    if (use.local) addNodesOf(list);
    if (!use.cluster) continue;
    for (const { nodeHints, zoneHints } of list) {
      for (const node of nodeHints) nodes.add(node);
      for (const zone of zoneHints) zones.add(zone);
    }
  }
  return { nodes, zones };
}

/** @param place its name "" stands for every node that the Service does not tell apart */
export function serviceBytes({ service, endpoints }: MergedService, place: NodePlace): Uint8Array {
  const ports = service.ports.map((port) => {
    const { cluster, local, isServedSomewhere } = usableEndpoints(endpoints.get(portKey(port)) ?? [], policyUse(service, port), place);
    const targets: PortTargets = { cluster: cluster?.map(keyOf), local: local?.map(keyOf), isServedSomewhere };
    return { ...port, ...targets };
  });
  const localReady = service.healthCheckNodePort === undefined ? undefined : localReadyCount(endpoints.values(), place.name);
  return encoder.encode(JSON.stringify({ ...service, ports, localReady }));
}

export function refBytes({ namespace, name, family }: ServiceRef): Uint8Array {
  return encoder.encode(JSON.stringify({ namespace, name, family }));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function keyOf({ key }: MergedEndpoint): string {
  return key;
}
