/** One small object per resource, and a change of it: all that the matrix needs to know about a kind. */
import type { Body } from "../../../support/clients/api";

export interface Sample {
  /** the n-th name; a DNS label when absent */
  name?(n: number): string;
  /** everything besides kind, apiVersion and metadata; `n` makes what must be unique */
  content(n: number, namespace: string): Partial<Body>;
  /** a member that an update may set, and its new value */
  change: { path: readonly string[]; value: unknown };
  /** a condition or the like that the status endpoint takes */
  status?: Record<string, unknown>;
  /** a kubelet registers its node with its status */
  createsWithStatus?: true;
}

const TIME = "2026-01-01T00:00:00Z";
const condition = { type: "Ready", status: "True", reason: "Tested", message: "a test said so", lastTransitionTime: TIME };
const RBAC = "rbac.authorization.k8s.io";
const rule = { verbs: ["get", "list"], apiGroups: ["", "example.com"], resources: ["pods", "pods/log"] };
const subject = { kind: "User", apiGroup: RBAC, name: "ann" };
/** of another provider, which nobody serves here */
const POOL_REF = { apiGroup: "ipam.example.com", kind: "IPPool", name: "p" };
const roleRef = { apiGroup: RBAC, name: "reader" };
/** for kinds whose content is fixed once it is there */
const annotation = { path: ["metadata", "annotations", "example.com/changed"], value: "yes" };

