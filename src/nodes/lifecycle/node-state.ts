/** What the node lifecycle controller reads of a Node. */
import { semanticEqual } from "../../api/meta/equality";
import type { KubeObject, Node, Taint } from "../../api/meta/kubernetes";
import { parseTime } from "../../api/meta/time";
import { type NodeCondition, readyCondition } from "../../api/registry/nodes/ready-condition";

const LABEL_EXCLUDED = "node.kubernetes.io/exclude-disruption";

export interface NodeState {
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  /** milliseconds since the epoch */
  readonly createdAt: number;
  readonly conditions: readonly NodeCondition[];
  readonly taints: readonly Taint[];
  readonly isUnschedulable: boolean;
  /** upstream's key of a zone, with its region; "" = the Node has no such label */
  readonly zone: string;
  /** The Node does not count where the health of its zone is judged. */
  readonly isExcluded: boolean;
}

export function nodeState({ metadata, spec, status }: Node): NodeState {
  const labels = metadata?.labels ?? {};
  return {
    name: metadata?.name ?? "",
    uid: metadata?.uid ?? "",
    revision: Number(metadata?.resourceVersion ?? 0),
    createdAt: parseTime(metadata?.creationTimestamp) ?? 0,
    conditions: status?.conditions ?? [],
    taints: spec?.taints ?? [],
    isUnschedulable: spec?.unschedulable ?? false,
    zone: zoneOf(labels),
    isExcluded: LABEL_EXCLUDED in labels,
  };
}

/** Status of the condition Ready; undefined = nobody has ever written one. */
export function readyOf({ conditions }: Pick<NodeState, "conditions">): string | undefined {
  return readyCondition(conditions)?.status;
}

/**
 * What changes with each sign of life in the condition Ready; "" = nobody has ever written one. Upstream compares lastHeartbeatTime alone. Here a
 * status that a person writes without it counts, too.
 */
export function heartbeatOf({ conditions }: Pick<NodeState, "conditions">): string {
  const ready = readyCondition(conditions);
  return ready ? `${ready.status} ${ready.lastHeartbeatTime ?? ""}` : "";
}

/** Whether a change of a Node asks for a pass: all that is read of it does, but the times of heartbeats, which the next look reads. */
export function changesNode({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  return !before || !after || !semanticEqual(withoutHeartbeats(before as Node), withoutHeartbeats(after as Node));
}

function withoutHeartbeats(node: Node): object {
  const { revision: _, conditions, ...state } = nodeState(node);
  return { ...state, conditions: conditions.map(({ lastHeartbeatTime: __, ...condition }) => condition) };
}

/** Source: component-helpers/node/topology GetZoneKey. The older labels come first. */
function zoneOf(labels: Readonly<Record<string, string>>): string {
  const zone = labels["failure-domain.beta.kubernetes.io/zone"] ?? labels["topology.kubernetes.io/zone"] ?? "";
  const region = labels["failure-domain.beta.kubernetes.io/region"] ?? labels["topology.kubernetes.io/region"] ?? "";
  return region === "" && zone === "" ? "" : `${region}:\0:${zone}`;
}
