/**
 * What a start writes so that a default object has at least what it is to have: rights and subjects that somebody added stay, labels
 * and annotations keep their values. Source: upstream component-helpers auth/rbac/reconciliation, without its removal of extras.
 */
import { semanticEqual } from "../../api/meta/equality";
import type { ClusterRole, ClusterRoleBinding, KubeObject, RbacSubject, Role, RoleBinding } from "../../api/meta/kubernetes";
import { AUTO_UPDATE } from "../../api/meta/rbac-names";
import { missingRights } from "./covers";

/** `recreate` deletes what is there first: the reference of a binding never changes. */
export interface DefaultWrite<T> {
  readonly operation: "create" | "update" | "recreate";
  readonly object: T;
}

/** Undefined = nothing to write. */
export function reconcileRole<T extends Role | ClusterRole>(existing: T | undefined, wanted: T): DefaultWrite<T> | undefined {
  if (existing === undefined) return { operation: "create", object: wanted };
  if (isProtected(existing)) return undefined;
  const rules = [...(existing.rules ?? []), ...missingRights(existing.rules ?? [], wanted.rules ?? [])];
  return updated(existing, { ...withMetadata(existing, wanted), rules, ...aggregation(existing, wanted) });
}

export function reconcileBinding<T extends RoleBinding | ClusterRoleBinding>(
  existing: T | undefined,
  wanted: T,
): DefaultWrite<T> | undefined {
  if (existing === undefined) return { operation: "create", object: wanted };
  if (isProtected(existing)) return undefined;
  if (!semanticEqual(existing.roleRef, wanted.roleRef)) return { operation: "recreate", object: wanted };
  const subjects = [...(existing.subjects ?? [])];
  for (const subject of wanted.subjects ?? []) if (!subjects.some((other) => isSame(other, subject))) subjects.push(subject);
  return updated(existing, { ...withMetadata(existing, wanted), subjects });
}

function isProtected({ metadata }: KubeObject): boolean {
  return metadata?.annotations?.[AUTO_UPDATE] === "false";
}

function updated<T>(existing: T, object: T): DefaultWrite<T> | undefined {
  return semanticEqual(existing, object) ? undefined : { operation: "update", object };
}

function withMetadata<T extends KubeObject>(existing: T, wanted: T): T {
  const labels = { ...wanted.metadata?.labels, ...existing.metadata?.labels };
  const annotations = { ...wanted.metadata?.annotations, ...existing.metadata?.annotations };
  return { ...existing, metadata: { ...existing.metadata, labels, annotations } };
}

/** Selectors only add up as well; a role that is not to gather others stops to. */
function aggregation(existing: Role | ClusterRole, wanted: Role | ClusterRole): Pick<ClusterRole, "aggregationRule"> {
  const rule = "aggregationRule" in wanted ? wanted.aggregationRule : undefined;
  if (rule === undefined) return "aggregationRule" in existing ? { aggregationRule: undefined } : {};
  const selectors = [...(("aggregationRule" in existing ? existing.aggregationRule?.clusterRoleSelectors : undefined) ?? [])];
  for (const selector of rule.clusterRoleSelectors ?? []) {
    if (!selectors.some((other) => semanticEqual(other, selector))) selectors.push(selector);
  }
  return { aggregationRule: { clusterRoleSelectors: selectors } };
}

function isSame(a: RbacSubject, b: RbacSubject): boolean {
  return a.kind === b.kind && a.name === b.name && (a.apiGroup ?? "") === (b.apiGroup ?? "") && (a.namespace ?? "") === (b.namespace ?? "");
}
