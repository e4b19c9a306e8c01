/** A served version with invented resources, for tests of routing that must not depend on the registry. */
import { bindingAction } from "../../../src/api/registry/pods/actions";
import type { ResourceDefinition, Verb } from "../../../src/api/registry/resource";
import type { ServedVersion } from "../../../src/worker/routing/served";
import { REVIEWS } from "../../../src/worker/routing/review-kinds";

const ALL: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function aDefinition(part: Partial<ResourceDefinition>): ResourceDefinition {
  const base = { group: "", versions: ["v1"], namespaced: true, verbs: ALL, subresources: [], returnsDeletedObject: false };
  return { ...base, ...part } as unknown as ResourceDefinition;
}

export const CORE: ServedVersion = {
  group: "",
  version: "v1",
  resources: new Map(
    [
      aDefinition({ resource: "services", kind: "Service", subresources: ["status"] }),
      aDefinition({
        resource: "namespaces",
        kind: "Namespace",
        namespaced: false,
        subresources: ["status", "finalize"],
        verbs: ALL.filter((verb) => verb !== "deletecollection"),
      }),
      aDefinition({ resource: "machines", kind: "Machine", actions: [bindingAction] }),
      aDefinition({
        resource: "nodes",
        kind: "Node",
        namespaced: false,
        subresources: ["status"],
        connects: [{ name: "proxy", kind: "NodeProxyOptions", pathDescription: "" }],
        views: ["proxy-config"],
        reports: ["proxy-health"],
      }),
      aDefinition({ resource: "statics", kind: "Static", verbs: ["get", "list"] }),
    ].map((definition) => [definition.resource, definition]),
  ),
  reviews: new Map(),
  empty: [],
};

export const NETWORKING: ServedVersion = {
  group: "networking.k8s.io",
  version: "v1beta1",
  resources: new Map([
    [
      "ipaddresses",
      aDefinition({
        group: "networking.k8s.io",
        versions: ["v1", "v1beta1"],
        resource: "ipaddresses",
        kind: "IPAddress",
        namespaced: false,
      }),
    ],
  ]),
  reviews: new Map(),
  empty: [],
};

export const AUTHORIZATION: ServedVersion = {
  group: "authorization.k8s.io",
  version: "v1",
  resources: new Map(),
  reviews: new Map(REVIEWS.filter(({ group }) => group === "authorization.k8s.io").map((review) => [review.resource, review])),
  empty: [],
};
