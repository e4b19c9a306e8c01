/** What the node lifecycle controller reads of a Node. */
import { lastWritten } from "../../api/fields/last-written";
import { semanticEqual } from "../../api/meta/equality";
import type { KubeObject, Node, Taint } from "../../api/meta/kubernetes";
import { parseTime } from "../../api/meta/time";
import { type NodeCondition, READY, readyCondition } from "../../api/registry/nodes/ready-condition";

/** The condition Ready in fieldsV1. */
const READY_FIELDS = ["f:status", "f:conditions", `k:{"type":"${READY}"}`];
/** A creationTimestamp has whole seconds, rounded down. */
const CREATED_WITHIN_MS = 1_000;
const LABEL_EXCLUDED = "node.kubernetes.io/exclude-disruption";

export interface NodeState {
  readonly name: string;
  readonly uid: string;
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

/**
 * When the condition Ready was last written, as lastWritten says it. What a create brings of the status is nobody's: so a condition without a manager
 * is as old as the Node, unless the Node is not tracked.
 */
export function heartbeatAt(node: Node, nowMs: number): number | undefined {
  const written = lastWritten(node, READY_FIELDS, nowMs);
  if (written !== undefined || !node.metadata?.managedFields?.length) return written;
  const created = parseTime(node.metadata.creationTimestamp);
  return created === undefined ? undefined : Math.min(created + CREATED_WITHIN_MS, nowMs);
}

/** Whether a change of a Node asks for a pass: all that is read of it does, but the times of heartbeats, which the next look reads. */
export function changesNode({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  return !before || !after || !semanticEqual(withoutHeartbeats(before as Node), withoutHeartbeats(after as Node));
}

function withoutHeartbeats(node: Node): object {
  const { conditions, ...state } = nodeState(node);
  return { ...state, conditions: conditions.map(({ lastHeartbeatTime: _, ...condition }) => condition) };
}

/** Source: component-helpers/node/topology GetZoneKey. The older labels come first. */
function zoneOf(labels: Readonly<Record<string, string>>): string {
  const zone = labels["failure-domain.beta.kubernetes.io/zone"] ?? labels["topology.kubernetes.io/zone"] ?? "";
  const region = labels["failure-domain.beta.kubernetes.io/region"] ?? labels["topology.kubernetes.io/region"] ?? "";
  return region === "" && zone === "" ? "" : `${region}:\0:${zone}`;
}
