/**
 * core/v1 Endpoints (k8s.io/api core/v1, v0.36).
 */
import { ObjectReference } from "./core-references";
import { ObjectMeta } from "./meta";
import { enumOf, int32, kind, listOf, message, plain, pointer, ref, required, string } from "./dsl";
import type { MessageSchema } from "./types";

const EndpointAddress: MessageSchema = message(
  "io.k8s.api.core.v1.EndpointAddress",
  {
    ip: required(1, string),
    hostname: plain(3, string),
    nodeName: pointer(4, string),
    targetRef: pointer(2, ref(ObjectReference)),
  },
  { atomic: true },
);

const EndpointPort: MessageSchema = message(
  "io.k8s.api.core.v1.EndpointPort",
  {
    name: plain(1, string),
    port: required(2, int32),
    protocol: plain(3, enumOf("TCP", "UDP", "SCTP")),
    appProtocol: pointer(4, string),
  },
  { atomic: true },
);

const EndpointSubset: MessageSchema = message("io.k8s.api.core.v1.EndpointSubset", {
  addresses: plain(1, listOf(ref(EndpointAddress))),
  notReadyAddresses: plain(2, listOf(ref(EndpointAddress))),
  ports: plain(3, listOf(ref(EndpointPort))),
});

export const EndpointsSchema: MessageSchema = kind(
  "io.k8s.api.core.v1.Endpoints",
  "The endpoints of a Service in one object. Superseded by EndpointSlice.",
  {
    metadata: plain(1, ref(ObjectMeta)),
    subsets: plain(2, listOf(ref(EndpointSubset))),
  },
);
