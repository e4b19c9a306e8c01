/**
 * networking.k8s.io: ServiceCIDR and IPAddress; v1 and v1beta1 are the same (k8s.io/api networking/v1, v0.36).
 */
import { Condition, ObjectMeta } from "../meta";
import { keyedListOf, kind, listOf, message, plain, pointer, ref, string } from "../dsl";
import type { MessageSchema } from "../types";

const ServiceCIDRSpec: MessageSchema = message(
  "io.k8s.api.networking.v1.ServiceCIDRSpec",
  {
    cidrs: plain(1, listOf(string), "One range in CIDR form, or two of different families. Once set they cannot be changed."),
  },
  { description: "The ranges of a ServiceCIDR." },
);

const ServiceCIDRStatus: MessageSchema = message(
  "io.k8s.api.networking.v1.ServiceCIDRStatus",
  {
    conditions: plain(1, keyedListOf(Condition, "type"), "Conditions; Ready says whether new addresses can be taken."),
  },
  { description: "Whether a ServiceCIDR is in use." },
);

export const ServiceCIDRSchema: MessageSchema = kind(
  "io.k8s.api.networking.v1.ServiceCIDR",
  "Ranges of addresses from which the ClusterIPs of Services are taken.",
  {
    metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
    spec: plain(2, ref(ServiceCIDRSpec), "The ranges."),
    status: plain(3, ref(ServiceCIDRStatus), "Whether addresses can be taken from them."),
  },
);

const ParentReference: MessageSchema = message(
  "io.k8s.api.networking.v1.ParentReference",
  {
    group: plain(1, string, "API group of the object; empty for core."),
    resource: plain(2, string, "Resource name of the object.", { required: true }),
    namespace: plain(3, string, "Namespace of the object."),
    name: plain(4, string, "Name of the object.", { required: true }),
  },
  { description: "Names the object that holds an address." },
);

const IPAddressSpec: MessageSchema = message(
  "io.k8s.api.networking.v1.IPAddressSpec",
  {
    parentRef: pointer(1, ref(ParentReference), "The object that holds the address.", { required: true }),
  },
  { description: "Who holds an address." },
);

export const IPAddressSchema: MessageSchema = kind(
  "io.k8s.api.networking.v1.IPAddress",
  "One address in use. Its name is the address in canonical form; the one who holds it is its parent.",
  {
    metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
    spec: plain(2, ref(IPAddressSpec), "Who holds the address.", { required: true }),
  },
);
