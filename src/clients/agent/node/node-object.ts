/**
 * The Node of a machine as its agent writes it, by the kubelet's habits (upstream pkg/kubelet/kubelet_node_status.go, nodestatus/setters.go): labels and
 * addresses of its own, the rest as others have it. Pure; times are in milliseconds since the Unix epoch.
 */
import { semanticEqual } from "../../../api/meta/equality";
import type { Node, Taint } from "../../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../../api/meta/time";

type NodeStatus = NonNullable<Node["status"]>;
type ReportedCondition = NonNullable<NodeStatus["conditions"]>[number];

/** What the machine is. */
export interface Machine {
  /** of the Node */
  readonly name: string;
  readonly hostname: string;
  /** InternalIPs, the preferred one first */
  readonly addresses: readonly string[];
  /** all labels that the agent sets */
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeInfo: NonNullable<NodeStatus["nodeInfo"]>;
  readonly capacity: Readonly<Record<string, string>>;
}

/** kube-proxy and load balancers drain a Node with this taint (KEP-3836). The value says that it is the agent's, and not an autoscaler's. */
const LEAVING: Taint = { key: "ToBeDeletedByClusterAutoscaler", value: "servicenet-agent", effect: "NoSchedule" };

const READY = "Ready";
/** The agent starts no Pods, so it evicts none. */
const PRESSURES = ["MemoryPressure", "DiskPressure", "PIDPressure"];

/** The Node that is registered where there is none. */
export function newNode(machine: Machine, nowMs: number): Node {
  const { name, labels } = machine;
  return withStatus({ metadata: { name, labels: { ...labels } }, spec: {} }, machine, nowMs);
}

/** The Node with the agent's labels, and without the taint of an earlier leave. Labels and taints of others stay. `isLeaving`: the agent leaves already. */
export function takenOver(node: Node, { labels }: Pick<Machine, "labels">, isLeaving: boolean): Node {
  const labelled = { ...node, metadata: { ...node.metadata, labels: { ...node.metadata?.labels, ...labels } } };
  return isLeaving ? labelled : withTaints(labelled, othersTaints(node));
}

/** The Node with the taint that says that it is about to go. */
export function leaving(node: Node): Node {
  const hasOne = (node.spec?.taints ?? []).some(({ key, effect }) => key === LEAVING.key && effect === LEAVING.effect);
  return hasOne ? node : withTaints(node, [...(node.spec?.taints ?? []), LEAVING]);
}

/** The Node with the status that the agent reports now. */
export function withStatus(node: Node, { hostname, addresses, nodeInfo, capacity }: Machine, nowMs: number): Node {
  const own = [...addresses.map((address) => ({ type: "InternalIP", address })), { type: "Hostname", address: hostname }];
  const others = (node.status?.addresses ?? []).filter(({ type }) => type !== "InternalIP" && type !== "Hostname");
  const status: NodeStatus = {
    ...node.status,
    addresses: [...own, ...others],
    capacity: { ...capacity },
    allocatable: { ...capacity },
    nodeInfo,
    conditions: conditionsOf(node.status?.conditions ?? [], nowMs),
  };
  return { ...node, status };
}

/** Whether the status differs by more than the times of its heartbeats. */
export function differs(one: Node, other: Node): boolean {
  return !semanticEqual(withoutHeartbeats(one), withoutHeartbeats(other));
}

function withoutHeartbeats({ status }: Node): object {
  const conditions = status?.conditions?.map(({ lastHeartbeatTime: _, ...condition }) => condition);
  return { ...status, conditions };
}

function conditionsOf(before: readonly ReportedCondition[], nowMs: number): ReportedCondition[] {
  const now = rfc3339Seconds(nowMs);
  const pressure = { status: "False", reason: "NoPodsStarted", message: "the agent starts no Pods, so none is evicted" };
  const own = [
    ...PRESSURES.map((type) => ({ type, ...pressure })),
    { type: READY, status: "True", reason: "AgentReady", message: "the agent is posting ready status" },
  ];
  const reported = own.map((condition): ReportedCondition => {
    const known = before.find(({ type }) => type === condition.type);
    const lastTransitionTime = known?.status === condition.status ? (known.lastTransitionTime ?? now) : now;
    return { ...condition, lastHeartbeatTime: now, lastTransitionTime };
  });
  return [...before.filter(({ type }) => own.every((condition) => condition.type !== type)), ...reported];
}

function othersTaints({ spec }: Node): Taint[] {
  return (spec?.taints ?? []).filter(({ key, value }) => key !== LEAVING.key || value !== LEAVING.value);
}

function withTaints({ spec, ...node }: Node, taints: Taint[]): Node {
  const { taints: _, ...rest } = spec ?? {};
  return { ...node, spec: { ...rest, ...(taints.length > 0 && { taints }) } };
}
