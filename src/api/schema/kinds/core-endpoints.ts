/**
 * core/v1 Endpoints (k8s.io/api core/v1, v0.36).
 */
import { ObjectReference } from "./core-references";
import { ObjectMeta } from "../meta";
import { enumOf, int32, kind, listOf, message, plain, pointer, ref, required, string } from "../dsl";
import type { MessageSchema } from "../types";

const EndpointAddress: MessageSchema = message(
  "io.k8s.api.core.v1.EndpointAddress",
  {
    ip: required(1, string, "IP address of the endpoint; loopback, link-local and multicast addresses are refused."),
    hostname: plain(3, string, "Host name of the endpoint, a DNS label."),
    nodeName: pointer(4, string, "Node on which the endpoint runs."),
    targetRef: pointer(2, ref(ObjectReference), "The object that has the address, usually a Pod."),
  },
  { description: "One address behind a Service.", atomic: true },
);

const EndpointPort: MessageSchema = message(
  "io.k8s.api.core.v1.EndpointPort",
  {
    name: plain(1, string, "Name of the port: that of the Service's port, a DNS label. It may be left out when there is one port."),
    port: required(2, int32, "Number of the port on the endpoints."),
    protocol: plain(3, enumOf("TCP", "UDP", "SCTP"), "Protocol of the port: TCP (unless set), UDP or SCTP."),
    appProtocol: pointer(4, string, "Application protocol spoken on the port, as a hint for proxies."),
  },
  { description: "One port of a set of endpoints.", atomic: true },
);

const EndpointSubset: MessageSchema = message(
  "io.k8s.api.core.v1.EndpointSubset",
  {
    addresses: plain(1, listOf(ref(EndpointAddress)), "Addresses that are ready for traffic."),
    notReadyAddresses: plain(
      2,
      listOf(ref(EndpointAddress)),
      "Addresses that take no traffic at present: they are starting, or failed a check.",
    ),
    ports: plain(3, listOf(ref(EndpointPort)), "Ports that every address of the subset has."),
  },
  { description: "Addresses that share their ports: the endpoints are all pairs of an address and a port." },
);

export const EndpointsSchema: MessageSchema = kind(
  "io.k8s.api.core.v1.Endpoints",
  "The endpoints of a Service in one object. Superseded by EndpointSlice.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata; the name is that of the Service."),
    subsets: plain(2, listOf(ref(EndpointSubset)), "All endpoints, grouped by their ports."),
  },
);
