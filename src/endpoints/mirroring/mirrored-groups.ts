/** The slices that the addresses of Endpoints make: one for each family of each subset (upstream endpointslicemirroring/reconciler.go). */
import type { Family } from "../../core/net/family";
import type { Endpoint, Endpoints } from "../../api/meta/kubernetes";
import { type EndpointAddress, type EndpointPort, type EndpointSubset, repackSubsets } from "../endpoints/repack-subsets";
import { usableAddress } from "../sources/usable-address";
import { endpointKey } from "../slices/slice-endpoint";
import { portsKey, type SlicePort } from "../slices/slice-ports";

export interface MirroredGroup {
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  /** by endpointKey */
  readonly endpoints: Map<string, Endpoint>;
}

export interface MirroredGroups {
  /** by mirrorKey */
  readonly groups: ReadonlyMap<string, MirroredGroup>;
  /** addresses that no slice can have */
  readonly invalid: number;
  /** addresses left out, the invalid ones among them */
  readonly skipped: number;
}

/** Equal for slices that one group may become. */
export function mirrorKey(addressType: string, ports: readonly SlicePort[] | null | undefined): string {
  return `${addressType} ${portsKey(ports)}`;
}

/** @param maxPerSubset addresses of one subset, of both families together */
export function mirroredGroups(endpoints: Endpoints, maxPerSubset: number): MirroredGroups {
  const groups = new Map<string, MirroredGroup>();
  let [invalid, skipped] = [0, 0];
  for (const subset of repackSubsets(endpoints.subsets ?? []).flatMap(withDistinctNames)) {
    const ports = (subset.ports ?? []).map(slicePort);
    const ready = subset.addresses ?? [];
    const all = [...ready, ...(subset.notReadyAddresses ?? [])];
    let added = 0;
    all.forEach((address, i) => {
      if (added === maxPerSubset) return;
      const found = usableAddress(address.ip);
      if (!found) {
        invalid++;
        return;
      }
      added++;
      const key = mirrorKey(found.family, ports);
      const group = groups.get(key) ?? { family: found.family, ports, endpoints: new Map<string, Endpoint>() };
      groups.set(key, group);
      const endpoint = endpointOf(address, found.canonical, i < ready.length);
      group.endpoints.set(endpointKey(endpoint), endpoint);
    });
    skipped += all.length - added;
  }
  return { groups, invalid, skipped };
}

/**
 * The subset, or several of the same addresses where ports share a name: no slice can have both. Upstream's write of such a slice is refused. The ports
 * of one subset have distinct names, but two subsets that are joined may not.
 */
function withDistinctNames(subset: EndpointSubset): EndpointSubset[] {
  const lists: EndpointPort[][] = [[]];
  const listed = new Map<string, number>();
  for (const port of subset.ports ?? []) {
    const at = listed.get(port.name ?? "") ?? 0;
    listed.set(port.name ?? "", at + 1);
    (lists[at] ??= []).push(port);
  }
  return lists.map((ports) => ({ ...subset, ports }));
}

/** Ready is the only condition that is known. */
function endpointOf({ targetRef, nodeName, hostname }: EndpointAddress, ip: string, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(targetRef && { targetRef }),
    ...(nodeName && { nodeName }),
  };
}

function slicePort({ name, port, protocol, appProtocol }: EndpointPort): SlicePort {
  return { name: name ?? "", port, protocol: protocol ?? "TCP", ...(typeof appProtocol === "string" && { appProtocol }) };
}
