/**
 * The three types whose objects share addresses, each read at a moment of its own. A restore writes no IPAddresses of Services, because the server
 * makes them. An IPAddress whose Service is not in the backup was being made or deleted.
 */
import { addressesOf, duplicateAddresses, uncovered } from "../check/objects";
import type { IPAddress, Service, ServiceCIDR } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { isDerived } from "../../api/registry/ip-addresses/parent-service";

/** Contradictions that no cluster can be restored to, a sentence for each: the cluster changed while it was read, or is damaged. */
export function contradictions(
  services: readonly Service[],
  ipAddresses: readonly IPAddress[],
  serviceCIDRs: readonly ServiceCIDR[],
): string[] {
  const holders = new Map(services.flatMap((service) => addressesOf(service).map((address) => [address, keyOf(service)] as const)));
  const taken = ipAddresses.flatMap((object) => {
    const address = object.metadata?.name ?? "";
    const holder = holders.get(address);
    if (holder === undefined || isDerived(object)) return [];
    const { resource = "", namespace = "", name = "" } = object.spec?.parentRef ?? {};
    if (resource === "services" && `${namespace}/${name}` === holder) return [];
    return [`${holder} holds ${address}, whose IPAddress names ${resource} ${namespace ? `${namespace}/` : ""}${name}`];
  });
  const cidrs = serviceCIDRs.flatMap(({ spec }) => spec?.cidrs ?? []);
  return [...duplicateAddresses({ services }), ...uncovered(services, cidrs)].map(({ message }) => message).concat(taken);
}
