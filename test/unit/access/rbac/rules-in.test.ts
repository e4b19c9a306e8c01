import { expect, it } from "vitest";
import { Policy } from "../../../../src/access/rbac/policy";
import { rulesIn } from "../../../../src/access/rbac/rules-in";

const ann = { name: "ann", uid: "", groups: ["devs"], extra: {} };
const ref = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });

it("rules of a user in a namespace: those of the cluster first, then those of the namespace, resources and paths apart", () => {
  const policy = new Policy();
  policy.put("ClusterRole", {
    metadata: { name: "all" },
    rules: [
      { verbs: ["get"], nonResourceURLs: ["/metrics"] },
      { verbs: ["get"], apiGroups: [""], resources: ["nodes"], resourceNames: ["n"] },
    ],
  });
  policy.put("Role", { metadata: { name: "mine", namespace: "a" }, rules: [{ verbs: ["*"], apiGroups: [""], resources: ["pods"] }] });
  policy.put("RoleBinding", {
    metadata: { name: "b", namespace: "a" },
    roleRef: ref("Role", "mine"),
    subjects: [{ kind: "User", name: "ann" }],
  });
  policy.put("ClusterRoleBinding", {
    metadata: { name: "z" },
    roleRef: ref("ClusterRole", "all"),
    subjects: [{ kind: "Group", name: "devs" }],
  });
  const ofCluster = { verbs: ["get"], apiGroups: [""], resources: ["nodes"], resourceNames: ["n"] };
  const nonResourceRules = [{ verbs: ["get"], nonResourceURLs: ["/metrics"] }];
  expect(rulesIn(policy, ann, "a")).toStrictEqual({
    resourceRules: [ofCluster, { verbs: ["*"], apiGroups: [""], resources: ["pods"] }],
    nonResourceRules,
    incomplete: false,
  });
  expect(rulesIn(policy, ann, "c")).toStrictEqual({ resourceRules: [ofCluster], nonResourceRules, incomplete: false });
});

it("rules of a user whose roles are missing: the error names them", () => {
  const policy = new Policy();
  policy.put("ClusterRoleBinding", {
    metadata: { name: "z" },
    roleRef: ref("ClusterRole", "gone"),
    subjects: [{ kind: "User", name: "ann" }],
  });
  expect(rulesIn(policy, ann, "a")).toStrictEqual({
    resourceRules: [],
    nonResourceRules: [],
    incomplete: false,
    evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
  });
});
