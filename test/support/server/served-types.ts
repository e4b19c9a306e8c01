/** One object of every served type, as tests write it. */
import { V1MicroTime } from "@kubernetes/client-node";

export interface ServedType {
  /** group and version */
  served: string;
  resource: string;
  /** the nth name, for a type that restricts its names */
  name?: (n: number) => string;
  /** the members of the nth object beside its metadata */
  content: (n: number) => object;
  /** a status that a client may write */
  status?: object;
  /** false = the type has no deletecollection */
  collection?: false;
}

const namespace = "default";
const now = new V1MicroTime();
const container = { name: "main", image: "registry.example/image:1" };
const condition = { type: "Tested", status: "True", reason: "Tested", message: "by hand", lastTransitionTime: new Date(1_700_000_000_000) };
const addressType = "IPv4";
const RBAC = "rbac.authorization.k8s.io";
const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] };
const subjects = [
  { kind: "Group", apiGroup: RBAC, name: "readers" },
  { kind: "ServiceAccount", namespace, name: "robot" },
];
const roleRef = { apiGroup: RBAC, name: "reader" };
const ipAddress = (third: number) => ({
  name: (n: number) => `10.96.${String(third)}.${String(n)}`,
  content: (n: number) => ({ spec: { parentRef: { group: "example.com", resource: "things", namespace, name: `thing-${String(n)}` } } }),
});
const serviceCIDR = (second: number) => ({
  content: (n: number) => ({ spec: { cidrs: [`10.${String(second)}.${String(n)}.0/24`] } }),
  status: { conditions: [condition] },
});

export const servedTypes: readonly ServedType[] = [
  {
    served: "v1",
    resource: "services",
    content: () => ({ spec: { type: "LoadBalancer", selector: { app: "a" }, ports: [{ port: 80 }] } }),
    status: { loadBalancer: { ingress: [{ hostname: "lb.example" }] } },
  },
  {
    served: "v1",
    resource: "nodes",
    content: () => ({ spec: { podCIDR: "10.1.0.0/24" } }),
    status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] },
  },
  {
    served: "v1",
    resource: "pods",
    content: () => ({ spec: { containers: [container] } }),
    status: { phase: "Running", podIP: "192.0.2.2" },
  },
  {
    served: "v1",
    resource: "podtemplates",
    content: () => ({ template: { metadata: { labels: { app: "a" } }, spec: { containers: [container] } } }),
  },
  {
    served: "v1",
    resource: "configmaps",
    content: () => ({ data: { "app.conf": "a=1", empty: "" }, binaryData: { "blob.bin": "AAEC/w==" }, immutable: false }),
  },
  {
    served: "v1",
    resource: "resourcequotas",
    // without limits, so that nobody else writes its status
    content: () => ({
      spec: {
        scopes: ["NotTerminating"],
        scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] },
      },
    }),
    status: { used: { pods: "1" } },
  },
  {
    served: "v1",
    resource: "secrets",
    content: () => ({ data: { token: "AAEC/w==", empty: "" }, type: "example.com/token" }),
  },
  {
    served: "v1",
    resource: "serviceaccounts",
    content: () => ({ secrets: [{ name: "s" }], imagePullSecrets: [{ name: "p" }], automountServiceAccountToken: false }),
  },
  {
    served: "v1",
    resource: "namespaces",
    content: () => ({}),
    status: { conditions: [condition] },
    collection: false,
  },
  {
    served: "v1",
    resource: "endpoints",
    content: () => ({ subsets: [{ addresses: [{ ip: "192.0.2.3" }], ports: [{ port: 80 }] }] }),
  },
  {
    served: "v1",
    resource: "events",
    content: () => ({ involvedObject: { kind: "Service", namespace, name: "a" }, reason: "Tested", message: "m", type: "Normal" }),
  },
  {
    served: "events.k8s.io/v1",
    resource: "events",
    content: () => ({
      eventTime: now,
      action: "Testing",
      reason: "Tested",
      type: "Normal",
      reportingController: "example.com/test",
      reportingInstance: "test-1",
      regarding: { kind: "Service", namespace, name: "a" },
    }),
  },
  { served: "networking.k8s.io/v1", resource: "servicecidrs", ...serviceCIDR(201) },
  { served: "networking.k8s.io/v1beta1", resource: "servicecidrs", ...serviceCIDR(202) },
  { served: "networking.k8s.io/v1", resource: "ipaddresses", ...ipAddress(201) },
  { served: "networking.k8s.io/v1beta1", resource: "ipaddresses", ...ipAddress(202) },
  {
    served: "rbac.authorization.k8s.io/v1",
    resource: "clusterrolebindings",
    content: () => ({ subjects, roleRef: { ...roleRef, kind: "ClusterRole" } }),
  },
  {
    served: "rbac.authorization.k8s.io/v1",
    resource: "clusterroles",
    content: () => ({ rules: [rule, { verbs: ["get"], nonResourceURLs: ["/metrics"] }] }),
  },
  {
    served: "rbac.authorization.k8s.io/v1",
    resource: "rolebindings",
    content: () => ({ subjects, roleRef: { ...roleRef, kind: "Role" } }),
  },
  { served: "rbac.authorization.k8s.io/v1", resource: "roles", content: () => ({ rules: [rule] }) },
  {
    served: "coordination.k8s.io/v1",
    resource: "leases",
    content: () => ({ spec: { holderIdentity: "a", leaseDurationSeconds: 15, acquireTime: now, renewTime: now } }),
  },
  {
    served: "discovery.k8s.io/v1",
    resource: "endpointslices",
    content: () => ({ addressType, endpoints: [{ addresses: ["192.0.2.4"] }], ports: [{ name: "", port: 80, protocol: "TCP" }] }),
  },
];
