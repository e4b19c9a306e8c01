/** What a proxy needs of one EndpointSlice (upstream pkg/proxy/endpointslicecache.go). */
import { LABEL_HEADLESS, LABEL_SERVICE_NAME } from "../../meta/endpoint-keys";
import type { EndpointSlice } from "../../meta/kubernetes";
import { type Family, familyOfText } from "../../../core/net/family";

/** The slices that a proxy follows, as kube-proxy's watch selects them. */
export const PROXIED_SLICES = { path: "/apis/discovery.k8s.io/v1/endpointslices", labelSelector: `!${LABEL_HEADLESS}` } as const;

/** An endpoint of a slice, on any of its ports. */
export interface PortionEndpoint {
  readonly ip: string;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly nodeName: string | undefined;
  readonly zone: string | undefined;
  /** zones and nodes that should use the endpoint */
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

/** An endpoint on one port. */
export interface MergedEndpoint extends PortionEndpoint {
  /** `ip:port`, an IPv6 address in brackets */
  readonly key: string;
  readonly port: number;
}

export interface PortionPort {
  /** as portKey makes it */
  readonly key: string;
  readonly port: number;
}

/** A slice's part of one Service in one family: every endpoint on every port. */
export interface SlicePortion {
  readonly family: Family;
  readonly serviceName: string;
  readonly ports: readonly PortionPort[];
  readonly endpoints: readonly PortionEndpoint[];
}

/** What the ports of a Service and those of its slices have in common. */
export function portKey({ name, protocol }: { readonly name?: string; readonly protocol?: string }): string {
  return `${name ?? ""}/${protocol ?? "TCP"}`;
}

type SliceEndpoint = NonNullable<EndpointSlice["endpoints"]>[number];

const NO_HINTS: readonly string[] = [];

/**
 * undefined = a proxy leaves the slice alone: headless, of no Service, or with names instead of addresses. Ports without a name or a number are
 * skipped, as kube-proxy does; so are endpoints without an address of the slice's family.
 */
export function slicePortion(slice: EndpointSlice): SlicePortion | undefined {
  const labels = slice.metadata?.labels;
  const serviceName = labels?.[LABEL_SERVICE_NAME];
  const family = slice.addressType;
  if (!serviceName || LABEL_HEADLESS in labels || (family !== "IPv4" && family !== "IPv6")) return undefined;
  const ports = (slice.ports ?? []).flatMap((named): PortionPort[] => {
    const { name, port } = named;
    return typeof name === "string" && port ? [{ key: portKey(named), port }] : [];
  });
  return { family, serviceName, ports, endpoints: (slice.endpoints ?? []).flatMap((endpoint) => portionEndpoint(endpoint, family)) };
}

/** What was made of portions. A portion that stays is asked again with each change of its Service. */
const made = new WeakMap<SlicePortion, Map<PortionPort, readonly MergedEndpoint[]>>();

/** The endpoints on one port of the portion; each time the same ones. */
export function endpointsOn(portion: SlicePortion, at: PortionPort): readonly MergedEndpoint[] {
  const lists = made.get(portion) ?? new Map<PortionPort, readonly MergedEndpoint[]>();
  made.set(portion, lists);
  const known = lists.get(at);
  if (known) return known;
  const { family, endpoints } = portion;
  const { port } = at;
  const list = endpoints.map((endpoint): MergedEndpoint => {
    const { ip } = endpoint;
    return { key: family === "IPv6" ? `[${ip}]:${port}` : `${ip}:${port}`, port, ...endpoint };
  });
  lists.set(at, list);
  return list;
}

/**
 * The distinct addresses of ready endpoints on each node, over every port of the portions, also ports that the Service does not have. Their number is
 * what a healthCheckNodePort answers with. Source: pkg/proxy/endpointschangetracker.go getLocalReadyEndpointIPs.
 */
export function readyAddresses(portions: Iterable<SlicePortion>): Map<string, Set<string>> {
  const byNode = new Map<string, Set<string>>();
  for (const { ports, endpoints } of portions) {
    if (ports.length === 0) continue;
    for (const { ip, ready, nodeName } of endpoints) {
      if (!ready || nodeName === undefined) continue;
      byNode.set(nodeName, (byNode.get(nodeName) ?? new Set()).add(ip));
    }
  }
  return byNode;
}

/** Only the first address counts. Conditions that are not set mean ready, serving, not terminating. */
function portionEndpoint(endpoint: SliceEndpoint, family: Family): PortionEndpoint[] {
  const ip = endpoint.addresses?.[0];
  if (!ip || familyOfText(ip) !== family) return [];
  const { conditions, hints } = endpoint;
  return [
    {
      ip,
      ready: conditions?.ready ?? true,
      serving: conditions?.serving ?? true,
      terminating: conditions?.terminating ?? false,
      nodeName: nameIn(endpoint.nodeName),
      zone: nameIn(endpoint.zone),
      zoneHints: hints?.forZones?.map(({ name }) => name) ?? NO_HINTS,
      nodeHints: hints?.forNodes?.map(({ name }) => name) ?? NO_HINTS,
    },
  ];
}

/** "" names nothing. */
function nameIn(text: string | undefined | null): string | undefined {
  return text ? text : undefined;
}
