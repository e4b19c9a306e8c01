/**
 * core/v1 Service (k8s.io/api core/v1, v0.36).
 */
import { Condition, ObjectMeta } from "../meta";
import { bool, enumOf, int32, intOrString, keyedListOf, kind, listOf, mapOf, message, plain, pointer, ref, required, string } from "../dsl";
import type { MessageSchema } from "../types";

const ServicePort: MessageSchema = message(
  "io.k8s.api.core.v1.ServicePort",
  {
    name: plain(1, string, "Name of the port, a DNS label, unique in the Service. Needed when there is more than one port."),
    protocol: plain(2, enumOf("TCP", "UDP", "SCTP"), "TCP, UDP or SCTP. TCP unless set.", { default: "TCP" }),
    appProtocol: pointer(6, string, "Application protocol as a hint to implementations, for example http or kubernetes.io/h2c."),
    port: required(3, int32, "Port at which the Service is reached."),
    targetPort: plain(4, intOrString, "Number or name of the port of the Pods. The same as port unless set."),
    nodePort: plain(5, int32, "Port on every node for types NodePort and LoadBalancer. Chosen by the server unless set."),
  },
  { description: "One port of a Service." },
);

const ClientIPConfig: MessageSchema = message(
  "io.k8s.api.core.v1.ClientIPConfig",
  {
    timeoutSeconds: pointer(1, int32, "Seconds for which a client keeps its endpoint, more than 0 and at most 86400. 10800 unless set."),
  },
  { description: "Settings of affinity by client address." },
);

const SessionAffinityConfig: MessageSchema = message(
  "io.k8s.api.core.v1.SessionAffinityConfig",
  {
    clientIP: pointer(1, ref(ClientIPConfig), "Settings of affinity by client address."),
  },
  { description: "Settings of session affinity." },
);

const ServiceSpec: MessageSchema = message(
  "io.k8s.api.core.v1.ServiceSpec",
  {
    ports: plain(
      1,
      listOf(ref(ServicePort), { mergeKey: "port", listType: "map", listMapKeys: ["port", "protocol"] }),
      "Ports that the Service offers. Needed unless the Service is headless or of type ExternalName.",
    ),
    selector: plain(
      2,
      mapOf(string, { atomic: true }),
      "Labels of the Pods that receive the traffic. Without it somebody else maintains the endpoints.",
    ),
    clusterIP: plain(
      3,
      string,
      "Virtual IP of the Service, equal to the first of clusterIPs. Leave it empty to have one chosen, set an address of a ServiceCIDR to ask for it, or set None for a headless Service.",
    ),
    clusterIPs: plain(18, listOf(string), "Virtual IPs, at most one per family, the primary one first; or the one value None."),
    type: plain(
      4,
      enumOf("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
      "How the Service is reached: ClusterIP, NodePort, LoadBalancer or ExternalName. ClusterIP unless set.",
    ),
    externalIPs: plain(5, listOf(string), "Further addresses at which nodes accept traffic for the Service. Nobody here manages them."),
    sessionAffinity: plain(7, enumOf("ClientIP", "None"), "Whether a client keeps its endpoint: None or ClientIP. None unless set."),
    loadBalancerIP: plain(8, string, "Address asked of the load balancer. Deprecated; what it means depends on the implementation."),
    loadBalancerSourceRanges: plain(9, listOf(string), "Client ranges in CIDR form that the load balancer lets through."),
    externalName: plain(10, string, "DNS name that a Service of type ExternalName stands for."),
    externalTrafficPolicy: plain(
      11,
      enumOf("Cluster", "Local"),
      "Whether traffic from outside goes to endpoints anywhere (Cluster) or only on the receiving node (Local).",
    ),
    healthCheckNodePort: plain(
      12,
      int32,
      "Node port for health checks of a LoadBalancer Service whose externalTrafficPolicy is Local. It cannot be changed.",
    ),
    publishNotReadyAddresses: plain(13, bool, "Whether endpoints count as ready whatever their Pods say."),
    sessionAffinityConfig: pointer(14, ref(SessionAffinityConfig), "Settings of sessionAffinity."),
    ipFamilies: plain(
      19,
      listOf(enumOf("IPv4", "IPv6", "")),
      "IP families of the Service in the order of clusterIPs. The primary one cannot be changed.",
    ),
    ipFamilyPolicy: pointer(
      17,
      enumOf("SingleStack", "PreferDualStack", "RequireDualStack"),
      "Whether the Service has one family (SingleStack), two where the cluster has two (PreferDualStack), or must have two (RequireDualStack).",
    ),
    allocateLoadBalancerNodePorts: pointer(20, bool, "Whether a LoadBalancer Service gets node ports. True unless set."),
    loadBalancerClass: pointer(21, string, "Implementation of the load balancer. Can be set only while the type becomes LoadBalancer."),
    internalTrafficPolicy: pointer(
      22,
      enumOf("Cluster", "Local"),
      "Whether traffic from inside goes to all endpoints (Cluster) or only to those of the same node (Local).",
    ),
    trafficDistribution: pointer(23, string, "Which endpoints to prefer, for example PreferSameZone or PreferSameNode."),
  },
  { description: "The wanted addresses, ports and traffic rules of a Service." },
);

const PortStatus: MessageSchema = message(
  "io.k8s.api.core.v1.PortStatus",
  {
    port: required(1, int32, "Number of the port."),
    protocol: required(2, enumOf("TCP", "UDP", "SCTP"), "Protocol of the port."),
    error: pointer(3, string, "Why the port does not work, as one CamelCase word."),
  },
  { description: "State of one port of a load balancer." },
);

const LoadBalancerIngress: MessageSchema = message(
  "io.k8s.api.core.v1.LoadBalancerIngress",
  {
    ip: plain(1, string, "Address of the point."),
    hostname: plain(2, string, "DNS name of the point."),
    ipMode: pointer(3, string, "Whether traffic arrives with the address of the point as its destination (VIP) or of a node (Proxy)."),
    ports: plain(4, listOf(ref(PortStatus)), "State of each port of the Service at this point."),
  },
  { description: "One point at which a load balancer takes traffic." },
);

const LoadBalancerStatus: MessageSchema = message(
  "io.k8s.api.core.v1.LoadBalancerStatus",
  {
    ingress: plain(1, listOf(ref(LoadBalancerIngress)), "Points at which the load balancer takes traffic."),
  },
  { description: "State of a load balancer." },
);

const ServiceStatus: MessageSchema = message(
  "io.k8s.api.core.v1.ServiceStatus",
  {
    loadBalancer: plain(1, ref(LoadBalancerStatus), "State of the load balancer."),
    conditions: plain(2, keyedListOf(Condition, "type"), "Conditions of the Service."),
  },
  { description: "What is known of a Service." },
);

export const ServiceSchema: MessageSchema = kind(
  "io.k8s.api.core.v1.Service",
  "A stable address for a set of Pods: a virtual IP with ports, or a DNS name.",
  {
    metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
    spec: plain(2, ref(ServiceSpec), "What is wanted of the Service."),
    status: plain(3, ref(ServiceStatus), "What load balancers and controllers report. Set through the status endpoint only."),
  },
);
