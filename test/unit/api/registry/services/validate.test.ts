import { describe, expect, it } from "vitest";
import type { Service } from "../../../../../src/api/meta/kubernetes";
import { applyDefaults } from "../../../../../src/api/registry/services/defaults";
import { normalizeClusterIPs } from "../../../../../src/api/registry/services/normalize";
import { validateService } from "../../../../../src/api/registry/services/validate";
import { deepFreeze, sent, type Spec, texts } from "./a-service";

/** Errors of a Service as a client sends it, families left open. Validation changes nothing. */
function errorsOf(spec: Spec, rest: Omit<Service, "spec"> = {}, before?: Service): string[] {
  const service = sent(spec, rest);
  applyDefaults(service);
  normalizeClusterIPs({ after: service });
  return texts(validateService(deepFreeze(service), before));
}

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const PORT = "must be between 1 and 65535, inclusive";
const IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const LB_ONLY = "may only be used when `type` is 'LoadBalancer'";

interface Row {
  name: string;
  spec: Spec;
  rest?: Omit<Service, "spec">;
  want: string[];
}

const META: Row[] = [
  {
    name: "topology annotations that differ",
    spec: {},
    rest: {
      metadata: {
        annotations: { "service.kubernetes.io/topology-mode": "Auto", "service.kubernetes.io/topology-aware-hints": "disabled" },
      },
    },
    want: [
      'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Auto": must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified',
    ],
  },
  {
    name: "topology annotations that agree",
    spec: {},
    rest: {
      metadata: { annotations: { "service.kubernetes.io/topology-mode": "Auto", "service.kubernetes.io/topology-aware-hints": "Auto" } },
    },
    want: [],
  },
];

const PORTS: Row[] = [
  { name: "no ports", spec: { ports: [] }, want: ["spec.ports: Required value"] },
  { name: "no ports, headless", spec: { ports: undefined, clusterIP: "None" }, want: [] },
  { name: "no ports, ExternalName", spec: { ports: undefined, type: "ExternalName", externalName: "a.b" }, want: [] },
  {
    name: "unnamed port among several",
    spec: { ports: [{ port: 80, name: "a" }, { port: 81 }] },
    want: ["spec.ports[1].name: Required value"],
  },
  { name: "port name", spec: { ports: [{ port: 80, name: "A" }] }, want: [`spec.ports[0].name: Invalid value: "A": ${LABEL}`] },
  {
    name: "port name with dots",
    spec: { ports: [{ port: 80, name: "a.b" }] },
    want: ['spec.ports[0].name: Invalid value: "a.b": must not contain dots'],
  },
  {
    name: "port name twice",
    spec: {
      ports: [
        { port: 80, name: "a" },
        { port: 81, name: "a" },
      ],
    },
    want: ['spec.ports[1].name: Duplicate value: "a"'],
  },
  { name: "port 0", spec: { ports: [{ port: 0, targetPort: 1 }] }, want: [`spec.ports[0].port: Invalid value: 0: ${PORT}`] },
  { name: "port too high", spec: { ports: [{ port: 65536, targetPort: 1 }] }, want: [`spec.ports[0].port: Invalid value: 65536: ${PORT}`] },
  { name: "port 65535", spec: { ports: [{ port: 65535 }] }, want: [] },
  {
    name: "protocol",
    spec: { ports: [{ port: 80, protocol: "tcp" }] },
    want: ['spec.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"'],
  },
  {
    name: "target port number",
    spec: { ports: [{ port: 80, targetPort: -1 }] },
    want: [`spec.ports[0].targetPort: Invalid value: -1: ${PORT}`],
  },
  { name: "target port name", spec: { ports: [{ port: 80, targetPort: "http-web" }] }, want: [] },
  {
    name: "target port name that breaks every rule",
    spec: { ports: [{ port: 80, targetPort: "--0123456789_1234" }] },
    want: [
      "must be no more than 15 characters",
      "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
      "must contain at least one letter (a-z)",
      "must not contain consecutive hyphens",
      "must not begin or end with a hyphen",
    ].map((text) => `spec.ports[0].targetPort: Invalid value: "--0123456789_1234": ${text}`),
  },
  { name: "appProtocol", spec: { ports: [{ port: 80, appProtocol: "kubernetes.io/h2c" }] }, want: [] },
  {
    name: "appProtocol wrong",
    spec: { ports: [{ port: 80, appProtocol: "a b" }] },
    want: [`spec.ports[0].appProtocol: Invalid value: "a b": ${QUALIFIED}`],
  },
  {
    name: "node port on ClusterIP",
    spec: { ports: [{ port: 80, nodePort: 30000 }] },
    want: ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  },
  {
    name: "node port twice",
    spec: {
      type: "NodePort",
      ports: [
        { name: "a", port: 80, nodePort: 30000 },
        { name: "b", port: 81, nodePort: 30000 },
        { name: "c", port: 82, nodePort: 30000, protocol: "UDP" },
      ],
    },
    want: ["spec.ports[1].nodePort: Duplicate value: 30000"],
  },
  {
    name: "port twice: the key is printed as upstream's struct",
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
        { name: "c", port: 80, protocol: "UDP" },
      ],
    },
    want: ['spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}'],
  },
  {
    name: "kubelet's port on a load balancer",
    spec: { type: "LoadBalancer", ports: [{ port: 10250 }] },
    want: [],
  },
];

