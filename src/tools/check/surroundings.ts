/**
 * Addresses that a cluster uses beside those of its Services: of its Nodes, of their Pods, of its API servers. A ServiceCIDR around such an
 * address hides it: its traffic may be taken for traffic to a Service. Upstream documents that the ranges must not overlap, and checks nothing
 * (kube-apiserver --service-cluster-ip-range). So an overlap is a notice, never wrong.
 */
import type { Endpoints, EndpointSlice } from "../../api/meta/kubernetes";
import { DEFAULT_SERVICE } from "../../api/registry/default-objects";
import { parseAddress } from "../../core/net/address";
import { parsePrefix, prefixesIn } from "../../core/net/prefix";
import { PrefixIndex } from "../../addresses/topology/prefix-index";
import { type Labelled, suspect } from "./objects";
import type { ObservedNode } from "./observed";
import type { Suspicion } from "./suspicion";

export interface Surroundings {
  /** undefined: not served, or hidden */
  nodes: readonly ObservedNode[] | undefined;
  /** texts of the addresses at which the API servers are reached */
  advertised: readonly string[];
  /** the server has no address that it could tell, and others than its own machine are to reach it */
  isUnreachable?: boolean;
}

/** Ranges that give out addresses, or may begin to: those of one object, or of the configuration. */
export interface NamedRanges {
  /** `ServiceCIDR blue` */
  labelled: Labelled;
  cidrs: readonly string[];
}

/** A notice for each range and each podCIDR, address of a Node or advertised address that overlap. Texts that are neither are ignored. */
export function overlaps(ranges: readonly NamedRanges[], { nodes = [], advertised }: Surroundings): Suspicion[] {
  const index = new PrefixIndex(
    ranges.flatMap(({ labelled, cidrs }) =>
      cidrs.flatMap((cidr) => prefixesIn([cidr]).map((prefix) => ({ prefix, value: { labelled, cidr } }))),
    ),
  );
  const notice = (range: { labelled: Labelled; cidr: string }, other: Labelled[], words: string): Suspicion => ({
    ...suspect("notice", [range.labelled, ...other], `${range.cidr} of the ${range.labelled.label} ${words}`),
    // No part of it changes meanwhile.
    lastingMs: 0,
  });
  const around = (text: string, other: Labelled[], words: string): Suspicion[] => {
    const address = parseAddress(text);
    if (!address.ok) return [];
    return index.containing(address.value.family, address.value.value).map((range) => notice(range, other, words));
  };
  return [
    ...nodes.flatMap((node) => {
      const name = node.metadata?.name ?? "";
      const labelled: Labelled = { label: `Node ${name}`, uid: node.metadata?.uid ?? "" };
      const { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } = node.spec ?? {};
      const ofPods = podCIDRs.flatMap((text) => {
        const prefix = parsePrefix(text);
        if (!prefix.ok) return [];
        return index
          .intersecting(prefix.value)
          .map((range) => notice(range, [labelled], `overlaps the podCIDR ${text} of the Node ${name}`));
      });
      const own = (node.status?.addresses ?? []).flatMap(({ type, address }) =>
        around(address, [labelled], `contains the ${type} ${address} of the Node ${name}`),
      );
      return [...ofPods, ...own];
    }),
    ...advertised.flatMap((address) =>
      around(address, [], `contains ${address}, an address of the API servers (endpoints of ${DEFAULT_SERVICE})`),
    ),
  ];
}

/** A notice that nobody is told where the API is. */
export function untold({ advertised, isUnreachable }: Surroundings): Suspicion[] {
  if (!isUnreachable || advertised.length > 0) return [];
  const message = `the Service ${DEFAULT_SERVICE} has no endpoints: ADVERTISE_ADDRESSES names no address of the API servers`;
  return [{ ...suspect("notice", [], message), lastingMs: 0 }];
}

/** The addresses of the API servers, each once: those of the endpoints of `default/kubernetes`. */
export function advertisedIn(endpoints: Endpoints | undefined, slice: EndpointSlice | undefined): string[] {
  const subsets = endpoints?.subsets ?? [];
  return [
    ...new Set([
      ...subsets.flatMap(({ addresses, notReadyAddresses }) => [...(addresses ?? []), ...(notReadyAddresses ?? [])].map(({ ip }) => ip)),
      ...(slice?.endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
    ]),
  ];
}
