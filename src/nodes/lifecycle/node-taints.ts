/**
 * The taints of a Node that follow from its conditions (upstream doNoScheduleTaintingPass, processTaintBaseEviction). Taints of other keys are never
 * touched.
 */
import type { Taint } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import { type NodeState, readyOf } from "./node-state";

const TAINT_NOT_READY = "node.kubernetes.io/not-ready";
const TAINT_UNREACHABLE = "node.kubernetes.io/unreachable";
const TAINT_UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

/** Condition, status and the key of the taint. */
const BY_CONDITION: readonly (readonly [type: string, status: string, key: string])[] = [
  ["Ready", "False", TAINT_NOT_READY],
  ["Ready", "Unknown", TAINT_UNREACHABLE],
  ["MemoryPressure", "True", "node.kubernetes.io/memory-pressure"],
  ["DiskPressure", "True", "node.kubernetes.io/disk-pressure"],
  ["NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"],
  ["PIDPressure", "True", "node.kubernetes.io/pid-pressure"],
];
const SCHEDULING_KEYS = new Set([...BY_CONDITION.map(([, , key]) => key), TAINT_UNSCHEDULABLE]);

type Judged = Pick<NodeState, "conditions" | "taints" | "isUnschedulable">;

/**
 * What becomes of the NoExecute taints, by which Pods are evicted.
 *
 * - `follow`: an existing one follows the condition Ready; a Node without one gets none
 * - `add`: the Node gets the one of its condition
 * - `remove`: the Node loses both
 */
export type NoExecute = "follow" | "add" | "remove";

/** The taints that the Node is to have; undefined = it has them already. */
export function wantedTaints(node: Judged, noExecute: NoExecute, nowMs: number): Taint[] | undefined {
  const { taints } = node;
  const scheduling = schedulingKeys(node);
  const evicting = evictingKey(node, noExecute);
  const kept = taints.filter(({ key, effect }) => {
    if (effect === "NoSchedule" && SCHEDULING_KEYS.has(key)) return scheduling.has(key);
    return !isEvicting({ key, effect }) || evicting === "any" || key === evicting;
  });
  const timeAdded = rfc3339Seconds(nowMs);
  const missing = (key: string, effect: string): boolean => !kept.some((taint) => taint.key === key && taint.effect === effect);
  const added = [...scheduling].filter((key) => missing(key, "NoSchedule")).map((key): Taint => ({ key, effect: "NoSchedule", timeAdded }));
  if (evicting !== undefined && evicting !== "any" && missing(evicting, "NoExecute")) {
    added.push({ key: evicting, effect: "NoExecute", timeAdded });
  }
  return added.length === 0 && kept.length === taints.length ? undefined : [...kept, ...added];
}

/** Whether Ready asks for a NoExecute taint and the Node has neither of the two: then the Node waits for its turn. */
export function lacksEvictingTaint(node: Judged): boolean {
  return keyOfReady(node) !== undefined && !node.taints.some(isEvicting);
}

function schedulingKeys({ conditions, isUnschedulable }: Judged): Set<string> {
  const keys = conditions.flatMap(({ type, status }) =>
    BY_CONDITION.filter((row) => row[0] === type && row[1] === status).map((row) => row[2]),
  );
  return new Set(isUnschedulable ? [...keys, TAINT_UNSCHEDULABLE] : keys);
}

/** The one of the two keys that the Node may have; undefined = neither, "any" = its taints stay as they are. */
function evictingKey(node: Judged, noExecute: NoExecute): string | undefined {
  if (noExecute === "remove") return undefined;
  const ready = readyOf(node);
  if (ready !== "True" && ready !== "False" && ready !== "Unknown") return "any";
  const key = keyOfReady(node);
  return noExecute === "add" || node.taints.some(isEvicting) ? key : undefined;
}

function keyOfReady(node: Judged): string | undefined {
  const ready = readyOf(node);
  return ready === "False" ? TAINT_NOT_READY : ready === "Unknown" ? TAINT_UNREACHABLE : undefined;
}

function isEvicting({ key, effect }: Pick<Taint, "key" | "effect">): boolean {
  return effect === "NoExecute" && (key === TAINT_NOT_READY || key === TAINT_UNREACHABLE);
}
