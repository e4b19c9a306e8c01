/** The part of a cluster that a check reads: the members of each object that it judges. */
import { isRecord } from "../../core/base/record";
import { LABEL_ZONE } from "../../api/meta/endpoint-keys";
import type { Service, ServiceCIDR } from "../../api/meta/kubernetes";
import type { PoolKind } from "../../api/registry/ipam/ipam";
import type { HoldingService } from "../../api/registry/services/held-by-service";
import { portsOf, specOf } from "../../api/registry/services/predicates";
import type { Family } from "../../core/net/family";
import { serviceFamilies } from "../../endpoints/sources/service-families";
import { hasPods } from "../../endpoints/sources/service-pods";

interface ObservedMeta {
  name?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
}

export interface ObservedService extends HoldingService {
  metadata?: ObservedMeta;
  /** set by observedService for a Service with a selector */
  selection?: Selection;
  /** the same: addresses of its load balancer, as its status has them; absent = it shows none */
  shows?: readonly string[];
}

/** What a Service asks of the Pods that it selects. */
export interface Selection {
  selector: Readonly<Record<string, string>>;
  families: readonly Family[];
  publishNotReady: boolean;
  ports: readonly { name: string; protocol: string; targetPort: number | string }[];
}

export interface ObservedIPAddress {
  metadata?: ObservedMeta;
  spec?: { parentRef?: { group?: string; resource?: string; namespace?: string; name?: string } };
}

export type ObservedServiceCIDR = ServiceCIDR;

export interface ObservedNode {
  metadata?: ObservedMeta;
  spec?: { podCIDR?: string; podCIDRs?: string[] };
  status?: { addresses?: { type: string; address: string }[] };
  /** set by observedNode; absent = it says none */
  zone?: string;
}

/** The objects of one kind. */
export interface Listed<T> {
  objects: T[];
  /** labels of stored objects that cannot be read, because something has damaged them */
  unreadable: string[];
}

/** One cluster at about one moment. */
export interface ObservedCluster {
  services: readonly ObservedService[];
  ipAddresses: readonly ObservedIPAddress[];
  serviceCIDRs: readonly ObservedServiceCIDR[];
  /** labels of stored objects that cannot be read: their absence proves nothing */
  unreadable?: ReadonlySet<string>;
}

/** A row of an owner of addresses. */
export interface ObservedRow {
  /** canonical text */
  address: string;
  holder: { kind: "service" | "ipaddress"; namespace: string; name: string; uid: string };
}

/** The report of the object that writes a ServiceCIDR's addresses. */
export interface ObservedOwner {
  uid: string;
  rows: readonly ObservedRow[];
  /** how its bitmap differs from its rows; "" = not at all */
  differs: string;
}

/** The owners of addresses, and their rows. */
export interface ObservedOwners {
  /** prefix -> the uid of its owner; disjoint when all is well */
  claims: readonly { prefix: string; ownerUid: string }[];
  owners: readonly ObservedOwner[];
  /** owners that could not be read */
  silent: readonly { uid: string; reason: string }[];
}

/** The parts of an object that judgements need, so that a hundred thousand of them fit into memory. */
export function observedService(service: ObservedService): ObservedService {
  const { metadata, spec } = service;
  const selection = selectionOf(service as Service);
  const { type, clusterIP, clusterIPs, ports, healthCheckNodePort } = spec ?? {};
  const shows = ingressOf(service as Service);
  const named = ports?.flatMap(({ protocol, nodePort }) => (nodePort ? [{ ...(protocol ? { protocol } : {}), nodePort }] : []));
  return {
    metadata: observedMeta(metadata),
    spec: {
      ...(type === undefined ? {} : { type }),
      ...(clusterIPs ? { clusterIPs } : clusterIP === undefined ? {} : { clusterIP }),
      ...(named?.length ? { ports: named } : {}),
      ...(healthCheckNodePort ? { healthCheckNodePort } : {}),
    },
    ...(selection ? { selection } : {}),
    ...(shows.length > 0 ? { shows } : {}),
  };
}

function ingressOf({ status }: Service): string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip || []);
}

/** undefined = no controller makes endpoints of the Service. */
export function selectionOf(service: Service): Selection | undefined {
  if (!hasPods(service)) return undefined;
  const { selector = {}, publishNotReadyAddresses } = specOf(service);
  return {
    selector,
    families: serviceFamilies(service),
    publishNotReady: publishNotReadyAddresses === true,
    ports: portsOf(specOf(service)).map(({ name = "", protocol = "TCP", port, targetPort = port }) => ({ name, protocol, targetPort })),
  };
}

