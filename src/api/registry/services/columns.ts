/** The table of `kubectl get services`. Source: upstream pkg/printers/internalversion/printers.go (printService). */
import { ageSince } from "../age";
import type { Service, ServicePort } from "../../meta/kubernetes";
import { labelsText } from "../common-columns";
import type { Cell, ColumnDefinition } from "../resource";
import { listOf, portsOf, type ServiceSpec, specOf } from "./predicates";

const MISSING = "<none>";

export const serviceColumns: readonly ColumnDefinition[] = [
  { name: "Name", type: "string", format: "name", description: "Name of the Service, unique in its namespace.", priority: 0 },
  { name: "Type", type: "string", format: "", description: "ClusterIP, NodePort, LoadBalancer or ExternalName.", priority: 0 },
  { name: "Cluster-IP", type: "string", format: "", description: "Primary address inside the cluster, None when headless.", priority: 0 },
  {
    name: "External-IP",
    type: "string",
    format: "",
    description: "Addresses or the name at which the Service is reached from outside.",
    priority: 0,
  },
  { name: "Port(s)", type: "string", format: "", description: "Ports, with node ports, and their protocols.", priority: 0 },
  { name: "Age", type: "string", format: "", description: "Time since the Service was created.", priority: 0 },
  { name: "Selector", type: "string", format: "", description: "Labels of the Pods that receive the traffic.", priority: 1 },
];

/** One cell per column; `now` in milliseconds since the epoch. */
export function serviceCells(service: Service, now: number): Cell[] {
  const spec = specOf(service);
  return [
    service.metadata?.name ?? "",
    spec.type ?? "",
    listOf(spec.clusterIPs)[0] ?? MISSING,
    externalIP(service, spec),
    portsOf(spec).map(portText).join(",") || MISSING,
    ageSince(service.metadata?.creationTimestamp, now),
    labelsText(spec.selector),
  ];
}

function externalIP(service: Service, spec: ServiceSpec): string {
  const externalIPs = listOf(spec.externalIPs);
  switch (spec.type) {
    case "ClusterIP":
    case "NodePort":
      return externalIPs.join(",") || MISSING;
    case "LoadBalancer":
      return [...ingressOf(service), ...externalIPs].join(",") || "<pending>";
    case "ExternalName":
      return spec.externalName ?? "";
    default:
      return "<unknown>";
  }
}

/** The addresses of the load balancer: sorted, each once. */
function ingressOf(service: Service): string[] {
  const places = new Set<string>();
  for (const ingress of service.status?.loadBalancer?.ingress ?? []) {
    const place = ingress.ip || ingress.hostname;
    if (place) places.add(place);
  }
  return [...places].sort();
}

function portText(port: ServicePort): string {
  const protocol = port.protocol ?? "TCP";
  return port.nodePort ? `${port.port}:${port.nodePort}/${protocol}` : `${port.port}/${protocol}`;
}
