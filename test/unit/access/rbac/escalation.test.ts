import { describe, expect, it } from "vitest";
import type { Attributes } from "../../../../src/access/authorization/attributes";
import type { User } from "../../../../src/access/identity/user";
import { authorizeByRbac } from "../../../../src/access/rbac/authorize";
import { escalationProblem } from "../../../../src/access/rbac/escalation";
import type { RbacWrite } from "../../../../src/access/rbac/escalation";
import { Policy } from "../../../../src/access/rbac/policy";
import type { ClusterRole, PolicyRule, Role, RoleBinding, RoleRef } from "../../../../src/api/meta/kubernetes";

const GROUP = "rbac.authorization.k8s.io";
const ref = (kind: string, name: string): RoleRef => ({ apiGroup: GROUP, kind, name });
const readPods: PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] };
const readServices: PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["services"] };
const everything: PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];
const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
const own = (verbs: string[], resources: string[], resourceNames?: string[]): PolicyRule => ({
  verbs,
  apiGroups: [GROUP],
  resources,
  ...(resourceNames && { resourceNames }),
});

/** In namespace a, `ann` holds what her roles say there; she is bound in the cluster to nothing, `root` to everything. */
function policy(...rulesOfAnn: PolicyRule[]): Policy {
  const built = new Policy();
  built.put("Role", { metadata: { name: "anns", namespace: "a" }, rules: rulesOfAnn });
  built.put("RoleBinding", {
    metadata: { name: "ann", namespace: "a" },
    roleRef: ref("Role", "anns"),
    subjects: [{ kind: "User", name: "ann" }],
  });
  built.put("ClusterRole", { metadata: { name: "everything" }, rules: everything });
  built.put("ClusterRoleBinding", {
    metadata: { name: "root" },
    roleRef: ref("ClusterRole", "everything"),
    subjects: [{ kind: "User", name: "root" }],
  });
  built.put("ClusterRole", { metadata: { name: "readers" }, rules: [readPods] });
  built.put("ClusterRoleBinding", {
    metadata: { name: "bob" },
    roleRef: ref("ClusterRole", "readers"),
    subjects: [{ kind: "User", name: "bob" }],
  });
  return built;
}

const role = (...rules: PolicyRule[]): Role => ({ metadata: { name: "r", namespace: "a" }, rules });
const clusterRole = (rest: Partial<ClusterRole>): ClusterRole => ({ metadata: { name: "c" }, ...rest });
const binding = (roleRef: RoleRef, ...names: string[]): RoleBinding => ({
  metadata: { name: "b", namespace: "a" },
  roleRef,
  subjects: names.map((name) => ({ kind: "User", name })),
});
const written = (of: { before?: Role; after: Role }): RbacWrite => ({ kind: "Role", ...of });
const bound = (after: RoleBinding, before?: RoleBinding): RbacWrite => ({ kind: "RoleBinding", after, ...(before && { before }) });
const boundInCluster = (roleRef: RoleRef): RbacWrite => ({
  kind: "ClusterRoleBinding",
  after: { metadata: { name: "cb" }, roleRef, subjects: [] },
});

const NOT_HELD = (subject: string, who: string, ...lines: string[]): string =>
  `403 ${subject} is forbidden: user ${who} is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}`;
const GET_SERVICES = '{APIGroups:[""], Resources:["services"], Verbs:["get" "list"]}';
const GET_PODS = '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}';
const ANN = '"ann" (groups=["g1" "g2"])';
const MUST_BE_ADMIN =
  '403 clusterroles.rbac.authorization.k8s.io "c" is forbidden: must have cluster-admin privileges to use the aggregationRule';

interface Case {
  title: string;
  /** ann in groups g1 and g2 unless it says otherwise */
  user?: User;
  rules?: PolicyRule[];
  namespace?: string;
  requestName?: string;
  write: RbacWrite;
  answer: string;
}
const someone = (name: string, ...groups: string[]): User => ({ name, groups, uid: "", extra: {} });

