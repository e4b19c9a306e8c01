/**
 * discovery.k8s.io/v1 EndpointSlice (k8s.io/api discovery/v1, v0.36).
 */
import { ObjectReference } from "./core-references";
import { ObjectMeta } from "../meta";
import { always, bool, enumOf, int32, kind, listOf, mapOf, message, plain, pointer, ref, required, string } from "../dsl";
import type { MessageSchema } from "../types";

const EndpointConditions: MessageSchema = message(
  "io.k8s.api.discovery.v1.EndpointConditions",
  {
    ready: pointer(1, bool, "Whether it takes new traffic: serving and not terminating. Unknown counts as true."),
    serving: pointer(2, bool, "Whether it can serve, terminating or not. Unknown counts as ready."),
    terminating: pointer(3, bool, "Whether it is on its way out. Unknown counts as false."),
  },
  { description: "Whether an endpoint takes traffic." },
);

const ForZone: MessageSchema = message(
  "io.k8s.api.discovery.v1.ForZone",
  {
    name: required(1, string, "Name of the zone."),
  },
  { description: "A zone that should use an endpoint." },
);

const ForNode: MessageSchema = message(
  "io.k8s.api.discovery.v1.ForNode",
  {
    name: required(1, string, "Name of the node."),
  },
  { description: "A node that should use an endpoint." },
);

const EndpointHints: MessageSchema = message(
  "io.k8s.api.discovery.v1.EndpointHints",
  {
    forZones: plain(1, listOf(ref(ForZone)), "Zones whose clients should use the endpoint, at most 8."),
    forNodes: plain(2, listOf(ref(ForNode)), "Nodes whose clients should use the endpoint, at most 8."),
  },
  { description: "Where an endpoint is best used." },
);

const Endpoint: MessageSchema = message(
  "io.k8s.api.discovery.v1.Endpoint",
  {
    addresses: required(1, listOf(string, { listType: "set" }), "Addresses of the endpoint, 1 to 100. Consumers use the first."),
    conditions: plain(2, ref(EndpointConditions), "Whether the endpoint takes traffic."),
    hostname: pointer(3, string, "Host name of the endpoint, for DNS records."),
    targetRef: pointer(4, ref(ObjectReference), "The object behind the endpoint, as a rule a Pod."),
    deprecatedTopology: plain(5, mapOf(string), "Topology labels from the v1beta1 form. They cannot be set here."),
    nodeName: pointer(6, string, "Node that runs the endpoint."),
    zone: pointer(7, string, "Zone that the endpoint is in."),
    hints: pointer(8, ref(EndpointHints), "Where the endpoint is best used."),
  },
  { description: "One backend of a Service." },
);

const SliceEndpointPort: MessageSchema = message(
  "io.k8s.api.discovery.v1.EndpointPort",
  {
    name: pointer(1, string, "Name of the port: of the Service port it implements, or empty. Unique in the slice."),
    protocol: pointer(2, enumOf("TCP", "UDP", "SCTP"), "TCP, UDP or SCTP. TCP unless set."),
    port: pointer(3, int32, "Number of the port. Without it the port is not known."),
    appProtocol: pointer(4, string, "Application protocol as a hint to implementations."),
  },
  { description: "A port of all endpoints of a slice.", atomic: true },
);

export const EndpointSliceSchema: MessageSchema = kind(
  "io.k8s.api.discovery.v1.EndpointSlice",
  "A portion of the endpoints of a Service. Slices of one Service share the label kubernetes.io/service-name.",
  {
    metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
    addressType: required(4, string, "Form of all addresses in the slice: IPv4, IPv6 or FQDN. It cannot be changed."),
    endpoints: always(2, listOf(ref(Endpoint)), "The endpoints, at most 1000."),
    ports: always(
      3,
      listOf(ref(SliceEndpointPort)),
      "Ports that every endpoint of the slice offers, at most 100. A slice without ports stands for no ports.",
    ),
  },
);
