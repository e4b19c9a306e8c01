/** EndpointSlices (upstream pkg/registry/discovery/endpointslice/strategy.go). */
import { LABEL_MANAGED_BY, MIRRORING_CONTROLLER, SLICE_CONTROLLER } from "../../meta/endpoint-keys";
import { semanticEqual } from "../../meta/equality";
import type { Endpoint, EndpointSlice } from "../../meta/kubernetes";
import { parseAddress } from "../../../core/net/address";
import { BASE_STRATEGY } from "../base-strategy";
import type { Strategy } from "../resource";
import { validateEndpointSlice } from "./validate";

const HOSTNAME_KEY = "kubernetes.io/hostname";
/** controllers of the cluster itself: the addresses in their slices get no warnings */
const BUILT_IN: readonly string[] = [SLICE_CONTROLLER, MIRRORING_CONTROLLER];

/** Answers always have both lists; storage does not distinguish an empty list from an absent one. */
type Lists = { endpoints?: EndpointSlice["endpoints"] | null; ports?: EndpointSlice["ports"] | null };

function defaults(slice: EndpointSlice): void {
  const lists: Lists = slice;
  if (lists.endpoints?.length) for (const endpoint of lists.endpoints) endpoint.conditions ??= {};
  else lists.endpoints = null;
  if (!lists.ports?.length) {
    lists.ports = null;
    return;
  }
  for (const port of lists.ports) {
    port.name ??= "";
    port.protocol ??= "TCP";
  }
}

function endpointsOf(slice: EndpointSlice): readonly Endpoint[] {
  const lists: Lists = slice;
  return lists.endpoints ?? [];
}

/** v1 writes cannot set deprecatedTopology; an update may move the node's name out of it. */
function dropDeprecatedTopology(change: { after: EndpointSlice; before?: EndpointSlice }): void {
  const { after, before } = change;
  if (before && semanticEqual(after.endpoints, before.endpoints)) return;
  const nodeNames = new Set(before ? endpointsOf(before).map((endpoint) => endpoint.deprecatedTopology?.[HOSTNAME_KEY]) : []);
  for (const endpoint of endpointsOf(after)) {
    const hostname = endpoint.deprecatedTopology?.[HOSTNAME_KEY];
    if (!endpoint.nodeName && hostname !== undefined && nodeNames.has(hostname)) endpoint.nodeName = hostname;
    if (endpoint.deprecatedTopology !== undefined) delete endpoint.deprecatedTopology;
  }
}

function addressWarnings(slice: EndpointSlice): string[] {
  if (slice.addressType === "FQDN" || BUILT_IN.includes(slice.metadata?.labels?.[LABEL_MANAGED_BY] ?? "")) return [];
  const warnings: string[] = [];
  endpointsOf(slice).forEach((endpoint, i) => {
    (endpoint.addresses ?? []).forEach((text, j) => {
      const parsed = parseAddress(text);
      if (!parsed.ok || parsed.value.canonical === text) return;
      const form = `IPv6 address "${text}" should be in RFC 5952 canonical format ("${parsed.value.canonical}")`;
      warnings.push(`endpoints[${i}].addresses[${j}]: ${form}`);
    });
  });
  return warnings;
}

export const endpointSliceStrategy: Strategy<EndpointSlice> = {
  ...BASE_STRATEGY,
  defaults,
  prepareForCreate: (after) => dropDeprecatedTopology({ after }),
  prepareForUpdate: dropDeprecatedTopology,
  validate: (slice, _context, before) => validateEndpointSlice(slice, before),
  warnings(slice, before) {
    // upstream's path has spec, although slices have none
    const deprecated = !before && slice.addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
    return deprecated.concat(addressWarnings(slice));
  },
};
