/** The rules of a ClusterRole that gathers those of others. Source: upstream pkg/controller/clusterroleaggregation. */
import { semanticEqual } from "../../api/meta/equality";
import type { ClusterRole, PolicyRule } from "../../api/meta/kubernetes";

type Selector = NonNullable<NonNullable<ClusterRole["aggregationRule"]>["clusterRoleSelectors"]>[number];

/** The manager that owns these rules; they are applied with force. */
export const AGGREGATION_MANAGER = "clusterrole-aggregation-controller";

/**
 * The rules that an aggregated role is to have: for one selector after the other those of the roles by name, each rule once, none of
 * its own. Undefined = it has them already, or is not aggregated.
 */
export function aggregatedRules(role: ClusterRole, all: Iterable<ClusterRole>): PolicyRule[] | undefined {
  if (role.aggregationRule === undefined) return undefined;
  const name = nameOf(role);
  const others = [...all].filter((other) => nameOf(other) !== name).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const rules = new Map<string, PolicyRule>();
  for (const selector of role.aggregationRule.clusterRoleSelectors ?? []) {
    for (const other of others) {
      if (!selects(selector, other.metadata?.labels ?? {})) continue;
      for (const rule of other.rules ?? []) if (!rules.has(keyOf(rule))) rules.set(keyOf(rule), rule);
    }
  }
  const wanted = [...rules.values()];
  return semanticEqual(wanted, role.rules) ? undefined : wanted;
}

/** Source: upstream apimachinery pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector). An empty selector selects everything. */
function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Readonly<Record<string, string>>): boolean {
  const valueOf = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(matchLabels).every(([key, wanted]) => valueOf(key) === wanted) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = valueOf(key);
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
          // Validation lets no other operator in.
          return false;
      }
    })
  );
}

/** The same for rules that are semantically equal. */
function keyOf({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string {
  return JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
}

function nameOf(role: ClusterRole): string {
  return role.metadata?.name ?? "";
}
