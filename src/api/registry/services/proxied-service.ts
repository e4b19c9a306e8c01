/**
 * What a proxy needs of a Service, one IP family at a time. The rules are kube-proxy's (upstream pkg/proxy/serviceport.go,
 * pkg/proxy/servicechangetracker.go, pkg/proxy/util/utils.go).
 */
import type { Service, ServicePort } from "../../meta/kubernetes";
import { isExternallyAccessible, needsHealthCheckNodePort, NONE, portsOf, specOf } from "./predicates";
import { type Family, familyOfText } from "../../../core/net/family";

/** on a Service: another proxy than the cluster's serves it, whatever the value */
const LABEL_SERVICE_PROXY_NAME = "service.kubernetes.io/service-proxy-name";

/** The Services that a proxy follows, as kube-proxy's watch selects them. */
export const PROXIED_SERVICES = {
  path: "/api/v1/services",
  labelSelector: `!${LABEL_SERVICE_PROXY_NAME}`,
  fieldSelector: `spec.clusterIP!=${NONE}`,
} as const;

export type TrafficPolicy = "Cluster" | "Local";

export interface ProxiedPort {
  /** "" for the only port of a Service */
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly nodePort: number | undefined;
  readonly appProtocol: string | undefined;
}

/** A Service in one family. Every address is of that family. */
export interface ProxiedService {
  readonly namespace: string;
  readonly name: string;
  readonly family: Family;
  readonly clusterIP: string;
  readonly externalIPs: readonly string[];
  /** of the load balancer, where packets arrive with this address as their target (ipMode VIP) */
  readonly loadBalancerIPs: readonly string[];
  /** CIDRs that may use loadBalancerIPs; empty = everybody */
  readonly loadBalancerSourceRanges: readonly string[];
  /** session affinity by the client's IP, for so many seconds; undefined = none */
  readonly affinitySeconds: number | undefined;
  /** for clusterIP */
  readonly internalTrafficPolicy: TrafficPolicy;
  /** for node ports, externalIPs and loadBalancerIPs */
  readonly externalTrafficPolicy: TrafficPolicy;
  readonly healthCheckNodePort: number | undefined;
  readonly ports: readonly ProxiedPort[];
}

/** Default of `sessionAffinityConfig.clientIP.timeoutSeconds`: three hours. */
const AFFINITY_SECONDS = 10_800;

/** undefined = a proxy leaves the Service alone in this family: headless, ExternalName, another proxy's, or without an address of the family. */
export function proxiedService(service: Service, family: Family): ProxiedService | undefined {
  const spec = specOf(service);
  if (spec.type === "ExternalName" || !spec.clusterIP || spec.clusterIP === NONE) return undefined;
  const { name = "", namespace = "", labels } = service.metadata ?? {};
  if (labels && LABEL_SERVICE_PROXY_NAME in labels) return undefined;
  const clusterIP = ofFamily(spec.clusterIPs?.length ? spec.clusterIPs : [spec.clusterIP], family)[0];
  if (clusterIP === undefined) return undefined;
  const isLocal = isExternallyAccessible(spec) && spec.externalTrafficPolicy === "Local";
  return {
    namespace,
    name,
    family,
    clusterIP,
    externalIPs: ofFamily(spec.externalIPs, family),
    loadBalancerIPs: ofFamily(virtualIPs(service), family),
    loadBalancerSourceRanges: sourceRanges(spec.loadBalancerSourceRanges, family),
    affinitySeconds:
      spec.sessionAffinity === "ClientIP" ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_SECONDS) : undefined,
    internalTrafficPolicy: spec.internalTrafficPolicy === "Local" ? "Local" : "Cluster",
    externalTrafficPolicy: isLocal ? "Local" : "Cluster",
    healthCheckNodePort: needsHealthCheckNodePort(spec) ? numberOf(spec.healthCheckNodePort) : undefined,
    ports: portsOf(spec).map(proxiedPort),
  };
}

/** The lists of endpoints that traffic to a port is sent to. */
export interface PolicyUse {
  readonly cluster: boolean;
  readonly local: boolean;
}

/**
 * A port that is reached from outside needs the Cluster list even where both policies are Local: traffic from inside to an external address goes to
 * any endpoint. The external policy counts only for ports that are reached from outside.
 */
export function policyUse(service: ProxiedService, port: ProxiedPort): PolicyUse {
  const isExternal = port.nodePort !== undefined || service.loadBalancerIPs.length > 0 || service.externalIPs.length > 0;
  const isInternalLocal = service.internalTrafficPolicy === "Local";
  return {
    cluster: !isInternalLocal || isExternal,
    local: isInternalLocal || (isExternal && service.externalTrafficPolicy === "Local"),
  };
}

function proxiedPort(port: ServicePort): ProxiedPort {
  return {
    name: port.name ?? "",
    protocol: port.protocol ?? "TCP",
    port: port.port,
    nodePort: numberOf(port.nodePort),
    appProtocol: port.appProtocol ?? undefined,
  };
}

/** Addresses of a load balancer that hands packets on with their target unchanged. One that opens connections of its own (Proxy) needs no rule. */
function virtualIPs({ status }: Service): string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) => (ip && (ipMode ?? "VIP") === "VIP" ? [ip] : []));
}

/** Upstream's validation lets blanks around a range pass. A range of length 0 allows everybody. */
function sourceRanges(texts: readonly string[] | undefined | null, family: Family): readonly string[] {
  const ranges = ofFamily(
    texts?.map((text) => text.trim()),
    family,
  );
  return ranges.some((range) => range.endsWith("/0")) ? [] : ranges;
}

function ofFamily(texts: readonly string[] | undefined | null, family: Family): readonly string[] {
  return texts?.filter((text) => text !== "" && familyOfText(text) === family) ?? [];
}

/** 0 and null stand for "not set". */
function numberOf(value: number | undefined | null): number | undefined {
  return value ? value : undefined;
}
