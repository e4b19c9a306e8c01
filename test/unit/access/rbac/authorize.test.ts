import { describe, expect, it } from "vitest";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import type { Attributes } from "../../../../src/access/authorization/attributes";
import type { User } from "../../../../src/access/identity/user";
import { authorizeByRbac } from "../../../../src/access/rbac/authorize";
import { Policy } from "../../../../src/access/rbac/policy";
import type { PolicyRule, RbacSubject, RoleRef } from "../../../../src/api/meta/kubernetes";

const APIGROUP = "rbac.authorization.k8s.io";
const user = (name: string, ...groups: string[]): User => ({ name, groups, uid: "", extra: {} });
const U = (name: string): RbacSubject => ({ kind: "User", name, apiGroup: APIGROUP });
const G = (name: string): RbacSubject => ({ kind: "Group", name, apiGroup: APIGROUP });
const SA = (name: string, namespace?: string): RbacSubject => ({ kind: "ServiceAccount", name, ...(namespace && { namespace }) });
const ref = (kind: string, name: string): RoleRef => ({ apiGroup: APIGROUP, kind, name });
const readPods: PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] };
const readMetrics: PolicyRule = { verbs: ["get"], nonResourceURLs: ["/metrics"] };
const getPod = (namespace = "", name = ""): Attributes => resourceAttributes({ verb: "get", resource: "pods", namespace, name });
const getMetrics: Attributes = { kind: "path", verb: "get", path: "/metrics" };

function clusterRole(policy: Policy, name: string, ...rules: PolicyRule[]): void {
  policy.put("ClusterRole", { metadata: { name }, rules });
}
function role(policy: Policy, namespace: string, name: string, ...rules: PolicyRule[]): void {
  policy.put("Role", { metadata: { name, namespace }, rules });
}
function bindCluster(policy: Policy, name: string, roleRef: RoleRef, ...subjects: RbacSubject[]): void {
  policy.put("ClusterRoleBinding", { metadata: { name }, roleRef, subjects });
}
function bind(policy: Policy, namespace: string, name: string, roleRef: RoleRef, ...subjects: RbacSubject[]): void {
  policy.put("RoleBinding", { metadata: { name, namespace }, roleRef, subjects });
}
const allowedBy = (text: string): string => `allow RBAC: allowed by ${text}`;

