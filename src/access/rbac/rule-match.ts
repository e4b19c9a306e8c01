/** Which requests one rule allows. Source: upstream pkg/apis/rbac/v1/evaluation_helpers.go, plugin/pkg/auth/authorizer/rbac/rbac.go (RuleAllows). */
import type { PolicyRule } from "../../api/meta/kubernetes";
import type { Attributes, ResourceAttributes } from "../authorization/attributes";

/** All verbs, all API groups, all resources, all paths. */
export const ALL = "*";

export function ruleAllows(rule: PolicyRule, asked: Attributes): boolean {
  if (!holds(rule.verbs, asked.verb)) return false;
  if (asked.kind === "path") return (rule.nonResourceURLs ?? []).some((pattern) => pathMatches(pattern, asked.path));
  return (
    holds(rule.apiGroups, asked.group) &&
    resourcePatterns(asked).some((pattern) => rule.resources?.includes(pattern) === true) &&
    nameMatches(rule, asked.name)
  );
}

/** The texts of `resources` that match a request: `r/*` is none of them, and `r` has none of its subresources. */
export function resourcePatterns({ resource, subresource }: ResourceAttributes): string[] {
  return subresource === "" ? [resource, ALL] : [`${resource}/${subresource}`, ALL, `*/${subresource}`];
}

/** A pattern that ends in stars matches what begins with the rest. */
export function pathMatches(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, "")));
}

function holds(texts: readonly string[] | undefined, wanted: string): boolean {
  return texts !== undefined && (texts.includes(ALL) || texts.includes(wanted));
}

/** Without names a rule allows all; with names it allows no request without one. */
function nameMatches({ resourceNames = [] }: PolicyRule, name: string): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}
