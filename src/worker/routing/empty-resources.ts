/**
 * Kinds that are not served, whose lists are answered because some clients fail without them. The lists are empty, as no object of these kinds
 * exists. Nothing else of them is served, not even a watch.
 *
 * - custom resource definitions: kubectl asks for them when OpenAPI does not have a kind; without an answer it cannot report an unknown kind. Terraform's
 *   `kubernetes_manifest` looks for them in discovery before it takes any kind, so they stand there with the verbs get and list.
 * - the others: `kubectl cluster-info dump` lists them in each namespace. Discovery does not name them. Source: upstream kubectl
 *   pkg/cmd/clusterinfo/clusterinfo_dump.go
 */
export interface EmptyResource {
  /** "" = core */
  group: string;
  version: string;
  resource: string;
  kind: string;
  namespaced: boolean;
  /** what discovery says besides; absent: it does not name the resource */
  discovered?: { singular: string; shortNames: readonly string[]; categories: readonly string[]; verbs: readonly string[] };
}

/** Those that discovery names. */
export type DiscoveredResource = EmptyResource & Required<Pick<EmptyResource, "discovered">>;

export const EMPTY_RESOURCES: readonly EmptyResource[] = [
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    resource: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
    discovered: {
      singular: "customresourcedefinition",
      shortNames: ["crd", "crds"],
      categories: ["api-extensions"],
      verbs: ["get", "list"],
    },
  },
  { group: "", version: "v1", resource: "replicationcontrollers", kind: "ReplicationController", namespaced: true },
  { group: "apps", version: "v1", resource: "daemonsets", kind: "DaemonSet", namespaced: true },
  { group: "apps", version: "v1", resource: "deployments", kind: "Deployment", namespaced: true },
  { group: "apps", version: "v1", resource: "replicasets", kind: "ReplicaSet", namespaced: true },
];

export interface EmptyTarget {
  resource: EmptyResource;
  /** "" = the list */
  name: string;
}

/**
 * The list, or the object of a kind that discovery names, that a path in a version asks for; undefined = none of these. Nothing is decoded.
 *
 * @param rest the path after the version, percent-encoded, without its leading slash
 */
export function emptyTarget(group: string, version: string, rest: string): EmptyTarget | undefined {
  for (const resource of EMPTY_RESOURCES) {
    if (resource.group !== group || resource.version !== version) continue;
    const [first, name = "", ...more] = resource.namespaced ? withoutNamespace(rest) : rest.split("/");
    if (first === resource.resource && more.length === 0 && (name === "" || resource.discovered)) return { resource, name };
  }
  return undefined;
}

function withoutNamespace(rest: string): string[] {
  const [first, namespace, ...parts] = rest.split("/");
  return first === "namespaces" && namespace ? parts : [];
}

export function isDiscovered(resource: EmptyResource): resource is DiscoveredResource {
  return resource.discovered !== undefined;
}
