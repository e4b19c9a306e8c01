/** The decision of RBAC and its reason. Source: upstream plugin/pkg/auth/authorizer/rbac/rbac.go, pkg/registry/rbac/validation/rule.go. */
import { NO_OPINION } from "../authorization/attributes";
import type { Attributes, Decision } from "../authorization/attributes";
import type { User } from "../identity/user";
import { joinErrors, missingRole } from "./policy";
import type { Grant, Policy } from "./policy";
import type { RuleIndex } from "./rule-index";

/** Rules only add up: RBAC allows or has no opinion. Roles that bindings miss are the reason where nothing allows. */
export function authorizeByRbac(policy: Policy, user: User, asked: Attributes): Decision {
  const missing: string[] = [];
  let by: Grant | undefined;
  const visit = (grant: Grant, role: RuleIndex | undefined): boolean => {
    if (role === undefined) missing.push(missingRole(grant.binding.roleRef));
    else if (role.allows(asked)) by = grant;
    return by !== undefined;
  };
  policy.visitGrants(user, asked.kind === "resource" ? asked.namespace : "", visit, asked);
  if (by !== undefined) return { decision: "allow", reason: `RBAC: allowed by ${described(by)}` };
  return missing.length === 0 ? NO_OPINION : { decision: "noOpinion", reason: `RBAC: ${joinErrors(missing)}` };
}

function described({ binding, subject }: Grant): string {
  const { name, namespace, roleRef } = binding;
  const source = namespace === "" ? `ClusterRoleBinding ${quoted(name)}` : `RoleBinding ${quoted(`${name}/${namespace}`)}`;
  const isAccount = subject.kind === "ServiceAccount";
  const subjectName = isAccount ? `${subject.name}/${subject.namespace ? subject.namespace : namespace}` : subject.name;
  return `${source} of ${roleRef.kind} ${quoted(roleRef.name)} to ${subject.kind} ${quoted(subjectName)}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
