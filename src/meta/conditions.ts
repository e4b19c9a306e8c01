/** Lists of metav1.Condition, keyed by type. */
import type { Condition } from "./kubernetes";
import { rfc3339Seconds } from "./time";

export function findCondition<T extends { type: string }>(conditions: readonly T[] | undefined, type: string): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * The list with `wanted` in it; the same list when nothing differs. lastTransitionTime moves only when the status changes
 * (upstream apimachinery pkg/api/meta.SetStatusCondition). `now` in milliseconds since the epoch.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  wanted: Omit<Condition, "lastTransitionTime">,
  now: number,
): readonly Condition[] {
  const list = conditions ?? [];
  const before = findCondition(list, wanted.type);
  if (
    before &&
    before.status === wanted.status &&
    before.reason === wanted.reason &&
    before.message === wanted.message &&
    before.observedGeneration === wanted.observedGeneration
  ) {
    return list;
  }
  const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : rfc3339Seconds(now);
  const after: Condition = { ...wanted, lastTransitionTime };
  return before ? list.map((condition) => (condition === before ? after : condition)) : [...list, after];
}
