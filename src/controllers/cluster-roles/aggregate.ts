/** The rules of aggregated ClusterRoles. Source: upstream pkg/controller/clusterroleaggregation, syncClusterRole. Pure. */
import { semanticEqual, semanticText } from "../../api/meta/equality";
import type { ClusterRole, PolicyRule } from "../../api/meta/kubernetes";

type Selector = NonNullable<NonNullable<ClusterRole["aggregationRule"]>["clusterRoleSelectors"]>[number];
type Requirement = NonNullable<Selector["matchExpressions"]>[number];

/**
 * The ClusterRoles whose rules are not those that their aggregationRule asks for, by name, with the rules that it asks for. A role that aggregates another
 * one that is stale gets the rules that this one is to have. More rounds than roles have nothing new, unless roles aggregate one another.
 */
export function staleRules(roles: readonly ClusterRole[]): Map<string, PolicyRule[]> {
  let sorted = [...roles].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const stale = new Map<string, PolicyRule[]>();
  for (let round = 0, isDone = false; !isDone && round <= roles.length; round++) {
    const found = new Map<string, PolicyRule[]>();
    for (const role of sorted) {
      if (!role.aggregationRule) continue;
      const rules = aggregatedRules(role, sorted);
      if (!semanticEqual(rules, role.rules)) found.set(nameOf(role), rules);
    }
    isDone = found.size === 0;
    for (const [name, rules] of found) stale.set(name, rules);
    if (!isDone) sorted = sorted.map((role) => ({ ...role, rules: found.get(nameOf(role)) ?? role.rules }) as ClusterRole);
  }
  return stale;
}

/** By selector, then by the name of the role, each rule once. A role never aggregates itself. */
function aggregatedRules({ metadata, aggregationRule }: ClusterRole, sorted: readonly ClusterRole[]): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const selector of aggregationRule?.clusterRoleSelectors ?? []) {
    for (const other of sorted) {
      if (nameOf(other) === metadata?.name || !selects(selector, other.metadata?.labels ?? {})) continue;
      for (const rule of other.rules ?? []) {
        const text = semanticText(rule);
        if (!rules.has(text)) rules.set(text, rule);
      }
    }
  }
  return [...rules.values()];
}

/** Source: upstream apimachinery pkg/apis/meta/v1, LabelSelectorAsSelector. A selector that says nothing selects everything. */
function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Readonly<Record<string, string>>): boolean {
  const hasAll = Object.entries(matchLabels).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
  return hasAll && matchExpressions.every((requirement) => meets(requirement, labels));
}

/** An operator that validation would have refused selects nothing. */
function meets({ key, operator, values = [] }: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}

function nameOf({ metadata }: ClusterRole): string {
  return metadata?.name ?? "";
}
