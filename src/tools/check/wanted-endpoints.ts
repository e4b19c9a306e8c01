/**
 * The endpoints that Services should have, computed from one Pod after the other, and those that EndpointSlices show. The check and the tests compare
 * the two. It is a model: with the controller it shares what an address of a slice is, and of which families a Service is, but no rule of its own.
 */
import { usableAddress } from "../../endpoints/sources/usable-address";
import { LABEL_MANAGED_BY, LABEL_SERVICE_NAME, SLICE_CONTROLLER } from "../../api/meta/endpoint-keys";
import type { Container, EndpointSlice, Pod } from "../../api/meta/kubernetes";
import type { Selection } from "./observed";

/** A Service with a selector. */
export interface SelectingService {
  metadata?: { namespace?: string; name?: string };
  selection: Selection;
}

export interface ServiceEndpoint {
  /** `namespace/name` of the Service */
  service: string;
  /** everything that the endpoint says but hints, for a human reader: equal endpoints have equal texts; "" = there is a slice */
  text: string;
  /** it may be missing as well as there */
  isOptional?: true;
}

interface EndpointFacts {
  ip: string;
  ports: readonly string[];
  /** `web-1 (uid)` */
  pod: string;
  nodeName: string | undefined;
  /** undefined = not compared */
  zone: string | undefined;
  hostname: string | undefined;
  ready: boolean | undefined;
  serving: boolean | undefined;
  terminating: boolean | undefined;
}

export class WantedEndpoints {
  /** by namespace and first label of the selector */
  readonly #services = new Map<string, SelectingService[]>();

  /**
   * @param zones name of each Node -> its zone, "" = it has none; undefined = nobody knows the Nodes
   * @param followsNodes endpoints change with their Nodes. Upstream's controller waits for another reason: zones are not compared, and what stands on a
   *   Node that is gone is optional
   */
  constructor(
    services: readonly SelectingService[],
    private readonly zones: ReadonlyMap<string, string> | undefined,
    private readonly followsNodes: boolean,
  ) {
    for (const service of services) {
      const [first = ["", ""]] = Object.entries(service.selection.selector);
      const label = labelOf(service.metadata?.namespace, first);
      this.#services.set(label, [...(this.#services.get(label) ?? []), service]);
    }
  }

  /** The endpoints of the Pod. */
  of(pod: Pod): ServiceEndpoint[] {
    const { metadata, status } = pod;
    if (status?.phase === "Succeeded" || status?.phase === "Failed") return [];
    const labels = metadata?.labels ?? {};
    const candidates = Object.entries(labels).flatMap((label) => this.#services.get(labelOf(metadata?.namespace, label)) ?? []);
    return candidates.flatMap((service) => {
      const isSelected = Object.entries(service.selection.selector).every(
        ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
      );
      return isSelected ? this.#endpointsIn(service, pod) : [];
    });
  }

  /** The endpoints of the slice; none of one that somebody else than upstream's controller, or ours, manages. */
  shownBy(slice: EndpointSlice): ServiceEndpoint[] {
    const { namespace = "", labels = {} } = slice.metadata ?? {};
    const name = labels[LABEL_SERVICE_NAME];
    if (!name || labels[LABEL_MANAGED_BY] !== SLICE_CONTROLLER) return [];
    const service = `${namespace}/${name}`;
    return [{ service, text: "" }, ...this.textsOf(slice).map((text) => ({ service, text }))];
  }

  textsOf(slice: EndpointSlice): string[] {
    const { endpoints, ports }: { endpoints?: EndpointSlice["endpoints"] | null; ports?: EndpointSlice["ports"] | null } = slice;
    const texts = (ports ?? []).map(({ name, protocol, port }) => portText(name, protocol, port));
    return (endpoints ?? []).flatMap(({ addresses, targetRef, nodeName, zone, hostname, conditions = {} }) =>
      addresses.map((address) => {
        const { ready, serving, terminating } = conditions;
        const facts = {
          ports: texts,
          pod: podText(targetRef),
          nodeName,
          zone: this.#compared(zone ?? ""),
          hostname,
          ready,
          serving,
          terminating,
        };
        return textOf({ ip: usableAddress(address)?.canonical ?? address, ...facts });
      }),
    );
  }

  #endpointsIn({ metadata, selection }: SelectingService, { metadata: of, spec, status }: Pod): ServiceEndpoint[] {
    const { families, publishNotReady, ports } = selection;
    const zone = this.zones?.get(spec?.nodeName ?? "");
    const isStray = this.zones !== undefined && zone === undefined && !publishNotReady;
    if (isStray && this.followsNodes) return [];
    const serving = status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
    const terminating = Boolean(of?.deletionTimestamp);
    const facts = {
      ports: ports.flatMap(({ name, protocol, targetPort }) => {
        const port = typeof targetPort === "number" ? targetPort : portNamed(targetPort, protocol, spec);
        return port === undefined ? [] : [portText(name, protocol, port)];
      }),
      pod: podText(of),
      nodeName: spec?.nodeName,
      zone: this.#compared(zone ?? ""),
      hostname: spec?.subdomain === metadata?.name ? spec?.hostname : undefined,
      ready: publishNotReady || (serving && !terminating),
      ...{ serving, terminating },
    };
    return (status?.podIPs ?? []).flatMap(({ ip }) => {
      const address = usableAddress(ip);
      if (!address || !families.includes(address.family)) return [];
      const service = `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
      return [{ service, text: textOf({ ip: address.canonical, ...facts }), ...(isStray ? { isOptional: true } : {}) }];
    });
  }

  #compared(zone: string): string | undefined {
    return this.zones && this.followsNodes ? zone : undefined;
  }
}

/** The first port of the name and protocol among those of the containers, then of the sidecars. */
function portNamed(name: string, protocol: string, spec: Pod["spec"]): number | undefined {
  const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
  const containers: Container[] = [...(spec?.containers ?? []), ...sidecars];
  const ports = containers.flatMap((container) => container.ports ?? []);
  return ports.find((port) => port.name === name && (port.protocol ?? "TCP") === protocol)?.containerPort;
}

function textOf({ ip, ports, pod, nodeName, zone, hostname, ready, serving, terminating }: EndpointFacts): string {
  const conditions = [ready ? "ready" : "not ready", ...(serving ? ["serving"] : []), ...(terminating ? ["terminating"] : [])];
  return [
    `${ip} of Pod ${pod}`,
    ports.length > 0 ? `ports ${[...ports].sort().join(" ")}` : "no ports",
    nodeName ? `node ${nodeName}` : "no node",
    ...(zone ? [`zone ${zone}`] : []),
    ...(hostname ? [`hostname ${hostname}`] : []),
    ...conditions,
  ].join(", ");
}

function portText(name: string | undefined, protocol: string | undefined, port: number | undefined): string {
  return `${name ? `${name}=` : ""}${port ?? "any"}/${protocol ?? "TCP"}`;
}

function podText(reference: { name?: string; uid?: string } | undefined): string {
  return `${reference?.name ?? "unknown"} (${reference?.uid ?? ""})`;
}

function labelOf(namespace: string | undefined, [key, value]: readonly [string, string]): string {
  return `${namespace ?? ""} ${key}=${value}`;
}
