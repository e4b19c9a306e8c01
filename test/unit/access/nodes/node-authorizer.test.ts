import { expect, it } from "vitest";
import { type PathAttributes, type ResourceAttributes, resourceAttributes } from "../../../../src/access/authorization/attributes";
import { NODES, type User } from "../../../../src/access/identity/user";
import { authorizeNode } from "../../../../src/access/nodes/node-authorizer";
import { podReadProblem } from "../../../../src/access/nodes/node-decision";

const user = (name = "system:node:n", groups = [NODES]): User => ({ name, uid: "", groups, extra: {} });
type Asked = Partial<ResourceAttributes> & Pick<ResourceAttributes, "verb" | "resource">;
const LEASE = { group: "coordination.k8s.io", resource: "leases", namespace: "kube-node-lease" } as const;
const POD = { resource: "pods", namespace: "default", name: "p" } as const;

const ALLOWED: readonly Asked[] = [
  { verb: "create", resource: "nodes" },
  ...["get", "list", "watch", "update", "patch"].map((verb) => ({ verb, resource: "nodes", name: "n" })),
  ...["update", "patch"].map((verb) => ({ verb, resource: "nodes", subresource: "status", name: "n" })),
  ...["create", "update"].map((verb) => ({ verb, resource: "nodes", subresource: "proxy-health", name: "n" })),
  { verb: "get", resource: "nodes", subresource: "proxy-config", name: "n" },
  { verb: "list", resource: "pods", fieldSelector: "spec.nodeName=n" },
  { verb: "watch", resource: "pods", fieldSelector: "status.phase!=Failed,spec.nodeName==n" },
  { ...POD, verb: "create", name: "" },
  { ...POD, verb: "delete" },
  ...["update", "patch"].map((verb) => ({ ...POD, verb, subresource: "status" })),
  { ...POD, verb: "create", subresource: "eviction" },
  { ...LEASE, verb: "create" },
  ...["get", "update", "patch", "delete"].map((verb) => ({ ...LEASE, verb, name: "n" })),
  ...["get", "list", "watch"].map((verb) => ({ verb, resource: "services", name: "" })),
  { verb: "get", resource: "endpoints", namespace: "default", name: "web" },
  ...["", "events.k8s.io"].flatMap((group) =>
    ["create", "update", "patch"].map((verb) => ({ verb, group, resource: "events", namespace: "default" })),
  ),
  { verb: "create", group: "authentication.k8s.io", resource: "tokenreviews" },
  { verb: "create", group: "authorization.k8s.io", resource: "subjectaccessreviews" },
  { verb: "create", group: "authorization.k8s.io", resource: "localsubjectaccessreviews", namespace: "default" },
];