export function observedIPAddress({ metadata, spec }: ObservedIPAddress): ObservedIPAddress {
  const { labels, creationTimestamp } = metadata ?? {};
  return {
    metadata: {
      ...observedMeta(metadata),
      ...(labels ? { labels } : {}),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    ...(spec ? { spec } : {}),
  };
}

export function observedNode({ metadata, spec, status }: ObservedNode): ObservedNode {
  const { podCIDR, podCIDRs } = spec ?? {};
  const zone = metadata?.labels?.[LABEL_ZONE];
  return {
    metadata: observedMeta(metadata),
    ...(zone ? { zone } : {}),
    spec: { ...(podCIDR === undefined ? {} : { podCIDR }), ...(podCIDRs ? { podCIDRs } : {}) },
    status: { addresses: (status?.addresses ?? []).map(({ type, address }) => ({ type, address })) },
  };
}

function observedMeta({ name = "", namespace = "", uid = "" }: ObservedMeta = {}): ObservedMeta {
  return { name, namespace, uid };
}

export type CheckedKind =
  "Service" | "IPAddress" | "ServiceCIDR" | "Node" | "Pod" | "EndpointSlice" | "IPAddressClaim" | "IPAddress.ipam" | PoolKind;

/** Whether a stored value has the judged members of its kind in the right types; their contents may be wrong. */
export function isWhole(kind: CheckedKind, value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value["metadata"]) || typeof value["metadata"]["name"] !== "string") return false;
  const { spec = {}, status = {} } = value;
  if (!isRecord(spec) || !isRecord(status)) return false;
  switch (kind) {
    case "Service":
      return [
        isListOf(spec["clusterIPs"], isText) && isListOf(spec["ports"], isRecord),
        isListOf(spec["ipFamilies"], isText) && isRecord(spec["selector"] ?? {}),
      ].every(Boolean);
    case "IPAddress":
      return isRecord(spec["parentRef"] ?? {}) && isRecord(value["metadata"]["labels"] ?? {});
    case "ServiceCIDR":
      return isListOf(spec["cidrs"], isText) && isListOf(status["conditions"], isRecord);
    case "Node":
      return isListOf(spec["podCIDRs"], isText) && isListOf(status["addresses"], isAddress) && isRecord(value["metadata"]["labels"] ?? {});
    case "Pod":
      return [
        isRecord(value["metadata"]["labels"] ?? {}) && isListOf(status["conditions"], isRecord),
        isListOf(status["podIPs"], isPodIP),
        isListOf(spec["containers"], isContainer) && isListOf(spec["initContainers"], isContainer),
      ].every(Boolean);
    case "IPAddressClaim":
      return isRecord(spec["poolRef"] ?? {}) && isRecord(status["addressRef"] ?? {}) && isListOf(status["conditions"], isRecord);
    case "IPAddress.ipam":
      return [
        isRecord(spec["poolRef"] ?? {}) && isRecord(spec["claimRef"] ?? {}) && isText(spec["address"] ?? ""),
        isListOf(value["metadata"]["ownerReferences"], isRecord) && isLength(spec["prefix"]),
      ].every(Boolean);
    case "InClusterIPPool":
    case "GlobalInClusterIPPool":
    case "InClusterPrefixPool":
    case "GlobalInClusterPrefixPool":
      return [
        isListOf(spec["prefixes"], isText) && isListOf(spec["excludedPrefixes"], isText) && isLength(spec["allocationPrefixLength"]),
        isListOf(spec["addresses"], isText) && isListOf(spec["excludedAddresses"], isText) && isText(spec["gateway"] ?? ""),
        isRecord(value["metadata"]["annotations"] ?? {}) && isRecord(status["ipAddresses"] ?? {}),
      ].every(Boolean);
    case "EndpointSlice":
      return isRecord(value["metadata"]["labels"] ?? {}) && isListOf(value["endpoints"], isEndpoint) && isListOf(value["ports"], isRecord);
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** Of a prefix; a field that is not there counts as well. */
function isLength(value: unknown): boolean {
  return value === undefined || Number.isInteger(value);
}

function isAddress(value: unknown): boolean {
  return isRecord(value) && isText(value["type"]) && isText(value["address"]);
}

function isPodIP(value: unknown): boolean {
  return isRecord(value) && isText(value["ip"]);
}

function isContainer(value: unknown): boolean {
  return isRecord(value) && isListOf(value["ports"], isRecord);
}

function isEndpoint(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value["conditions"] ?? {}) || !isRecord(value["targetRef"] ?? {})) return false;
  return Array.isArray(value["addresses"]) && value["addresses"].every(isText);
}

/** An absent list counts as a list. */
function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.every(isItem));
}
