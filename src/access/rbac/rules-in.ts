/** The rules of a user in a namespace, as a SelfSubjectRulesReview lists them. Source: upstream plugin/pkg/auth/authorizer/rbac/rbac.go (RulesFor). */
import type { PolicyRule, RoleRef } from "../../api/meta/kubernetes";
import type { User } from "../identity/user";
import { joinErrors, missingRole } from "./policy";
import type { Policy } from "./policy";

export interface ResourceRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
}

export interface NonResourceRule {
  verbs: string[];
  nonResourceURLs?: string[];
}

export interface RulesOfUser {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** RBAC knows all its rules; another authorizer may not */
  readonly incomplete: boolean;
  /** absent = none */
  readonly evaluationError?: string;
}

/** A rule with resources and paths is in both lists. */
export function rulesIn(policy: Policy, user: User, namespace: string): RulesOfUser {
  const { rules, missing } = policyRulesIn(policy, user, namespace);
  const resourceRules = rules
    .filter(({ resources = [] }) => resources.length > 0)
    .map(({ verbs, apiGroups, resources, resourceNames }) => ({ verbs, apiGroups, resources, resourceNames }))
    .map(withoutAbsent);
  const nonResourceRules = rules
    .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  return {
    resourceRules,
    nonResourceRules,
    incomplete: false,
    ...(missing.length > 0 && { evaluationError: joinErrors(missing.map(missingRole)) }),
  };
}

/** The rules as their roles have them, and the roles that are missing. */
export function policyRulesIn(policy: Policy, user: User, namespace: string): { rules: PolicyRule[]; missing: RoleRef[] } {
  const rules: PolicyRule[] = [];
  const missing: RoleRef[] = [];
  policy.visitGrants(user, namespace, ({ binding }, role) => {
    if (role === undefined) missing.push(binding.roleRef);
    else for (const rule of role.rules) rules.push(rule);
    return false;
  });
  return { rules, missing };
}

function withoutAbsent(rule: ResourceRule): ResourceRule {
  return Object.fromEntries(Object.entries(rule).filter(([, list]) => list !== undefined)) as ResourceRule;
}
