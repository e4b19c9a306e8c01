/**
 * What a name server needs of Services and EndpointSlices. The rules are those of Kubernetes' DNS-based service discovery 1.1.0 as CoreDNS's plugin
 * `kubernetes` follows them (object/service.go, object/endpoint.go, endpointHostname in kubernetes.go). Invalid names and addresses are left out,
 * whatever an API server sends: they would become lines of a file.
 */
import { LABEL_SERVICE_NAME } from "../../api/meta/endpoint-keys";
import type { EndpointSlice, Service } from "../../api/meta/kubernetes";
import { validateDNS1123Label } from "../../api/meta/names";
import { clusterIPTextsOf } from "../../api/registry/services/held-by-service";
import { NONE, specOf } from "../../api/registry/services/predicates";
import { parseAddress } from "../../core/net/address";

export interface NamedService {
  readonly namespace: string;
  readonly name: string;
  /** undefined = headless: the name stands for the endpoints */
  readonly clusterIPs: readonly string[] | undefined;
}

/** An endpoint on one of its addresses. */
export interface NamedEndpoint {
  readonly address: string;
  /** stands before the Service's name */
  readonly label: string;
}

/** A slice's part of a Service. */
export interface NamedSlice {
  readonly namespace: string;
  readonly service: string;
  /** the ready ones */
  readonly endpoints: readonly NamedEndpoint[];
}

/** undefined = it has no addresses of its own: an ExternalName, or a Service whose ClusterIP is still to come. */
export function namedService(service: Service): NamedService | undefined {
  const { namespace = "", name = "" } = service.metadata ?? {};
  const { type, clusterIP } = specOf(service);
  if (type === "ExternalName" || !isLabel(namespace) || !isLabel(name)) return undefined;
  if (clusterIP === NONE) return { namespace, name, clusterIPs: undefined };
  const addresses = clusterIPTextsOf(service).filter(isAddress);
  return addresses.length > 0 ? { namespace, name, clusterIPs: addresses } : undefined;
}

/** undefined = it belongs to no Service. An endpoint whose readiness is not known counts as ready. */
export function namedSlice({ metadata, endpoints }: EndpointSlice): NamedSlice | undefined {
  const service = metadata?.labels?.[LABEL_SERVICE_NAME];
  if (!service) return undefined;
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready ?? true);
  return {
    namespace: metadata?.namespace ?? "",
    service,
    endpoints: ready.flatMap(({ addresses, hostname }) =>
      addresses.filter(isAddress).map((address) => ({ address, label: hostname && isLabel(hostname) ? hostname : addressLabel(address) })),
    ),
  };
}

/** The label of an endpoint without a hostname: 192-0-2-21, fd00-1--5. A label neither begins nor ends with a dash: fd00:1:: is fd00-1--0. */
export function addressLabel(address: string): string {
  return address.replaceAll(/[.:]/g, "-").replace(/^-/, "0-").replace(/-$/, "-0");
}

function isLabel(text: string): boolean {
  return validateDNS1123Label(text).length === 0;
}

function isAddress(text: string): boolean {
  return parseAddress(text).ok;
}