const cases: Case[] = [
  { title: "role of own rights: written", rules: [readPods], write: written({ after: role(readPods) }), answer: "" },
  {
    title: "role of other rights: refused, with the groups and what is missing",
    rules: [readPods],
    write: written({ after: role(readPods, readServices) }),
    answer: NOT_HELD('roles.rbac.authorization.k8s.io "r"', ANN, GET_SERVICES),
  },
  {
    title: "role of a user without groups: refused with an empty list",
    user: someone("eve"),
    write: written({ after: role(readPods) }),
    answer: NOT_HELD('roles.rbac.authorization.k8s.io "r"', '"eve" (groups=[])', GET_PODS),
  },
  {
    title: "role whose name is made: refused without a name",
    write: written({ after: { metadata: { generateName: "r-", namespace: "a" }, rules: [readPods] } }),
    answer: NOT_HELD("roles.rbac.authorization.k8s.io", ANN, GET_PODS),
  },
  {
    title: "role of system:masters: written",
    user: someone("eve", "system:masters"),
    write: written({ after: role(...everything) }),
    answer: "",
  },
  { title: "role without rules: written", write: written({ after: role() }), answer: "" },
  { title: "escalate: written", rules: [own(["escalate"], ["roles"])], write: written({ after: role(readPods) }), answer: "" },
  {
    title: "escalate on one name: that role is written",
    rules: [own(["escalate"], ["roles"], ["r"])],
    requestName: "r",
    write: written({ after: role(readPods) }),
    answer: "",
  },
  {
    title: "escalate on one name: a POST has no name",
    rules: [own(["escalate"], ["roles"], ["r"])],
    write: written({ after: role(readPods) }),
    answer: NOT_HELD('roles.rbac.authorization.k8s.io "r"', ANN, GET_PODS),
  },
  {
    title: "escalate on cluster roles: not on roles",
    rules: [own(["escalate"], ["clusterroles"])],
    write: written({ after: role(readPods) }),
    answer: NOT_HELD('roles.rbac.authorization.k8s.io "r"', ANN, GET_PODS),
  },
  {
    title: "update that takes rights away: still asks for those that stay",
    write: written({ before: role(readPods, readServices), after: role(readPods) }),
    answer: NOT_HELD('roles.rbac.authorization.k8s.io "r"', ANN, GET_PODS),
  },
  {
    title: "update of labels alone: asks for all rights",
    write: written({ before: role(readPods), after: { ...role(readPods), metadata: { name: "r", namespace: "a", labels: { a: "b" } } } }),
    answer: NOT_HELD('roles.rbac.authorization.k8s.io "r"', ANN, GET_PODS),
  },
  {
    title: "update of finalizers, owners and managed fields alone: written",
    write: written({
      before: {
        metadata: {
          name: "r",
          namespace: "a",
          finalizers: ["x/y"],
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "1" }],
        },
        rules: [readPods],
      },
      after: { metadata: { name: "r", namespace: "a", managedFields: [{ manager: "m" }] }, rules: [readPods] },
    }),
    answer: "",
  },
  {
    title: "create with finalizers: asks for all rights",
    write: written({ after: { metadata: { name: "r", namespace: "a", finalizers: ["x/y"] }, rules: [readPods] } }),
    answer: NOT_HELD('roles.rbac.authorization.k8s.io "r"', ANN, GET_PODS),
  },
  {
    title: "cluster role: rights in one namespace do not count",
    rules: [readPods],
    namespace: "",
    write: { kind: "ClusterRole", after: clusterRole({ rules: [readPods] }) },
    answer: NOT_HELD('clusterroles.rbac.authorization.k8s.io "c"', ANN, GET_PODS),
  },
  {
    title: "cluster role of own rights: written",
    user: someone("bob"),
    namespace: "",
    write: { kind: "ClusterRole", after: clusterRole({ rules: [readPods] }) },
    answer: "",
  },
  {
    title: "aggregation rule: only with all rights",
    user: someone("bob"),
    namespace: "",
    write: { kind: "ClusterRole", after: clusterRole({ aggregationRule }) },
    answer: MUST_BE_ADMIN,
  },
  {
    title: "aggregation rule of the old object: only with all rights",
    user: someone("bob"),
    namespace: "",
    write: { kind: "ClusterRole", before: clusterRole({ aggregationRule }), after: clusterRole({ rules: [readPods] }) },
    answer: MUST_BE_ADMIN,
  },
  {
    title: "aggregation rule without selectors: none",
    user: someone("bob"),
    namespace: "",
    write: { kind: "ClusterRole", after: clusterRole({ aggregationRule: {} }) },
    answer: "",
  },
  {
    title: "aggregation rule of who may do everything: written",
    user: someone("root"),
    namespace: "",
    write: { kind: "ClusterRole", after: clusterRole({ aggregationRule }) },
    answer: "",
  },
  {
    title: "binding to a role of own rights: written",
    rules: [readPods],
    write: bound(binding(ref("ClusterRole", "readers"), "eve")),
    answer: "",
  },
  {
    title: "binding to a role of other rights: refused",
    rules: [readServices],
    write: bound(binding(ref("ClusterRole", "readers"), "eve")),
    answer: NOT_HELD('rolebindings.rbac.authorization.k8s.io "b"', ANN, GET_PODS),
  },
  { title: "binding to a Role: that of the namespace", rules: [readPods], write: bound(binding(ref("Role", "anns"), "eve")), answer: "" },
  {
    title: "binding to a missing role: 404",
    write: bound(binding(ref("Role", "gone"), "eve")),
    answer: '404 roles.rbac.authorization.k8s.io "gone" not found',
  },
  {
    title: "binding to a missing cluster role: 404",
    write: bound(binding(ref("ClusterRole", "gone"), "eve")),
    answer: '404 clusterroles.rbac.authorization.k8s.io "gone" not found',
  },
  {
    title: "bind: a missing role does not matter",
    rules: [own(["bind"], ["roles"])],
    write: bound(binding(ref("Role", "gone"), "eve")),
    answer: "",
  },
  {
    title: "bind on a cluster role in one namespace: bound there",
    rules: [own(["bind"], ["clusterroles"], ["everything"])],
    write: bound(binding(ref("ClusterRole", "everything"), "eve")),
    answer: "",
  },
  {
    title: "bind on another name: refused",
    rules: [own(["bind"], ["clusterroles"], ["other"])],
    write: bound(binding(ref("ClusterRole", "readers"), "eve")),
    answer: NOT_HELD('rolebindings.rbac.authorization.k8s.io "b"', ANN, GET_PODS),
  },
  {
    title: "bind in one namespace: not in the cluster",
    rules: [own(["bind"], ["clusterroles"])],
    namespace: "",
    write: boundInCluster(ref("ClusterRole", "readers")),
    answer: NOT_HELD('clusterrolebindings.rbac.authorization.k8s.io "cb"', ANN, GET_PODS),
  },
  {
    title: "cluster binding to a role of own rights: written",
    user: someone("bob"),
    namespace: "",
    write: boundInCluster(ref("ClusterRole", "readers")),
    answer: "",
  },
  {
    title: "cluster binding to a Role: there is none in the cluster",
    namespace: "",
    write: boundInCluster(ref("Role", "anns")),
    answer: '404 roles.rbac.authorization.k8s.io "anns" not found',
  },
  { title: "binding to something else: validation's to refuse", write: bound(binding(ref("Robot", "x"), "eve")), answer: "" },
  {
    title: "binding without a reference: validation's to refuse",
    write: { kind: "RoleBinding", after: { metadata: { name: "b" } } as RoleBinding },
    answer: "",
  },
  {
    title: "update of a binding's subjects: asks for all rights",
    write: bound(binding(ref("ClusterRole", "readers"), "eve", "mal"), binding(ref("ClusterRole", "readers"), "eve")),
    answer: NOT_HELD('rolebindings.rbac.authorization.k8s.io "b"', ANN, GET_PODS),
  },
];

