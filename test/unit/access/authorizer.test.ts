import { describe, expect, it } from "vitest";
import { type Attributes, resourceAttributes } from "../../../src/access/authorization/attributes";
import { authorize } from "../../../src/access/authorizer";
import { ANONYMOUS_CALLER, type User } from "../../../src/access/identity/user";
import { Policy } from "../../../src/access/rbac/policy";
import type { AuthorizationMode } from "../../../src/core/config/config";

const user = (name: string, ...groups: string[]): User => ({ name, uid: "", groups, extra: {} });
const node = user("system:node:n", "system:nodes");
const agent = user("servicenet:agent:n", "servicenet:agents");
const bob = user("bob", "system:authenticated");
const LIST = resourceAttributes({ verb: "list", resource: "services" });
const SECRET = resourceAttributes({ verb: "get", resource: "secrets", namespace: "a", name: "s" });
const METRICS: Attributes = { kind: "path", verb: "get", path: "/metrics" };

const policy = new Policy();
policy.put("ClusterRole", {
  metadata: { name: "reader" },
  rules: [{ verbs: ["list"], apiGroups: [""], resources: ["services", "secrets"] }],
});
policy.put("ClusterRoleBinding", {
  metadata: { name: "b" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
  subjects: [{ kind: "User", name: "bob" }],
});
policy.put("ClusterRoleBinding", {
  metadata: { name: "lost" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "missing" },
  subjects: [{ kind: "Group", name: "system:nodes" }],
});

const BOTH: AuthorizationMode[] = ["Node", "RBAC"];
const cases: [
  title: string,
  modes: AuthorizationMode[],
  rules: Policy | undefined,
  user: User,
  asked: Attributes,
  decision: "allow" | "noOpinion",
  reason: string | RegExp,
][] = [
  ["masters: everything, without rules", BOTH, undefined, user("root", "system:masters"), METRICS, "allow", ""],
  ["AlwaysAllow: anybody, everything", ["AlwaysAllow"], undefined, ANONYMOUS_CALLER.user, SECRET, "allow", ""],
  ["a name like the group of masters: nothing", BOTH, policy, user("system:masters"), METRICS, "noOpinion", ""],
  ["a node: what the Node authorizer allows, without rules", BOTH, undefined, node, LIST, "allow", ""],
  ["a node's name without its group: nothing", BOTH, policy, user("system:node:n"), LIST, "noOpinion", ""],
  ["an agent: its own Node", BOTH, undefined, agent, resourceAttributes({ verb: "get", resource: "nodes", name: "n" }), "allow", ""],
  ["an agent: no Services", BOTH, policy, agent, LIST, "noOpinion", ""],
  ["RBAC alone: a node has the rights of rules only", ["RBAC"], policy, node, LIST, "noOpinion", /"missing" not found/],
  ["Node alone: rules count for nothing", ["Node"], policy, bob, LIST, "noOpinion", ""],
  ["rules that allow: allowed, with the reason", BOTH, policy, bob, LIST, "allow", /^RBAC: allowed by ClusterRoleBinding "b"/],
  ["rules of another verb: no opinion", BOTH, policy, bob, SECRET, "noOpinion", ""],
  ["no rules at all: no opinion", BOTH, undefined, bob, LIST, "noOpinion", ""],
  ["anonymous: no opinion", BOTH, policy, ANONYMOUS_CALLER.user, METRICS, "noOpinion", ""],
  [
    "no opinion of several: the reasons of all",
    BOTH,
    policy,
    node,
    SECRET,
    "noOpinion",
    /^no relationship found .*\nRBAC: .*"missing" not found/,
  ],
];

describe("authorizers in their order", () => {
  it.each(cases)("%s", (_title, modes, rules, who, asked, decision, reason) => {
    const decided = authorize(who, asked, { modes, policy: rules });
    expect(decided.decision).toBe(decision);
    if (typeof reason === "string") expect(decided.reason).toBe(reason);
    else expect(decided.reason).toMatch(reason);
  });
});