const RELATED = "no relationship found between node 'n' and this object";
const WITHOUT_OPINION: readonly (readonly [Asked, string])[] = [
  [{ verb: "list", resource: "nodes" }, "node 'n' cannot read all nodes, only its own Node object"],
  [{ verb: "get", resource: "nodes", name: "m" }, "node 'n' cannot read 'm', only its own Node object"],
  [{ verb: "delete", resource: "nodes", name: "n" }, ""],
  [{ verb: "deletecollection", resource: "nodes" }, ""],
  [{ verb: "get", resource: "nodes", subresource: "status", name: "n" }, ""],
  [{ verb: "get", resource: "nodes", subresource: "proxy", name: "n" }, ""],
  [{ verb: "update", resource: "nodes", subresource: "proxy-health", name: "m" }, ""],
  [{ verb: "get", resource: "nodes", subresource: "proxy-config", name: "m" }, ""],
  [{ verb: "list", resource: "pods" }, "can only list/watch pods with spec.nodeName field selector"],
  [{ verb: "list", resource: "pods", fieldSelector: "spec.nodeName=m" }, "can only list/watch pods with spec.nodeName field selector"],
  [{ verb: "list", resource: "pods", fieldSelector: "spec.nodeName!=n" }, "can only list/watch pods with spec.nodeName field selector"],
  [{ verb: "list", resource: "pods", fieldSelector: "spec.nodeName=n\\" }, "can only list/watch pods with spec.nodeName field selector"],
  [{ ...POD, verb: "watch" }, "can only list/watch pods with spec.nodeName field selector"],
  [{ ...POD, verb: "update" }, ""],
  [{ ...POD, verb: "deletecollection" }, ""],
  [{ ...POD, verb: "get", subresource: "status" }, ""],
  [{ ...POD, verb: "create", subresource: "binding" }, ""],
  [{ ...LEASE, verb: "list" }, "can only get, create, update, patch, or delete a node lease"],
  [{ ...LEASE, verb: "get", name: "m" }, "can only access node lease with the same name as the requesting node"],
  [{ ...LEASE, verb: "get", namespace: "default", name: "n" }, 'can only access leases in the "kube-node-lease" system namespace'],
  [{ verb: "get", resource: "secrets", namespace: "default", name: "s" }, RELATED],
  [{ verb: "list", resource: "secrets" }, "can only read namespaced object of this type"],
  [{ verb: "list", resource: "configmaps", namespace: "default" }, "No Object name found"],
  [{ verb: "create", resource: "configmaps", namespace: "default" }, "can only read resources of this type"],
  [{ verb: "create", resource: "serviceaccounts", namespace: "default", name: "a" }, "can only create token subresource of serviceaccount"],
  [{ verb: "get", resource: "serviceaccounts", namespace: "default", name: "a" }, "can only create tokens for individual service accounts"],
  [{ verb: "update", resource: "services", subresource: "status", name: "web" }, ""],
  [{ verb: "list", resource: "endpoints" }, ""],
  [{ verb: "get", group: "discovery.k8s.io", resource: "endpointslices", namespace: "default", name: "web" }, ""],
  [{ verb: "get", resource: "toString", name: "n" }, ""],
  [{ verb: "list", resource: "namespaces" }, ""],
];

const titleOf = ({ verb, group, resource, subresource, namespace, name, fieldSelector }: Asked): string =>
  [verb, group, subresource ? `${resource}/${subresource}` : resource, namespace, name, fieldSelector].filter(Boolean).join(" ");

it.each(ALLOWED.map((asked) => [titleOf(asked), asked] as const))("a node, %s: allowed", (_, asked) => {
  expect(authorizeNode(user(), resourceAttributes(asked))).toEqual({ decision: "allow", reason: "" });
});

it.each(WITHOUT_OPINION.map(([asked, reason]) => [titleOf(asked), asked, reason] as const))(
  "a node, %s: no opinion",
  (_, asked, reason) => {
    expect(authorizeNode(user(), resourceAttributes(asked))).toEqual({ decision: "noOpinion", reason });
  },
);

it("a node that gets a Pod: allowed when the Pod is on the node", () => {
  const decision = authorizeNode(user(), resourceAttributes({ ...POD, verb: "get" }));
  expect(decision).toEqual({ decision: "allow", reason: "", podOf: "n" });
  expect(podReadProblem("n", { spec: { nodeName: "n", containers: [] } })).toBeUndefined();
  expect(podReadProblem("n", { spec: { nodeName: "m", containers: [] } })).toBe(RELATED);
  expect(podReadProblem("n", undefined)).toBe(RELATED);
});

it("a node that asks for a token: allowed when the Pod that it is bound to is on the node", () => {
  const asked = { verb: "create", resource: "serviceaccounts", subresource: "token", namespace: "default", name: "a" };
  expect(authorizeNode(user(), resourceAttributes(asked))).toEqual({ decision: "allow", reason: "", podOf: "n" });
});

const PATH: PathAttributes = { kind: "path", verb: "get", path: "/version" };
it.each<[string, User, ResourceAttributes | PathAttributes, string]>([
  ["a name without the group", user("system:node:n", []), resourceAttributes({ verb: "get", resource: "nodes", name: "n" }), ""],
  ["the group without the name", user("n"), resourceAttributes({ verb: "get", resource: "nodes", name: "n" }), ""],
  [
    "no node's name",
    user("system:node:"),
    resourceAttributes({ verb: "list", resource: "services" }),
    'unknown node for user "system:node:"',
  ],
  ["a path", user(), PATH, ""],
])("%s: no opinion", (_, who, attributes, reason) => {
  expect(authorizeNode(who, attributes)).toEqual({ decision: "noOpinion", reason });
});
