/**
 * The endpoints that a Service should have in one family, in groups: a slice has one list of ports, so endpoints with different ports stand in
 * different slices. Source: upstream endpointslice/reconciler.go and utils.go.
 */
import type { Family } from "../../core/net/family";
import { familyOfText } from "../../core/net/family";
import type { Endpoint, Service } from "../../api/meta/kubernetes";
import { portsOf, specOf } from "../../api/registry/services/predicates";
import type { NodeLookup } from "../sources/node-zone";
import type { PodFacts } from "../sources/pod-facts";
import { hostnameIn, isEndpoint } from "../sources/service-pods";
import { targetPortsFinder } from "../sources/target-port";
import { endpointKey } from "./slice-endpoint";
import { portsKey, type SlicePort } from "./slice-ports";

export interface WantedGroup {
  readonly ports: readonly SlicePort[];
  /** by endpointKey */
  readonly endpoints: Map<string, Endpoint>;
}

/** A Pod that is left out although the Service selects it. */
export interface SkippedPod {
  readonly pod: string;
  readonly reason: "nodeNotFound" | "addressRefused";
  /** for a human reader */
  readonly detail: string;
}

export interface WantedGroups {
  /** by portsKey */
  readonly groups: ReadonlyMap<string, WantedGroup>;
  readonly skipped: readonly SkippedPod[];
}

/** @param pods those that the Service's selector names */
export function wantedGroups(service: Service, pods: readonly PodFacts[], nodes: NodeLookup, family: Family): WantedGroups {
  const publishNotReady = specOf(service).publishNotReadyAddresses === true;
  const groups = new Map<string, WantedGroup>();
  const groupOf = groupFinder(service, groups);
  const skipped: SkippedPod[] = [];
  for (const pod of pods) {
    if (!isEndpoint(pod)) continue;
    const group = groupOf(pod);
    const node = nodes.get(pod.nodeName);
    if (!node && !publishNotReady) {
      const { namespace = "", name = "" } = service.metadata ?? {};
      const detail = `skipping Pod ${pod.name} for Service ${namespace}/${name}: Node ${pod.nodeName} Not Found`;
      skipped.push({ pod: pod.name, reason: "nodeNotFound", detail });
      continue;
    }
    for (const ip of pod.refusedIps) {
      if (familyOfText(ip) !== family) continue;
      skipped.push({
        pod: pod.name,
        reason: "addressRefused",
        detail: `skipping address ${ip} of Pod ${pod.name}: no endpoint can have it`,
      });
    }
    const endpoint = knownEndpoint(service, pod, { family, zone: node?.zone ?? "", publishNotReady });
    if (endpoint) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  return { groups, skipped };
}

/** The group of a Pod's ports. Most Services have one group, so the numbers of the ports lead to it without the ports being made. */
function groupFinder(service: Service, groups: Map<string, WantedGroup>): (pod: PodFacts) => WantedGroup {
  const servicePorts = portsOf(specOf(service));
  const targetPortsOf = targetPortsFinder(servicePorts);
  const found = new Map<string, WantedGroup>();
  return (pod) => {
    const { numbers, key: at } = targetPortsOf(pod);
    let group = found.get(at);
    if (group) return group;
    const ports = servicePorts.flatMap(({ name, protocol, appProtocol }, i): SlicePort[] => {
      const port = numbers[i];
      if (port === undefined) return [];
      return [{ name: name ?? "", protocol: protocol ?? "TCP", port, ...(typeof appProtocol === "string" && { appProtocol }) }];
    });
    const key = portsKey(ports);
    group = groups.get(key) ?? { ports, endpoints: new Map() };
    groups.set(key, group);
    found.set(at, group);
    return group;
  };
}

interface EndpointFacts {
  family: Family;
  zone: string;
  publishNotReady: boolean;
}

type KnownEndpoints = WeakMap<PodFacts, { service: Service; zone: string; endpoint: Endpoint | undefined }>;

/** What was made of each Pod last. Neither Pods nor Services are changed in place. */
const known: Readonly<Record<Family, KnownEndpoints>> = { IPv4: new WeakMap(), IPv6: new WeakMap() };

/** The Pod's endpoint; of a Pod that is as it was at the last look the same one. undefined = it has no address of the family. */
function knownEndpoint(service: Service, pod: PodFacts, facts: EndpointFacts): Endpoint | undefined {
  const { family, zone } = facts;
  const last = known[family].get(pod);
  if (last?.service === service && last.zone === zone) return last.endpoint;
  const endpoint = endpointOf(service, pod, facts);
  known[family].set(pod, { service, zone, endpoint });
  return endpoint;
}

/** All three conditions are always set. An endpoint on its way out is not ready, unless the Service asks for all of them. */
function endpointOf(service: Service, pod: PodFacts, { family, zone, publishNotReady }: EndpointFacts): Endpoint | undefined {
  const addresses = pod.ips.filter((ip) => familyOfText(ip) === family);
  if (addresses.length === 0) return undefined;
  const hostname = hostnameIn(service, pod);
  return {
    addresses,
    conditions: { ready: publishNotReady || (pod.ready && !pod.terminating), serving: pod.ready, terminating: pod.terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid },
    ...(pod.nodeName !== "" && { nodeName: pod.nodeName }),
    ...(zone !== "" && { zone }),
  };
}
