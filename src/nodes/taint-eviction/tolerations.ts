/** Which taints a Pod tolerates, and for how long (upstream GetMatchingTolerations, getMinTolerationTime). */
import type { Node, Taint, Toleration } from "../../api/meta/kubernetes";

/** Longer than any server runs: a toleration beyond it never ends. */
const FOREVER_SECONDS = 100 * 365 * 24 * 60 * 60;

/** The taints by which Pods are evicted. */
export function evictingTaints({ spec }: Node): Taint[] {
  return spec?.taints?.filter(({ effect }) => effect === "NoExecute") ?? [];
}

/** The operators of numbers are behind a gate that is off in 1.36: they tolerate nothing. */
function tolerates({ key = "", operator = "", value = "", effect = "" }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || ((operator === "" || operator === "Equal") && value === (taint.value ?? ""));
}

/**
 * Seconds that a Pod with these tolerations may stay on a Node with these taints; Infinity = for ever, 0 = it goes at once. The first toleration
 * of each taint counts, and the shortest time of all these.
 */
export function toleratedSeconds(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  let shortest = Infinity;
  for (const taint of taints) {
    const used = tolerations.find((toleration) => tolerates(toleration, taint));
    if (!used) return 0;
    const { tolerationSeconds } = used;
    if (tolerationSeconds === undefined || tolerationSeconds > FOREVER_SECONDS) continue;
    shortest = Math.min(shortest, Math.max(0, Number(tolerationSeconds)));
  }
  return shortest;
}

/** Whether some taint is not tolerated at all. */
export function isIntolerant(taints: readonly Taint[], tolerations: readonly Toleration[]): boolean {
  return taints.some((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));
}
