/**
 * rbac.authorization.k8s.io/v1: what may be done, and who may do it (k8s.io/api rbac/v1, v0.36).
 */
import { LabelSelector, ObjectMeta } from "../meta";
import { always, kind, listOf, message, plain, pointer, ref, required, string } from "../dsl";
import type { MessageSchema } from "../types";

const PolicyRule: MessageSchema = message(
  "io.k8s.api.rbac.v1.PolicyRule",
  {
    verbs: required(1, listOf(string), "What may be done; * = everything."),
    apiGroups: plain(2, listOf(string), "Groups of the resources; empty text = core, * = every group."),
    resources: plain(3, listOf(string), "The resources; * = every one, r/s and */s = subresources."),
    resourceNames: plain(4, listOf(string), "Names of the objects; none = all of them."),
    nonResourceURLs: plain(
      5,
      listOf(string),
      "Paths that are no resources; a * at the end stands for the rest. Only ClusterRoles have them.",
    ),
  },
  { description: "What may be done with which resources or paths." },
);

const Subject: MessageSchema = message(
  "io.k8s.api.rbac.v1.Subject",
  {
    kind: required(1, string, "User, Group or ServiceAccount."),
    apiGroup: plain(2, string, "Group of the kind: empty for a ServiceAccount, rbac.authorization.k8s.io for the others."),
    name: required(3, string, "Name of the user, group or ServiceAccount."),
    namespace: plain(4, string, "Namespace of the ServiceAccount; users and groups have none."),
  },
  { description: "A user, a group or a ServiceAccount.", atomic: true },
);

const RoleRef: MessageSchema = message(
  "io.k8s.api.rbac.v1.RoleRef",
  {
    apiGroup: always(1, string, "Group of the role: rbac.authorization.k8s.io."),
    kind: required(2, string, "Role or ClusterRole."),
    name: required(3, string, "Name of the role."),
  },
  { description: "Names a role.", atomic: true },
);

const AggregationRule: MessageSchema = message(
  "io.k8s.api.rbac.v1.AggregationRule",
  {
    clusterRoleSelectors: plain(1, listOf(ref(LabelSelector)), "Each selects ClusterRoles whose rules are taken over."),
  },
  { description: "Of which ClusterRoles the rules are made." },
);

const rules = always(2, listOf(ref(PolicyRule)), "What the role allows.");
const subjects = plain(2, listOf(ref(Subject)), "Who gets the role.");

export const RoleSchema: MessageSchema = kind("io.k8s.api.rbac.v1.Role", "What may be done in a namespace.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the Role."),
  rules,
});

export const ClusterRoleSchema: MessageSchema = kind("io.k8s.api.rbac.v1.ClusterRole", "What may be done in the cluster.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the ClusterRole."),
  rules,
  aggregationRule: pointer(
    3,
    ref(AggregationRule),
    "Makes the rules out of those of other ClusterRoles; what clients write into them is replaced.",
  ),
});

export const RoleBindingSchema: MessageSchema = kind("io.k8s.api.rbac.v1.RoleBinding", "Gives a role to subjects in its namespace.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the RoleBinding."),
  subjects,
  roleRef: required(3, ref(RoleRef), "A Role of the same namespace or a ClusterRole; never changes."),
});

export const ClusterRoleBindingSchema: MessageSchema = kind(
  "io.k8s.api.rbac.v1.ClusterRoleBinding",
  "Gives a ClusterRole to subjects in the whole cluster.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata of the ClusterRoleBinding."),
    subjects,
    roleRef: required(3, ref(RoleRef), "A ClusterRole; never changes."),
  },
);
