/**
 * Nobody grants what he does not hold: why a write of a role or a binding is refused.
 * Source: upstream pkg/registry/rbac/escalation_check.go, helpers.go, validation/rule.go, and policybased of each kind.
 */
import { semanticEqual } from "../../api/meta/equality";
import type { ClusterRole, ClusterRoleBinding, KubeObject, PolicyRule, Role, RoleBinding, RoleRef } from "../../api/meta/kubernetes";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import { forbidden, notFound } from "../../api/meta/status";
import type { ResourceName, Status } from "../../api/meta/status";
import { resourceAttributes } from "../authorization/attributes";
import type { Attributes, Decision } from "../authorization/attributes";
import { MASTERS } from "../identity/user";
import type { User } from "../identity/user";
import { missingRights } from "./covers";
import { joinErrors } from "./policy";
import type { Policy, RbacKind, RbacObjects } from "./policy";
import { missingRightsText, quotedList } from "./rule-text";
import { policyRulesIn } from "./rules-in";

const RESOURCES: Readonly<Record<RbacKind, ResourceName>> = {
  Role: { group: RBAC_GROUP, resource: "roles", kind: "Role" },
  RoleBinding: { group: RBAC_GROUP, resource: "rolebindings", kind: "RoleBinding" },
  ClusterRole: { group: RBAC_GROUP, resource: "clusterroles", kind: "ClusterRole" },
  ClusterRoleBinding: { group: RBAC_GROUP, resource: "clusterrolebindings", kind: "ClusterRoleBinding" },
};
const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/** The object of a create or an update, after its defaults and before its validation. Without `before` the write creates it. */
export type RbacWrite = {
  [K in RbacKind]: { readonly kind: K; readonly before?: RbacObjects[K]; readonly after: RbacObjects[K] };
}[RbacKind];

export interface RbacWriter {
  readonly user: User;
  /** of the request; "" = the cluster */
  readonly namespace: string;
  /** in the path of the request; "" for POST */
  readonly requestName: string;
  /** what all authorizers together say of the user: the verbs `escalate` and `bind` lift the rule */
  authorize(asked: Attributes): Decision;
}

/** The refusal of a write, or undefined. */
export function escalationProblem(policy: Policy, writer: RbacWriter, write: RbacWrite): Status | undefined {
  if (writer.user.groups.includes(MASTERS) || changesOnlyOwners(write.before, write.after)) return undefined;
  switch (write.kind) {
    case "Role":
    case "ClusterRole":
      return roleProblem(policy, writer, write);
    case "RoleBinding":
    case "ClusterRoleBinding":
      return bindingProblem(policy, writer, RESOURCES[write.kind], write.after);
  }
}

/** The garbage collector lets go of objects whose rights it does not hold. */
function changesOnlyOwners(before: KubeObject | undefined, after: KubeObject): boolean {
  if (before === undefined) return false;
  const { ownerReferences, finalizers, managedFields } = before.metadata ?? {};
  return semanticEqual({ ...after, metadata: { ...after.metadata, ownerReferences, finalizers, managedFields } }, before);
}

function roleProblem(policy: Policy, writer: RbacWriter, write: RbacWrite & { after: Role | ClusterRole }): Status | undefined {
  const { namespace, requestName } = writer;
  const of = RESOURCES[write.kind];
  const asked = resourceAttributes({
    verb: "escalate",
    group: RBAC_GROUP,
    version: "*",
    resource: of.resource,
    namespace,
    name: requestName,
  });
  if (writer.authorize(asked).decision === "allow") return undefined;
  const name = write.after.metadata?.name ?? "";
  const problem = notHeld(policy, writer, write.after.rules ?? []);
  if (problem !== undefined) return forbidden(of, name, problem);
  if (!aggregates(write.after) && !aggregates(write.before)) return undefined;
  if (notHeld(policy, writer, FULL_AUTHORITY) === undefined) return undefined;
  return forbidden(of, name, "must have cluster-admin privileges to use the aggregationRule");
}

/** The right to bind is asked for where the binding stands, also of a ClusterRole: it may be given for one namespace. */
function bindingProblem(policy: Policy, writer: RbacWriter, of: ResourceName, after: RoleBinding | ClusterRoleBinding): Status | undefined {
  const { namespace } = writer;
  const { roleRef } = after as Partial<typeof after>;
  const role = roleRef && resourceOf(roleRef);
  // A reference to anything else grants nothing, and validation refuses it.
  if (roleRef === undefined || role === undefined) return undefined;
  const { apiGroup: group, name } = roleRef;
  const asked = resourceAttributes({ verb: "bind", group, version: "*", resource: role.resource, namespace, name });
  if (writer.authorize(asked).decision === "allow") return undefined;
  const found = policy.roleOf(roleRef, namespace);
  if (found === undefined) return notFound(role, name);
  const problem = notHeld(policy, writer, found.rules);
  return problem === undefined ? undefined : forbidden(of, after.metadata?.name ?? "", problem);
}

function resourceOf({ kind }: RoleRef): ResourceName | undefined {
  return kind === "Role" || kind === "ClusterRole" ? RESOURCES[kind] : undefined;
}

/** Which of the rules the writer does not hold, in upstream's words; undefined = he holds them all. */
function notHeld(policy: Policy, { user, namespace }: RbacWriter, rules: readonly PolicyRule[]): string | undefined {
  const held = policyRulesIn(policy, user, namespace);
  const missing = missingRights(held.rules, rules);
  if (missing.length === 0) return undefined;
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${missingRightsText(missing)}`;
  if (held.missing.length === 0) return text;
  const errors = held.missing.map((ref) => notFound(resourceOf(ref) ?? RESOURCES.ClusterRole, ref.name).message ?? "");
  return `${text}; resolution errors: [${joinErrors(errors)}]`;
}

function aggregates(role: Role | ClusterRole | undefined): boolean {
  return role !== undefined && "aggregationRule" in role && (role.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}
