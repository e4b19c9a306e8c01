/** The kinds that the corpus tries, each with a small valid object. */

export interface Kind {
  kind: string;
  apiVersion: string;
  resource: string;
  namespaced: boolean;
  status: boolean;
  /** without name; `n` makes what has to be unique differ */
  sample: (n: number) => Record<string, unknown>;
  /** the name of the n-th object where the kind has rules for names */
  named?: (n: number) => string;
  /** a JSON patch that the kind allows and that changes its content */
  change: readonly object[];
}

const CONTAINERS = [{ name: "a", image: "i" }];
const labelled = [{ op: "add", path: "/metadata/labels", value: { changed: "yes" } }];
const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: "r" });
const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "u" }];

export const KINDS: readonly Kind[] = [
  core("Service", "services", {
    status: true,
    sample: () => ({ spec: { ports: [{ port: 80 }], selector: { app: "a" } } }),
    change: [{ op: "replace", path: "/spec/ports/0/port", value: 81 }],
  }),
  core("ConfigMap", "configmaps", { sample: () => ({ data: { a: "1" } }), change: [{ op: "add", path: "/data/b", value: "2" }] }),
  core("Secret", "secrets", { sample: () => ({ data: { a: "MQ==" } }), change: [{ op: "add", path: "/data/b", value: "Mg==" }] }),
  core("ServiceAccount", "serviceaccounts", {
    sample: () => ({ automountServiceAccountToken: false }),
    change: [{ op: "replace", path: "/automountServiceAccountToken", value: true }],
  }),
  core("Endpoints", "endpoints", {
    sample: () => ({ subsets: [{ addresses: [{ ip: "10.1.2.3" }], ports: [{ port: 80 }] }] }),
    change: [{ op: "replace", path: "/subsets/0/ports/0/port", value: 81 }],
  }),
  core("Event", "events", {
    sample: () => ({
      involvedObject: { kind: "Pod", namespace: "$NS", name: "p" },
      reason: "R",
      message: "m",
      type: "Normal",
      source: { component: "c" },
    }),
    change: [{ op: "add", path: "/count", value: 2 }],
  }),
  core("Pod", "pods", {
    status: true,
    sample: () => ({ spec: { containers: CONTAINERS } }),
    change: [{ op: "replace", path: "/spec/containers/0/image", value: "j" }],
  }),
  core("PodTemplate", "podtemplates", {
    sample: () => ({ template: { spec: { containers: CONTAINERS } } }),
    change: [{ op: "replace", path: "/template/spec/containers/0/image", value: "j" }],
  }),
  core("ResourceQuota", "resourcequotas", {
    status: true,
    sample: () => ({ spec: { hard: { "count/configmaps": "100000" } } }),
    change: [{ op: "add", path: "/spec/hard/pods", value: "5" }],
  }),
  core("Node", "nodes", {
    namespaced: false,
    status: true,
    sample: () => ({ spec: { providerID: "x://a" } }),
    change: [{ op: "add", path: "/spec/unschedulable", value: true }],
  }),
  core("Namespace", "namespaces", { namespaced: false, status: true, sample: () => ({}), change: labelled }),
  other("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", {
    sample: () => ({ addressType: "IPv4", endpoints: [{ addresses: ["10.1.2.3"] }], ports: [{ port: 80 }] }),
    change: [{ op: "replace", path: "/ports/0/port", value: 81 }],
  }),
  other("coordination.k8s.io/v1", "Lease", "leases", {
    sample: () => ({ spec: { holderIdentity: "h", leaseDurationSeconds: 10 } }),
    change: [{ op: "replace", path: "/spec/holderIdentity", value: "i" }],
  }),
  other("events.k8s.io/v1", "Event", "events", {
    sample: () => ({
      regarding: { kind: "Pod", namespace: "$NS", name: "p" },
      reason: "R",
      note: "m",
      type: "Normal",
      action: "A",
      reportingController: "example.com/c",
      reportingInstance: "i",
      eventTime: "2020-01-01T00:00:00.000000Z",
    }),
    change: [{ op: "add", path: "/series", value: { count: 2, lastObservedTime: "2020-01-01T00:00:01.000000Z" } }],
  }),
  rbac("Role", "roles", { sample: () => ({ rules }), change: [{ op: "add", path: "/rules/0/verbs/-", value: "list" }] }),
  rbac("RoleBinding", "rolebindings", {
    sample: () => ({ roleRef: roleRef("Role"), subjects }),
    change: [{ op: "replace", path: "/subjects/0/name", value: "v" }],
  }),
  rbac("ClusterRole", "clusterroles", {
    namespaced: false,
    sample: () => ({ rules }),
    change: [{ op: "add", path: "/rules/0/verbs/-", value: "list" }],
  }),
  rbac("ClusterRoleBinding", "clusterrolebindings", {
    namespaced: false,
    sample: () => ({ roleRef: roleRef("ClusterRole"), subjects }),
    change: [{ op: "replace", path: "/subjects/0/name", value: "v" }],
  }),
  ...["v1", "v1beta1"].flatMap((version, v) => [
    other(`networking.k8s.io/${version}`, "IPAddress", "ipaddresses", {
      namespaced: false,
      sample: () => ({ spec: { parentRef: { resource: "services", namespace: "$NS", name: "s" } } }),
      named: (n) => `10.${String(150 + v)}.${String(Math.floor(n / 200))}.${String(n % 200)}`,
      change: labelled,
    }),
    other(`networking.k8s.io/${version}`, "ServiceCIDR", "servicecidrs", {
      namespaced: false,
      status: true,
      sample: (n) => ({ spec: { cidrs: [`10.${String(160 + v)}.${String(n)}.0/24`] } }),
      change: labelled,
    }),
  ]),
];

type Rest = Pick<Kind, "sample" | "change"> & Partial<Kind>;

function core(kind: string, resource: string, rest: Rest): Kind {
  return { kind, apiVersion: "v1", resource, namespaced: true, status: false, ...rest };
}

function other(apiVersion: string, kind: string, resource: string, rest: Rest): Kind {
  return { kind, apiVersion, resource, namespaced: true, status: false, ...rest };
}

function rbac(kind: string, resource: string, rest: Rest): Kind {
  return other("rbac.authorization.k8s.io/v1", kind, resource, rest);
}

/** A name for the groups of a kind. */
export function titleOf({ resource, apiVersion }: Kind): string {
  const version = apiVersion.split("/").at(-1) ?? "";
  return `${apiVersion.startsWith("events") ? "new-" : ""}${resource}${version === "v1" ? "" : `-${version}`}`;
}

export function rootOf({ apiVersion }: Kind): string {
  return apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
}

/** The collection: of the group's namespace where the kind has namespaces. */
export function collectionOf(kind: Kind): string {
  return `${rootOf(kind)}${kind.namespaced ? "/namespaces/$NS" : ""}/${kind.resource}`;
}

/** The n-th name of a kind in its group. Names of kinds without namespaces name their group. */
export function nameOf(kind: Kind, group: string, n: number): string {
  return kind.named?.(n) ?? (kind.namespaced ? `o${String(n)}` : `${group}-${String(n)}`);
}

/** A valid object. */
export function objectOf(
  kind: Kind,
  name: string,
  n: number,
  metadata: object = {},
): Record<string, unknown> & { metadata: Record<string, unknown> } {
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, ...metadata }, ...kind.sample(n) };
}
