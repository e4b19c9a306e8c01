/** Missing rights as a refusal lists them. Source: upstream pkg/registry/rbac/validation/policy_compact.go, pkg/apis/rbac/v1/evaluation_helpers.go (CompactString). */
import type { PolicyRule } from "../../api/meta/kubernetes";

/** One line for each group, resource and name, with all its verbs; sorted. */
export function missingRightsText(missing: readonly PolicyRule[]): string {
  return [...new Set(compacted(missing).map(ruleText))].sort().join("\n");
}

/** Texts as Go prints a list of quoted strings. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

/** Rules that differ only in their verbs become one. */
function compacted(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { verbs, ...rest } = rule;
    const key = JSON.stringify([rest.apiGroups, rest.resources, rest.resourceNames, rest.nonResourceURLs, isMergeable(rule) ? "" : verbs]);
    const same = merged.get(key);
    merged.set(key, same && isMergeable(rule) ? { ...rest, verbs: [...same.verbs, ...verbs] } : rule);
  }
  return [...merged.values()];
}

function isMergeable({ apiGroups, resources, resourceNames = [], nonResourceURLs = [] }: PolicyRule): boolean {
  return apiGroups?.length === 1 && resources?.length === 1 && resourceNames.length <= 1 && nonResourceURLs.length === 0;
}

function ruleText(rule: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ];
  const texts = parts.flatMap(([name, list]) => (list && list.length > 0 ? [`${name}:${quotedList(list)}`] : []));
  return `{${texts.join(", ")}}`;
}