export const samples: Readonly<Record<string, Sample>> = {
  "servicenet.dev/clusters": {
    content: () => ({ spec: { controllers: ["*"] } }),
    change: { path: ["spec", "controllers"], value: ["*", "-namespace-controller"] },
    status: { conditions: [condition] },
  },
  "ipam.cluster.x-k8s.io/ipaddressclaims": {
    content: () => ({ spec: { poolRef: POOL_REF } }),
    change: annotation,
    status: { conditions: [condition] },
  },
  "ipam.cluster.x-k8s.io/ipaddresses": {
    content: (n) => ({ spec: { claimRef: { name: "c" }, poolRef: POOL_REF, address: `192.0.2.${String(n)}`, prefix: 24 } }),
    change: annotation,
  },
  "ipam.cluster.x-k8s.io/inclusterippools": {
    content: (n) => ({ spec: { addresses: [`192.0.2.${String(100 + n)}`], prefix: 24, gateway: "192.0.2.1" } }),
    change: { path: ["spec", "gateway"], value: "192.0.2.2" },
  },
  "ipam.cluster.x-k8s.io/globalinclusterippools": {
    content: (n) => ({ spec: { addresses: [`198.51.100.${String(n)}`], prefix: 24 } }),
    change: { path: ["spec", "gateway"], value: "198.51.100.254" },
  },
  "ipam.cluster.x-k8s.io/inclusterprefixpools": {
    content: (n) => ({ spec: { prefixes: [`172.16.${String(n)}.0/24`], allocationPrefixLength: 28 } }),
    change: { path: ["spec", "gateway"], value: "172.16.0.1" },
  },
  "ipam.cluster.x-k8s.io/globalinclusterprefixpools": {
    content: (n) => ({ spec: { prefixes: [`172.17.${String(n)}.0/24`], allocationPrefixLength: 28 } }),
    change: { path: ["spec", "gateway"], value: "172.17.0.1" },
  },
  "/services": {
    content: () => ({ spec: { ports: [{ port: 80 }], selector: { app: "a" } } }),
    change: { path: ["spec", "publishNotReadyAddresses"], value: true },
    status: { conditions: [condition] },
  },
  "/configmaps": {
    content: () => ({ data: { "app.conf": "a=1" }, binaryData: { "blob.bin": "AAEC" } }),
    change: { path: ["data"], value: { "app.conf": "a=2" } },
  },
  "/secrets": {
    content: () => ({ type: "example.com/token", data: { token: "czNjcjN0" } }),
    change: { path: ["data"], value: { token: "bmV3ZXI=" } },
  },
  "/serviceaccounts": {
    content: () => ({ imagePullSecrets: [{ name: "pull" }] }),
    change: { path: ["automountServiceAccountToken"], value: false },
  },
  "/podtemplates": {
    content: () => ({
      template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "example.com/image:1" }] } },
    }),
    change: { path: ["template", "spec", "priority"], value: 7 },
  },
  "/resourcequotas": {
    // without limits, so that nobody else writes its status
    content: () => ({ spec: { scopes: ["NotTerminating"] } }),
    change: annotation,
    status: { used: { "requests.example.com/a-test-said-so": "1" } },
  },
  "/endpoints": {
    content: () => ({ subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }] }),
    change: { path: ["subsets"], value: [{ addresses: [{ ip: "192.0.2.2" }], ports: [{ port: 80, protocol: "TCP" }] }] },
  },
  "/events": {
    content: (n, namespace) => ({
      involvedObject: { kind: "Pod", namespace, name: `pod-${String(n)}` },
      reason: "Tested",
      message: "first",
      type: "Normal",
      source: { component: "matrix" },
    }),
    change: { path: ["message"], value: "second" },
  },
  "/namespaces": { content: () => ({}), change: annotation, status: { conditions: [condition] } },
  "/nodes": {
    content: () => ({ spec: { podCIDR: "10.244.0.0/24", podCIDRs: ["10.244.0.0/24"] } }),
    change: { path: ["spec", "unschedulable"], value: true },
    status: { conditions: [condition] },
    createsWithStatus: true,
  },
  "/pods": {
    content: () => ({ spec: { containers: [{ name: "main", image: "example.com/image:1" }] } }),
    change: { path: ["spec", "activeDeadlineSeconds"], value: 600 },
    status: { phase: "Running", conditions: [condition] },
  },
  "events.k8s.io/events": {
    content: (n, namespace) => ({
      eventTime: "2026-01-01T00:00:00.000000Z",
      regarding: { kind: "Pod", namespace, name: `pod-${String(n)}` },
      reportingController: "example.com/matrix",
      reportingInstance: "matrix-1",
      action: "Testing",
      reason: "Tested",
      note: "first",
      type: "Normal",
    }),
    change: { path: ["series"], value: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" } },
  },
  "networking.k8s.io/ipaddresses": {
    name: (n) => `203.0.${String(n >> 8)}.${String(n & 255)}`,
    content: () => ({ spec: { parentRef: { resource: "things", group: "example.com", namespace: "a", name: "b" } } }),
    change: annotation,
  },
  "networking.k8s.io/servicecidrs": {
    content: (n) => ({ spec: { cidrs: [`10.${String(128 + (n >> 8))}.${String(n & 255)}.0/28`] } }),
    change: annotation,
    status: { conditions: [{ ...condition, type: "example.com/Tested" }] },
  },
  "rbac.authorization.k8s.io/clusterrolebindings": {
    content: () => ({ subjects: [subject], roleRef: { ...roleRef, kind: "ClusterRole" } }),
    change: { path: ["subjects"], value: [{ ...subject, name: "bert" }] },
  },
  "rbac.authorization.k8s.io/clusterroles": {
    content: () => ({ rules: [rule, { verbs: ["get"], nonResourceURLs: ["/metrics"] }] }),
    change: { path: ["rules"], value: [{ ...rule, verbs: ["*"] }] },
  },
  "rbac.authorization.k8s.io/rolebindings": {
    content: () => ({ subjects: [subject], roleRef: { ...roleRef, kind: "Role" } }),
    change: { path: ["subjects"], value: [{ kind: "ServiceAccount", name: "robot", namespace: "default" }] },
  },
  "rbac.authorization.k8s.io/roles": {
    content: () => ({ rules: [rule] }),
    change: { path: ["rules"], value: [{ ...rule, verbs: ["*"] }] },
  },
  "coordination.k8s.io/leases": {
    content: () => ({ spec: { holderIdentity: "a", leaseDurationSeconds: 10 } }),
    change: { path: ["spec", "leaseDurationSeconds"], value: 20 },
  },
  "discovery.k8s.io/endpointslices": {
    content: () => ({
      addressType: "IPv4",
      endpoints: [{ addresses: ["192.0.2.1"] }],
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
    }),
    change: { path: ["endpoints"], value: [{ addresses: ["192.0.2.2"], conditions: {} }] },
  },
};
