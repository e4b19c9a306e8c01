/**
 * The Endpoints and the EndpointSlice of the Service `default/kubernetes`: where the API servers are reached. No Pod stands behind them; the API
 * server writes them itself (upstream pkg/controlplane/reconcilers/endpointsadapter.go).
 */
import { familyOfText } from "../../core/net/family";
import { LABEL_SERVICE_NAME, LABEL_SKIP_MIRROR } from "../../api/meta/endpoint-keys";
import { semanticEqual } from "../../api/meta/equality";
import type { Endpoints, EndpointSlice } from "../../api/meta/kubernetes";
import { API_SERVER_PORT, DEFAULT_NAME, DEFAULT_NAMESPACE } from "../../api/registry/default-objects";

const PORT = { name: "https", port: API_SERVER_PORT, protocol: "TCP" };
const KEY = { name: DEFAULT_NAME, namespace: DEFAULT_NAMESPACE };

/** What is to be done with the stored object. `recreate`: it has to be deleted first, because a field that differs cannot change. */
export type AdvertisedChange<T> = { kind: "none" } | { kind: "write"; object: T } | { kind: "recreate"; object: T };

/** `addresses`: at least one, canonical. Labels and annotations of others stay. */
export function endpointsChange(addresses: readonly string[], stored: Endpoints | undefined): AdvertisedChange<Endpoints> {
  const labels = { ...stored?.metadata?.labels, [LABEL_SKIP_MIRROR]: "true" };
  const subsets = [{ addresses: addresses.map((ip) => ({ ip })), ports: [PORT] }];
  if (!stored) return { kind: "write", object: { metadata: { ...KEY, labels }, subsets } };
  if (semanticEqual(stored.subsets, subsets) && semanticEqual(stored.metadata?.labels, labels)) return { kind: "none" };
  return { kind: "write", object: { ...stored, metadata: { ...stored.metadata, labels }, subsets } };
}

/** The slice has one family: IPv6 if every address is, otherwise IPv4 and of the addresses those that are. `addresses` as of `endpointsChange`. */
export function sliceChange(addresses: readonly string[], stored: EndpointSlice | undefined): AdvertisedChange<EndpointSlice> {
  const addressType = addresses.every((address) => familyOfText(address) === "IPv6") ? "IPv6" : "IPv4";
  const wanted = {
    addressType,
    endpoints: addresses
      .filter((address) => familyOfText(address) === addressType)
      .map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [PORT],
  };
  const labels = { [LABEL_SERVICE_NAME]: DEFAULT_NAME };
  if (stored?.addressType !== addressType) {
    return { kind: stored ? "recreate" : "write", object: { metadata: { ...KEY, labels }, ...wanted } };
  }
  const { endpoints, ports, metadata } = stored;
  if (semanticEqual({ addressType, endpoints, ports }, wanted) && semanticEqual(metadata?.labels, labels)) return { kind: "none" };
  return { kind: "write", object: { ...stored, metadata: { ...metadata, labels }, ...wanted } };
}
