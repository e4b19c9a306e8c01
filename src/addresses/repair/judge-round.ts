/** The rules applied to what a round has read; nothing is judged by what could not be read. */
import type { Service } from "../../api/meta/kubernetes";
import type { Prefix } from "../../core/net/prefix";
import type { PrefixIndex } from "../topology/prefix-index";
import { givesOut } from "../topology/range-index";
import { addressId, parentKey, type RepairRound, serviceId } from "./round";
import { type ClusterIP, judgeClusterIP, type ServiceFinding } from "./rules";

/** The finding about one address of a Service; undefined = something that the judgement needs could not be read. */
export function judgeInRound(
  round: RepairRound,
  ranges: PrefixIndex<Prefix>,
  service: Service,
  ip: ClusterIP | undefined,
): ServiceFinding | undefined {
  if (ip && isUncertain(round, ip.address)) return undefined;
  return judgeClusterIP(ip, service, {
    isCovered: (address) => givesOut(ranges, address),
    object: (address) => round.addresses.get(address),
    service: (namespace, name) => round.services.get(`${namespace}/${name}`),
  });
}

/** Whether the IPAddress of that name, or the Service that it names, could not be read: any conclusion might be wrong. */
export function isUncertain({ addresses, unreadable }: RepairRound, name: string): boolean {
  if (unreadable.size === 0) return false;
  const object = addresses.get(name);
  return unreadable.has(addressId(name)) || (object !== undefined && unreadable.has(serviceId(parentKey(object))));
}
