/** The subsets that the Endpoints of a Service should have, before they are packed and truncated (upstream endpoints_controller.go). */
import { type Family, familyOfText } from "../../core/net/family";
import type { Service, ServicePort } from "../../api/meta/kubernetes";
import { portsOf, specOf } from "../../api/registry/services/predicates";
import type { PodFacts } from "../sources/pod-facts";
import { primaryFamily } from "../sources/service-families";
import { hostnameIn, isEndpoint } from "../sources/service-pods";
import { targetPortsFinder } from "../sources/target-port";
import type { EndpointAddress, EndpointPort, EndpointSubset } from "./repack-subsets";

/**
 * Only addresses of the Service's first family are there. Pods on their way out are not, unless the Service asks for all of them. Nodes do not
 * matter.
 *
 * @param pods those that the Service's selector names
 */
export function wantedSubsets(service: Service, pods: readonly PodFacts[]): EndpointSubset[] {
  const spec = specOf(service);
  const servicePorts = portsOf(spec);
  const publishNotReady = spec.publishNotReadyAddresses === true;
  const targetPortsOf = targetPortsFinder(servicePorts);
  const isWithoutPorts = servicePorts.length === 0 && spec.clusterIP === "None";
  const family = primaryFamily(service);
  /** by the numbers of the ports: most Services have one subset */
  const subsets = new Map<string, Required<EndpointSubset>>();
  for (const pod of pods) {
    if (!isEndpoint(pod) || (pod.terminating && !publishNotReady)) continue;
    const address = knownAddress(service, pod, family);
    if (!address) continue;
    const { numbers, key } = targetPortsOf(pod);
    const subset = subsets.get(key) ?? { addresses: [], notReadyAddresses: [], ports: portsAt(servicePorts, numbers) };
    if (subset.ports.length === 0 && !isWithoutPorts) continue;
    subsets.set(key, subset);
    subset[publishNotReady || pod.ready ? "addresses" : "notReadyAddresses"].push(address);
  }
  return [...subsets.values()];
}

/** What was made of each Pod last. Neither Pods nor Services are changed in place. */
const known = new WeakMap<PodFacts, { service: Service; address: EndpointAddress | undefined }>();

/** The Pod's address; of a Pod that is as it was at the last look the same one. */
function knownAddress(service: Service, pod: PodFacts, primary: Family | undefined): EndpointAddress | undefined {
  const last = known.get(pod);
  if (last?.service === service) return last.address;
  const address = addressOf(service, pod, primary);
  known.set(pod, { service, address });
  return address;
}

/**
 * Upstream writes an empty nodeName for a Pod without node, and validation refuses that; here the member is left out.
 *
 * @param primary the Service's first family; undefined = that of the Pod
 */
function addressOf(service: Service, pod: PodFacts, primary: Family | undefined): EndpointAddress | undefined {
  const family = primary ?? familyOfText(pod.ips[0] ?? "");
  const ip = pod.ips.find((text) => familyOfText(text) === family);
  if (ip === undefined) return undefined;
  const hostname = hostnameIn(service, pod);
  return {
    ip,
    ...(hostname !== undefined && { hostname }),
    ...(pod.nodeName !== "" && { nodeName: pod.nodeName }),
    targetRef: { kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid },
  };
}

/** A port without a number is left out. */
function portsAt(servicePorts: readonly ServicePort[], numbers: readonly (number | undefined)[]): EndpointPort[] {
  return servicePorts.flatMap(({ name, protocol = "TCP", appProtocol }, i): EndpointPort[] => {
    const port = numbers[i];
    if (port === undefined) return [];
    return [{ ...(name && { name }), port, protocol, ...(typeof appProtocol === "string" && { appProtocol }) }];
  });
}
