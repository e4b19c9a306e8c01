/** The subsets that the Endpoints of a Service should have, before truncation (upstream endpoints_controller.go). */
import { familyOfText } from "../../core/net/family";
import type { Service } from "../../api/meta/kubernetes";
import { portsOf, specOf } from "../../api/registry/services/predicates";
import type { PodFacts } from "../sources/pod-facts";
import { primaryFamily } from "../sources/service-families";
import { hostnameIn, isEndpoint } from "../sources/service-pods";
import { targetPortOf } from "../sources/target-port";
import { type EndpointAddress, type EndpointPort, type EndpointSubset, repackSubsets } from "./repack-subsets";

/**
 * Only addresses of the Service's first family are there. Pods on their way out are not, unless the Service asks for all of them. Nodes do not
 * matter.
 *
 * @param pods those that the Service's selector names
 */
export function wantedSubsets(service: Service, pods: readonly PodFacts[]): EndpointSubset[] {
  const spec = specOf(service);
  const publishNotReady = spec.publishNotReadyAddresses === true;
  const subsets: EndpointSubset[] = [];
  for (const pod of pods) {
    if (!isEndpoint(pod) || (pod.terminating && !publishNotReady)) continue;
    const address = addressOf(service, pod);
    if (!address) continue;
    const member = publishNotReady || pod.ready ? "addresses" : "notReadyAddresses";
    const ports = podPorts(service, pod);
    const isWithoutPorts = portsOf(spec).length === 0 && spec.clusterIP === "None";
    if (ports.length > 0 || isWithoutPorts) subsets.push({ [member]: [address], ports });
  }
  return repackSubsets(subsets);
}

/** Upstream writes an empty nodeName for a Pod without node, and validation refuses that; here the member is left out. */
function addressOf(service: Service, pod: PodFacts): EndpointAddress | undefined {
  const family = primaryFamily(service) ?? familyOfText(pod.ips[0] ?? "");
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

function podPorts(service: Service, pod: PodFacts): EndpointPort[] {
  return portsOf(specOf(service)).flatMap((servicePort): EndpointPort[] => {
    const port = targetPortOf(pod, servicePort);
    if (port === undefined) return [];
    const { name, protocol = "TCP", appProtocol } = servicePort;
    return [{ ...(name && { name }), port, protocol, ...(typeof appProtocol === "string" && { appProtocol }) }];
  });
}