const cases: [title: string, build: (policy: Policy) => void, user: User, asked: Attributes, answer: string][] = [
  ["nothing: no opinion", () => undefined, user("ann"), getPod("a"), "noOpinion "],
  [
    "role as the store keeps it without rules: allows nothing",
    (p) => (
      p.put("ClusterRole", JSON.parse('{"metadata":{"name":"r"},"rules":null}') as object),
      bindCluster(p, "b", ref("ClusterRole", "r"), U("ann"))
    ),
    user("ann"),
    getPod("a"),
    "noOpinion ",
  ],
  [
    "cluster binding to a user: allows in every namespace",
    (p) => (clusterRole(p, "r", readPods), bindCluster(p, "b", ref("ClusterRole", "r"), U("ann"))),
    user("ann"),
    getPod("a"),
    allowedBy('ClusterRoleBinding "b" of ClusterRole "r" to User "ann"'),
  ],
  [
    "cluster binding: allows in the cluster as a whole",
    (p) => (clusterRole(p, "r", readPods), bindCluster(p, "b", ref("ClusterRole", "r"), G("devs"))),
    user("ann", "devs"),
    getPod(),
    allowedBy('ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"'),
  ],
  [
    "user of a group's name: is not the group",
    (p) => (clusterRole(p, "r", readPods), bindCluster(p, "b", ref("ClusterRole", "r"), G("ann"))),
    user("ann"),
    getPod("a"),
    "noOpinion ",
  ],
  [
    "RoleBinding: allows in its namespace",
    (p) => (clusterRole(p, "r", readPods), bind(p, "a", "b", ref("ClusterRole", "r"), U("ann"))),
    user("ann"),
    getPod("a"),
    allowedBy('RoleBinding "b/a" of ClusterRole "r" to User "ann"'),
  ],
  [
    "RoleBinding: allows in no other namespace",
    (p) => (clusterRole(p, "r", readPods), bind(p, "a", "b", ref("ClusterRole", "r"), U("ann"))),
    user("ann"),
    getPod("c"),
    "noOpinion ",
  ],
  [
    "RoleBinding: allows nothing in the cluster as a whole",
    (p) => (clusterRole(p, "r", readPods), bind(p, "a", "b", ref("ClusterRole", "r"), U("ann"))),
    user("ann"),
    getPod(),
    "noOpinion ",
  ],
  [
    "RoleBinding to a Role: that of its own namespace",
    (p) => (role(p, "a", "r", readPods), role(p, "c", "r"), bind(p, "a", "b", ref("Role", "r"), U("ann"))),
    user("ann"),
    getPod("a"),
    allowedBy('RoleBinding "b/a" of Role "r" to User "ann"'),
  ],
  [
    "RoleBinding: opens no path",
    (p) => (clusterRole(p, "r", readMetrics), bind(p, "a", "b", ref("ClusterRole", "r"), U("ann"))),
    user("ann"),
    getMetrics,
    "noOpinion ",
  ],
  [
    "cluster binding: opens paths",
    (p) => (clusterRole(p, "r", readMetrics), bindCluster(p, "b", ref("ClusterRole", "r"), G("system:authenticated"))),
    user("ann", "system:authenticated"),
    getMetrics,
    allowedBy('ClusterRoleBinding "b" of ClusterRole "r" to Group "system:authenticated"'),
  ],
  [
    "service account without a namespace: that of the RoleBinding",
    (p) => (role(p, "a", "r", readPods), bind(p, "a", "b", ref("Role", "r"), SA("default"))),
    user("system:serviceaccount:a:default"),
    getPod("a"),
    allowedBy('RoleBinding "b/a" of Role "r" to ServiceAccount "default/a"'),
  ],
  [
    "service account of another namespace: named with it",
    (p) => (role(p, "a", "r", readPods), bind(p, "a", "b", ref("Role", "r"), SA("default", "c"))),
    user("system:serviceaccount:c:default"),
    getPod("a"),
    allowedBy('RoleBinding "b/a" of Role "r" to ServiceAccount "default/c"'),
  ],
  [
    "service account without a namespace in a cluster binding: nobody",
    (p) => (clusterRole(p, "r", readPods), bindCluster(p, "b", ref("ClusterRole", "r"), SA("default"))),
    user("system:serviceaccount::default"),
    getPod("a"),
    "noOpinion ",
  ],
  [
    "subject of an unknown kind: nobody",
    (p) => (clusterRole(p, "r", readPods), bindCluster(p, "b", ref("ClusterRole", "r"), { kind: "Robot", name: "ann" })),
    user("ann"),
    getPod("a"),
    "noOpinion ",
  ],
  [
    "several subjects that are the user: the first of the binding is the reason",
    (p) => (clusterRole(p, "r", readPods), bindCluster(p, "b", ref("ClusterRole", "r"), U("bob"), G("ops"), G("devs"), U("ann"))),
    user("ann", "devs", "ops"),
    getPod("a"),
    allowedBy('ClusterRoleBinding "b" of ClusterRole "r" to Group "ops"'),
  ],
  [
    "several bindings that allow: the first by name is the reason",
    (p) => {
      clusterRole(p, "r", readPods);
      bindCluster(p, "c", ref("ClusterRole", "r"), U("ann"));
      bindCluster(p, "b", ref("ClusterRole", "r"), G("devs"));
    },
    user("ann", "devs"),
    getPod("a"),
    allowedBy('ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"'),
  ],
  [
    "cluster binding and RoleBinding: that of the cluster is the reason",
    (p) => {
      clusterRole(p, "r", readPods);
      bind(p, "a", "a", ref("ClusterRole", "r"), U("ann"));
      bindCluster(p, "z", ref("ClusterRole", "r"), U("ann"));
    },
    user("ann"),
    getPod("a"),
    allowedBy('ClusterRoleBinding "z" of ClusterRole "r" to User "ann"'),
  ],
  [
    "missing ClusterRole: is the reason",
    (p) => bindCluster(p, "b", ref("ClusterRole", "gone"), U("ann")),
    user("ann"),
    getPod("a"),
    'noOpinion RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  ],
  [
    "missing Role: is the reason",
    (p) => (role(p, "c", "gone", readPods), bind(p, "a", "b", ref("Role", "gone"), U("ann"))),
    user("ann"),
    getPod("a"),
    'noOpinion RBAC: role.rbac.authorization.k8s.io "gone" not found',
  ],
  [
    "several missing roles: each once, in brackets",
    (p) => {
      bindCluster(p, "b", ref("ClusterRole", "gone"), U("ann"));
      bindCluster(p, "c", ref("ClusterRole", "gone"), U("ann"));
      bind(p, "a", "d", ref("Role", "x"), U("ann"));
    },
    user("ann"),
    getPod("a"),
    'noOpinion RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "x" not found]',
  ],
  [
    "the same missing role twice: one text without brackets",
    (p) => {
      bindCluster(p, "b", ref("ClusterRole", "gone"), U("ann"));
      bindCluster(p, "c", ref("ClusterRole", "gone"), U("ann"));
    },
    user("ann"),
    getPod("a"),
    'noOpinion RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  ],
  [
    "missing role and another that allows: allowed",
    (p) => {
      clusterRole(p, "r", readPods);
      bindCluster(p, "b", ref("ClusterRole", "gone"), U("ann"));
      bindCluster(p, "c", ref("ClusterRole", "r"), U("ann"));
    },
    user("ann"),
    getPod("a"),
    allowedBy('ClusterRoleBinding "c" of ClusterRole "r" to User "ann"'),
  ],
  [
    "missing role of a namespace that nobody asks for: not mentioned",
    (p) => bind(p, "a", "b", ref("Role", "gone"), U("ann")),
    user("ann"),
    getPod("c"),
    "noOpinion ",
  ],
];

describe("RBAC", () => {
  it.each(cases)("%s", (_title, build, who, asked, answer) => {
    const policy = new Policy();
    build(policy);
    const { decision, reason } = authorizeByRbac(policy, who, asked);
    expect(`${decision} ${reason}`).toBe(answer);
  });

  it("a user of many groups with a binding each: decided in about linear time, also where nothing allows", () => {
    const policy = new Policy();
    const groups = Array.from({ length: 30_000 }, (_, i) => `g${String(i).padStart(5, "0")}`);
    clusterRole(policy, "r", readMetrics);
    for (const group of groups) bindCluster(policy, group, ref("ClusterRole", "r"), G(group));
    // Each binding against each group would take longer than any test may.
    expect(authorizeByRbac(policy, user("ann", ...groups.reverse()), getPod("a")).decision).toBe("noOpinion");
  });
});
