/** The conditions of a Node of which nothing was heard for the grace (upstream tryUpdateNodeHealth). */
import { rfc3339Seconds } from "../../api/meta/time";
import { type NodeCondition, READY, readyCondition } from "../../api/registry/nodes/ready-condition";

/** The condition NetworkUnavailable is not the kubelet's, so it stays. */
const BECOME_UNKNOWN = [READY, "MemoryPressure", "DiskPressure", "PIDPressure"];

/**
 * The conditions as they are to be written.
 *
 * @param created creationTimestamp of the Node
 * @returns undefined = Ready is Unknown already, so nothing is written
 */
export function unknownConditions(conditions: readonly NodeCondition[], created: string, nowMs: number): NodeCondition[] | undefined {
  if (readyCondition(conditions)?.status === "Unknown") return undefined;
  const lastTransitionTime = rfc3339Seconds(nowMs);
  const changed = conditions.map((condition): NodeCondition => {
    if (!BECOME_UNKNOWN.includes(condition.type) || condition.status === "Unknown") return condition;
    const message = "Kubelet stopped posting node status.";
    return { ...condition, status: "Unknown", reason: "NodeStatusUnknown", message, lastTransitionTime };
  });
  const absent = BECOME_UNKNOWN.filter((type) => !conditions.some((condition) => condition.type === type));
  const added = absent.map((type): NodeCondition => {
    const message = "Kubelet never posted node status.";
    return { type, status: "Unknown", reason: "NodeStatusNeverUpdated", message, lastHeartbeatTime: created, lastTransitionTime };
  });
  return [...changed, ...added];
}