const TYPES: Row[] = [
  {
    name: "type",
    spec: { type: "Cluster" },
    want: ['spec.type: Unsupported value: "Cluster": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
  },
  {
    name: "headless load balancer",
    spec: { type: "LoadBalancer", clusterIP: "None" },
    want: ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for LoadBalancer services"],
  },
  {
    name: "headless NodePort",
    spec: { type: "NodePort", clusterIP: "None" },
    want: ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
  },
  {
    name: "ExternalName with address fields",
    spec: { type: "ExternalName", externalName: "a.b", clusterIP: "10.0.0.1", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
    want: [
      "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
      "spec.ipFamilies: Forbidden: may not be set for ExternalName services",
      "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services",
    ],
  },
  { name: "ExternalName without a name", spec: { type: "ExternalName" }, want: ["spec.externalName: Required value"] },
  { name: "ExternalName of a dot", spec: { type: "ExternalName", externalName: "." }, want: ["spec.externalName: Required value"] },
  { name: "ExternalName fully qualified", spec: { type: "ExternalName", externalName: "db.example.com." }, want: [] },
  {
    name: "ExternalName wrong",
    spec: { type: "ExternalName", externalName: "a_b.example" },
    want: [`spec.externalName: Invalid value: "a_b.example": ${SUBDOMAIN}`],
  },
  {
    name: "allocateLoadBalancerNodePorts",
    spec: { allocateLoadBalancerNodePorts: false },
    want: [`spec.allocateLoadBalancerNodePorts: Forbidden: ${LB_ONLY}`],
  },
  { name: "loadBalancerClass", spec: { loadBalancerClass: "a/b" }, want: [`spec.loadBalancerClass: Forbidden: ${LB_ONLY}`] },
  { name: "loadBalancerClass of a load balancer", spec: { type: "LoadBalancer", loadBalancerClass: "a/b" }, want: [] },
  {
    name: "loadBalancerClass wrong",
    spec: { type: "LoadBalancer", loadBalancerClass: "/b" },
    want: ['spec.loadBalancerClass: Invalid value: "/b": prefix part must be non-empty'],
  },
];

const TRAFFIC: Row[] = [
  {
    name: "selector",
    spec: { selector: { "a b": "c d" } },
    want: [
      `spec.selector: Invalid value: "a b": ${QUALIFIED}`,
      "spec.selector: Invalid value: \"c d\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  },
  {
    name: "sessionAffinity",
    spec: { sessionAffinity: "Ip" },
    want: ['spec.sessionAffinity: Unsupported value: "Ip": supported values: "ClientIP", "None"'],
  },
  ...[0, -1, 86401].map((seconds) => ({
    name: `affinity timeout ${seconds}`,
    spec: { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: seconds } } },
    want: [`spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: ${seconds}: must be greater than 0 and less than 86400`],
  })),
  {
    name: "affinity timeout of a whole day",
    spec: { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 86400 } } },
    want: [],
  },
  {
    name: "externalTrafficPolicy inside only",
    spec: { externalTrafficPolicy: "Local" },
    want: ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
  },
  { name: "externalTrafficPolicy with externalIPs", spec: { externalTrafficPolicy: "Local", externalIPs: ["192.0.2.1"] }, want: [] },
  {
    name: "externalTrafficPolicy wrong",
    spec: { type: "NodePort", externalTrafficPolicy: "Node" },
    want: ['spec.externalTrafficPolicy: Unsupported value: "Node": supported values: "Cluster", "Local"'],
  },
  {
    name: "internalTrafficPolicy wrong",
    spec: { internalTrafficPolicy: "Node" },
    want: ['spec.internalTrafficPolicy: Unsupported value: "Node": supported values: "Cluster", "Local"'],
  },
  {
    name: "internalTrafficPolicy wrong on ExternalName",
    spec: { type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "" },
    want: ['spec.internalTrafficPolicy: Unsupported value: "": supported values: "Cluster", "Local"'],
  },
  {
    name: "healthCheckNodePort",
    spec: { type: "LoadBalancer", healthCheckNodePort: 31000 },
    want: [
      "spec.healthCheckNodePort: Invalid value: 31000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
  },
  {
    name: "healthCheckNodePort out of shape",
    spec: { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 70000 },
    want: [`spec.healthCheckNodePort: Invalid value: 70000: ${PORT}`],
  },
  {
    name: "healthCheckNodePort of a local load balancer",
    spec: { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31000 },
    want: [],
  },
  {
    name: "trafficDistribution wrong",
    spec: { trafficDistribution: "Near" },
    want: ['spec.trafficDistribution: Unsupported value: "Near": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"'],
  },
  { name: "trafficDistribution", spec: { trafficDistribution: "PreferSameNode" }, want: [] },
];

const ADDRESSES: Row[] = [
  {
    name: "clusterIP against the list",
    spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.2"] },
    want: ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`'],
  },
  {
    name: "list without clusterIP",
    spec: { clusterIPs: ["10.0.0.2"] },
    want: ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: must be empty when `clusterIP` is not specified'],
  },
  {
    name: "None and more",
    spec: { clusterIP: "None", clusterIPs: ["None", "10.0.0.2"] },
    want: ['spec.clusterIPs: Invalid value: ["None","10.0.0.2"]: \'None\' must be the first and only value'],
  },
  {
    name: "None in second place is no address",
    spec: { clusterIP: "10.0.0.2", clusterIPs: ["10.0.0.2", "None"] },
    want: [`spec.clusterIPs[1]: Invalid value: "None": ${IP}`],
  },
  {
    name: "three addresses",
    spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "2001:db8::1", "10.0.0.2"] },
    want: ['spec.clusterIPs: Invalid value: ["10.0.0.1","2001:db8::1","10.0.0.2"]: may only hold up to 2 values'],
  },
  {
    name: "one family twice",
    spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "10.0.0.1"] },
    want: ['spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.1"]: may specify no more than one IP for each IP family'],
  },
  { name: "not an address", spec: { clusterIP: "10.0.0" }, want: [`spec.clusterIPs[0]: Invalid value: "10.0.0": ${IP}`] },
  {
    name: "leading zeros",
    spec: { clusterIP: "10.0.0.010" },
    want: ['spec.clusterIPs[0]: Invalid value: "10.0.0.010": must not have leading 0s'],
  },
  {
    name: "IPv4-mapped",
    spec: { clusterIP: "::ffff:10.0.0.1" },
    want: ['spec.clusterIPs[0]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address'],
  },
  {
    name: "a malformed entry silences the rules on families",
    spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "x"], ipFamilies: ["IPv6", "IPv4"] },
    want: [`spec.clusterIPs[1]: Invalid value: "x": ${IP}`],
  },
  {
    name: "address against its family",
    spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "2001:db8::1"], ipFamilies: ["IPv6", "IPv4"] },
    want: [
      'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      'spec.clusterIPs[1]: Invalid value: "2001:db8::1": expected an IPv4 value as indicated by `ipFamilies[1]`',
    ],
  },
  { name: "headless with any families", spec: { clusterIP: "None", ipFamilies: ["IPv6", "IPv4"] }, want: [] },
  {
    name: "ipFamilies",
    spec: { ipFamilies: ["IPv5", "IPv5"] },
    want: [
      'spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      'spec.ipFamilies[1]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      'spec.ipFamilies[1]: Duplicate value: "IPv5"',
    ],
  },
  {
    name: "ipFamilyPolicy",
    spec: { ipFamilyPolicy: "" },
    want: ['spec.ipFamilyPolicy: Unsupported value: "": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"'],
  },
  {
    name: "externalIPs",
    spec: {
      externalIPs: [
        "192.0.2.1",
        "x",
        "0.0.0.0",
        "::",
        "127.1.2.3",
        "::1",
        "169.254.1.1",
        "fe80::1",
        "224.0.0.1",
        "ff02::1",
        "ff12::1",
        "224.0.1.1",
      ],
    },
    want: [
      `spec.externalIPs[1]: Invalid value: "x": ${IP}`,
      'spec.externalIPs[2]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'spec.externalIPs[3]: Invalid value: "::": may not be unspecified (::)',
      'spec.externalIPs[4]: Invalid value: "127.1.2.3": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'spec.externalIPs[5]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'spec.externalIPs[6]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'spec.externalIPs[7]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'spec.externalIPs[8]: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
      'spec.externalIPs[9]: Invalid value: "ff02::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
      'spec.externalIPs[10]: Invalid value: "ff12::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  },
  {
    name: "source ranges on another type",
    spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] },
    want: [`spec.LoadBalancerSourceRanges: Forbidden: ${LB_ONLY}`],
  },
  {
    name: "source ranges",
    spec: {
      type: "LoadBalancer",
      loadBalancerSourceRanges: [" 10.0.0.0/8 ", "2001:DB8::/32", "10.0.0.1", "10.0.0.1/8", "010.0.0.0/8", "::ffff:10.0.0.0/104"],
    },
    want: [
      `spec.LoadBalancerSourceRanges[2]: Invalid value: "10.0.0.1": ${CIDR}`,
      'spec.LoadBalancerSourceRanges[3]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
      'spec.LoadBalancerSourceRanges[4]: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length',
      'spec.LoadBalancerSourceRanges[5]: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address',
    ],
  },
  {
    name: "source ranges by annotation",
    spec: { type: "LoadBalancer" },
    rest: { metadata: { annotations: { "service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.0/8, x" } } },
    want: [`metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid value: "x": ${CIDR}`],
  },
  {
    name: "source ranges by annotation on another type",
    spec: {},
    rest: { metadata: { annotations: { "service.beta.kubernetes.io/load-balancer-source-ranges": "" } } },
    want: [`metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Forbidden: ${LB_ONLY}`],
  },
];

describe("validateService", () => {
  it.each<{ name: string; spec: Spec }>([
    { name: "plain", spec: {} },
    { name: "NodePort", spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30000 }] } },
    {
      name: "LoadBalancer",
      spec: { type: "LoadBalancer", ports: [{ port: 80 }, { port: 80, protocol: "UDP" }].map((p, i) => ({ ...p, name: `p${i}` })) },
    },
    { name: "headless without selector", spec: { clusterIP: "None", selector: undefined } },
    { name: "two addresses", spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "2001:DB8::1"], ipFamilies: ["IPv4", "IPv6"] } },
  ])("$name: accepted", ({ spec }) => {
    expect(errorsOf(spec)).toEqual([]);
  });

  it.each([...META, ...PORTS])("metadata and ports, $name: upstream's errors", ({ spec, rest, want }) => {
    expect(errorsOf(spec, rest)).toEqual(want);
  });

  it.each(TYPES)("types, $name: upstream's errors", ({ spec, rest, want }) => {
    expect(errorsOf(spec, rest)).toEqual(want);
  });

  it.each(TRAFFIC)("traffic, $name: upstream's errors", ({ spec, rest, want }) => {
    expect(errorsOf(spec, rest)).toEqual(want);
  });

  it.each(ADDRESSES)("addresses, $name: upstream's errors", ({ spec, rest, want }) => {
    expect(errorsOf(spec, rest)).toEqual(want);
  });

  it("spelling of values that the stored Service has: not checked again", () => {
    const spec: Spec = {
      type: "LoadBalancer",
      clusterIP: "010.0.0.1",
      clusterIPs: ["010.0.0.1"],
      externalIPs: ["0192.0.2.1"],
      loadBalancerSourceRanges: ["10.0.0.1/8"],
    };
    expect(errorsOf(spec)).toHaveLength(3);
    expect(errorsOf(spec, {}, deepFreeze(sent(spec)))).toEqual([]);
  });

  it("several errors: reported in upstream's order", () => {
    const errors = errorsOf({
      type: "LoadBalancer",
      ports: [],
      sessionAffinity: "x",
      externalTrafficPolicy: "y",
      trafficDistribution: "z",
      externalIPs: ["::"],
    });
    expect(errors.map((text) => text.split(":")[0])).toEqual([
      "spec.ports",
      "spec.sessionAffinity",
      "spec.externalIPs[0]",
      "spec.externalTrafficPolicy",
      "spec.trafficDistribution",
    ]);
  });
});
