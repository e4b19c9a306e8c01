/** The condition Ready of a Node: the only one that says whether its kubelet is there. */
import type { Node } from "../../meta/kubernetes";

export type NodeCondition = NonNullable<NonNullable<Node["status"]>["conditions"]>[number];

export const READY = "Ready";

/** undefined = nobody has ever written one */
export function readyCondition(conditions: readonly NodeCondition[] = []): NodeCondition | undefined {
  return conditions.find(({ type }) => type === READY);
}
