import { expect, it } from "vitest";
import { type ResourceAttributes, resourceAttributes } from "../../../../src/access/authorization/attributes";
import { AGENTS, NODES, type User } from "../../../../src/access/identity/user";
import { authorizeAgent } from "../../../../src/access/nodes/agent-authorizer";

const user = (name = "servicenet:agent:n", groups = [AGENTS]): User => ({ name, uid: "", groups, extra: {} });
type Asked = Partial<ResourceAttributes> & Pick<ResourceAttributes, "verb" | "resource">;
const LEASE = { group: "coordination.k8s.io", resource: "leases", namespace: "kube-node-lease" } as const;
const POD = { resource: "pods", namespace: "default", name: "web.n" } as const;
const SELECT = "can only list/watch pods with spec.nodeName field selector";

const ALLOWED: readonly Asked[] = [
  { verb: "create", resource: "nodes" },
  ...["get", "list", "watch", "update", "patch", "delete"].map((verb) => ({ verb, resource: "nodes", name: "n" })),
  ...["update", "patch"].map((verb) => ({ verb, resource: "nodes", subresource: "status", name: "n" })),
  ...["create", "update"].map((verb) => ({ verb, resource: "nodes", subresource: "proxy-health", name: "n" })),
  { ...LEASE, verb: "create" },
  ...["get", "update", "patch", "delete"].map((verb) => ({ ...LEASE, verb, name: "n" })),
  ...["list", "watch"].map((verb) => ({ verb, resource: "pods", fieldSelector: "spec.nodeName=n" })),
  { ...POD, verb: "create", name: "" },
  ...["update", "patch", "delete"].map((verb) => ({ ...POD, verb })),
  ...["update", "patch"].map((verb) => ({ ...POD, verb, subresource: "status" })),
];

const WITHOUT_OPINION: readonly (readonly [Asked, string])[] = [
  [{ verb: "list", resource: "nodes" }, "node 'n' cannot read all nodes, only its own Node object"],
  [{ verb: "get", resource: "nodes", name: "m" }, "node 'n' cannot read 'm', only its own Node object"],
  [{ verb: "update", resource: "nodes", name: "m" }, ""],
  [{ verb: "create", resource: "nodes", name: "m" }, ""],
  [{ verb: "delete", resource: "nodes", name: "m" }, ""],
  [{ verb: "deletecollection", resource: "nodes" }, ""],
  [{ verb: "update", resource: "nodes", subresource: "status", name: "m" }, ""],
  [{ verb: "update", resource: "nodes", subresource: "proxy-health", name: "m" }, ""],
  [{ verb: "create", resource: "nodes", subresource: "status", name: "n" }, ""],
  [{ verb: "get", resource: "nodes", subresource: "proxy", name: "n" }, ""],
  [{ ...LEASE, verb: "update", name: "m" }, "can only access node lease with the same name as the requesting node"],
  [{ verb: "list", resource: "pods" }, SELECT],
  [{ verb: "list", resource: "pods", fieldSelector: "spec.nodeName=m" }, SELECT],
  [{ ...POD, verb: "deletecollection" }, ""],
  [{ ...POD, verb: "create", subresource: "eviction" }, ""],
  [{ ...POD, verb: "get", subresource: "status" }, ""],
  [{ verb: "list", resource: "services" }, ""],
  [{ verb: "create", resource: "events", namespace: "default" }, ""],
  [{ verb: "list", resource: "namespaces" }, ""],
  [{ verb: "get", resource: "secrets", namespace: "default", name: "s" }, ""],
];

const titleOf = ({ verb, resource, subresource, namespace, name, fieldSelector }: Asked): string =>
  [verb, subresource ? `${resource}/${subresource}` : resource, namespace, name, fieldSelector].filter(Boolean).join(" ");

it.each(ALLOWED.map((asked) => [titleOf(asked), asked] as const))("an agent, %s: allowed", (_, asked) => {
  expect(authorizeAgent(user(), resourceAttributes(asked))).toEqual({ decision: "allow", reason: "" });
});

it.each(WITHOUT_OPINION.map(([asked, reason]) => [titleOf(asked), asked, reason] as const))(
  "an agent, %s: no opinion",
  (_, asked, reason) => {
    expect(authorizeAgent(user(), resourceAttributes(asked))).toEqual({ decision: "noOpinion", reason });
  },
);

it("an agent that gets a Pod: allowed when the Pod is on its node", () => {
  expect(authorizeAgent(user(), resourceAttributes({ ...POD, verb: "get" }))).toEqual({ decision: "allow", reason: "", podOf: "n" });
});

it.each([
  ["a node", user("system:node:n", [NODES]), ""],
  ["the name without the group", user("servicenet:agent:n", []), ""],
  ["an agent without a name", user("servicenet:agent:"), 'unknown node for user "servicenet:agent:"'],
])("%s: no opinion", (_, who, reason) => {
  const attributes = resourceAttributes({ verb: "get", resource: "nodes", name: "n" });
  expect(authorizeAgent(who, attributes)).toEqual({ decision: "noOpinion", reason });
});
