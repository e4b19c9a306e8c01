/**
 * What status.conditions of a namespace say while it is being deleted.
 * Types, reasons and texts: upstream pkg/controller/namespace/deletion/status_condition_utils.go.
 */
import type { Namespace } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";

export type NamespaceCondition = NonNullable<NonNullable<Namespace["status"]>["conditions"]>[number];

/** How one pass over the content of a namespace went. */
export interface DeletionProgress {
  /** `pods.`, `leases.coordination.k8s.io` -> objects that are left, when there are any */
  remaining: ReadonlyMap<string, number>;
  /** finalizer -> objects that it holds */
  finalizers: ReadonlyMap<string, number>;
  /** texts of what failed, in any order */
  failures: readonly string[];
}

interface Finding {
  reason: string;
  message: string;
}

interface Rule {
  type: string;
  /** message of the condition while its status is False */
  fine: Finding;
  /** reason and message while its status is True */
  trouble(progress: DeletionProgress): Finding | undefined;
}

const REMOVED: Finding = { reason: "ContentRemoved", message: "All content successfully removed" };

/** In the order of the status. This server always knows its own resources, so the first two are always False. */
const RULES: readonly Rule[] = [
  {
    type: "NamespaceDeletionDiscoveryFailure",
    fine: { reason: "ResourcesDiscovered", message: "All resources successfully discovered" },
    trouble: () => undefined,
  },
  {
    type: "NamespaceDeletionGroupVersionParsingFailure",
    fine: { reason: "ParsedGroupVersions", message: "All legacy kube types successfully parsed" },
    trouble: () => undefined,
  },
  {
    type: "NamespaceDeletionContentFailure",
    fine: { reason: "ContentDeleted", message: "All content successfully deleted, may be waiting on finalization" },
    trouble: ({ failures }) =>
      told("ContentDeletionFailed", `Failed to delete all resource types, ${String(failures.length)} remaining: `, [...failures]),
  },
  {
    type: "NamespaceContentRemaining",
    fine: REMOVED,
    trouble: ({ remaining }) =>
      told(
        "SomeResourcesRemain",
        "Some resources are remaining: ",
        numbered(remaining, (resource) => `${resource} has`),
      ),
  },
  {
    type: "NamespaceFinalizersRemaining",
    fine: REMOVED,
    trouble: ({ finalizers }) =>
      told(
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: ",
        numbered(finalizers, (finalizer) => `${finalizer} in`),
      ),
  },
];

function numbered(counts: ReadonlyMap<string, number>, start: (name: string) => string): string[] {
  return [...counts].map(([name, count]) => `${start(name)} ${String(count)} resource instances`);
}

function told(reason: string, start: string, parts: string[]): Finding | undefined {
  return parts.length === 0 ? undefined : { reason, message: start + parts.sort().join(", ") };
}

/**
 * The conditions after a pass, or undefined when they say the same as `before`. Those of other types stay. A time changes only with its
 * status. `now` is in milliseconds since the epoch.
 */
export function conditionsAfter(
  progress: DeletionProgress,
  before: readonly NamespaceCondition[],
  now: number,
): NamespaceCondition[] | undefined {
  const after = new Map(before.map((condition) => [condition.type, condition]));
  let changed = false;
  for (const { type, fine, trouble } of RULES) {
    const problem = trouble(progress);
    const wanted = { type, status: problem ? "True" : "False", ...(problem ?? fine) };
    const stored = after.get(type);
    if (stored?.status === wanted.status && stored.reason === wanted.reason && stored.message === wanted.message) continue;
    const unmoved = stored?.status === wanted.status ? stored.lastTransitionTime : undefined;
    after.set(type, { ...wanted, lastTransitionTime: unmoved ?? rfc3339Seconds(now) });
    changed = true;
  }
  return changed ? [...after.values()] : undefined;
}