describe("writes of roles and bindings", () => {
  it.each(cases.map((entry) => [entry.title, entry] as const))("%s", (_title, entry) => {
    const { user = someone("ann", "g1", "g2"), rules = [], namespace = "a", requestName = "", write, answer } = entry;
    const built = policy(...rules);
    const authorize = (asked: Attributes) => authorizeByRbac(built, user, asked);
    const status = escalationProblem(built, { user, namespace, requestName, authorize }, write);
    expect(status === undefined ? "" : `${status.code} ${status.message ?? ""}`).toBe(answer);
  });

  it("own binding to a missing role: the refusal says so", () => {
    const built = policy();
    built.put("RoleBinding", binding(ref("Role", "gone"), "ann"));
    built.put("RoleBinding", { ...binding(ref("ClusterRole", "lost"), "ann"), metadata: { name: "c", namespace: "a" } });
    const user = someone("ann", "g1", "g2");
    const writer = { user, namespace: "a", requestName: "", authorize: (asked: Attributes) => authorizeByRbac(built, user, asked) };
    const lines = [GET_PODS, "; resolution errors: "].join("");
    const errors = 'roles.rbac.authorization.k8s.io "gone" not found, clusterroles.rbac.authorization.k8s.io "lost" not found';
    const status = escalationProblem(built, writer, written({ after: role(readPods) }));
    expect(`403 ${status?.message ?? ""}`).toBe(NOT_HELD('roles.rbac.authorization.k8s.io "r"', ANN, `${lines}[[${errors}]]`));
  });
});
