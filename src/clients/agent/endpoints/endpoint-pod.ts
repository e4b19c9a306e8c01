/**
 * The Pod of an endpoint. It is bound to the node, lives in the node's network, and has one port with the endpoint's name. Its annotations name its
 * agent and the entry that it was made from. So an agent that has lost its state knows its Pods.
 */
import type { Pod } from "../../../api/meta/kubernetes";
import { ownAnnotation, readOwn, writtenOwn } from "../../../api/meta/own-annotation";
import { isJsonObject, type JsonValue } from "../../../api/schema/json/json-value";
import { fnv1a, FNV_OFFSET } from "../../../core/encoding/fnv1a";
import type { EndpointEntry } from "./endpoint-entry";

/** The node whose agent made the Pod. */
const NODE_ANNOTATION = ownAnnotation("agent-node");
/** The entry as JSON. */
const ENTRY_ANNOTATION = ownAnnotation("agent-endpoint");
/** The agent is about to delete the Pod: whoever deletes a Pod without it wants the endpoint off. */
const ENDING_ANNOTATION = ownAnnotation("agent-ending");

const NAME_MAX = 253;
/** Shown as the image: nobody pulls it. */
const IMAGE = "process-of-the-node";

/** What a DaemonSet's Pods in the node's network tolerate (upstream AddOrUpdateDaemonPodTolerations). */
const TOLERATIONS = [
  ["not-ready", "NoExecute"],
  ["unreachable", "NoExecute"],
  ["disk-pressure", "NoSchedule"],
  ["memory-pressure", "NoSchedule"],
  ["pid-pressure", "NoSchedule"],
  ["unschedulable", "NoSchedule"],
  ["network-unavailable", "NoSchedule"],
].map(([taint, effect]) => ({ key: `node.kubernetes.io/${taint}`, operator: "Exists", effect }));

/**
 * `web.node-1`: an entry's name has no dot, so no two endpoints of two nodes have one name. The end of a very long node name gives way to a hash of the
 * whole: 253 characters are the most that a Pod's name has.
 */
export function podNameOf(entry: string, node: string): string {
  const name = `${entry}.${node}`;
  if (name.length <= NAME_MAX) return name;
  const hash = fnv1a(FNV_OFFSET, node).toString(16).padStart(8, "0");
  return `${name.slice(0, NAME_MAX - hash.length - 1).replace(/[-.]+$/, "")}-${hash}`;
}

/** What is sent to create the Pod. */
export function podOf(entry: EndpointEntry, node: string): Pod {
  const { name, namespace, port, protocol, labels, drainSeconds } = entry;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: podNameOf(name, node), namespace, labels, annotations: annotationsOf(entry, node) },
    spec: {
      nodeName: node,
      hostNetwork: true,
      dnsPolicy: "Default",
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: drainSeconds,
      tolerations: TOLERATIONS,
      containers: [{ name, image: IMAGE, imagePullPolicy: "Never", ports: [{ name, containerPort: port, hostPort: port, protocol }] }],
    },
  };
}

/**
 * The agent of this node made the Pod, whatever became of the entry since. Where somebody has taken the node's name off, the entry says so: only the
 * Pod of an entry has its name and namespace.
 */
export function isOwn(pod: Pod, node: string): boolean {
  const { annotations, name, namespace } = pod.metadata ?? {};
  const maker = readOwn(annotations, NODE_ANNOTATION);
  if (maker !== undefined) return maker === node;
  const entry = storedMember(pod, "name");
  return typeof entry === "string" && name === podNameOf(entry, node) && namespace === storedMember(pod, "namespace");
}

/** The agent has said that it deletes the Pod. */
export function isEnding({ metadata }: Pod): boolean {
  return readOwn(metadata?.annotations, ENDING_ANNOTATION) !== undefined;
}

/** The Pod garbage collector has deleted the Pod, or is about to: it found no Node of its name. */
export function isCollected({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, reason }) => type === "DisruptionTarget" && reason === "DeletionByPodGC") ?? false;
}

/** The JSON of the entry that the Pod was last made like; "" = it does not say. */
export function storedEntry({ metadata }: Pod): string {
  return readOwn(metadata?.annotations, ENTRY_ANNOTATION) ?? "";
}

/** The drain time of the entry that the Pod was last made like; that of its spec when the Pod does not say. */
export function drainSecondsOf(pod: Pod): number {
  const seconds = storedMember(pod, "drainSeconds");
  return typeof seconds === "number" && seconds >= 0 ? seconds : Number(pod.spec?.terminationGracePeriodSeconds ?? 0);
}

export function isTerminating({ metadata }: Pod): boolean {
  return Boolean(metadata?.deletionTimestamp);
}

/** Nothing of the node keeps the deleted Pod any more. */
export function isReleased(pod: Pod): boolean {
  return isTerminating(pod) && Number(pod.metadata?.deletionGracePeriodSeconds ?? 0) === 0;
}

/** It never serves again. */
export function isFinished({ status }: Pod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}

/** Whether the Pod can become that of the entry. A port cannot change, and a Pod that has ended stays ended. */
export function fits(pod: Pod, { name, port, protocol }: EndpointEntry): boolean {
  const [container] = pod.spec?.containers ?? [];
  const [own] = container?.ports ?? [];
  return !isFinished(pod) && own?.name === name && own.containerPort === port && (own.protocol ?? "TCP") === protocol;
}

/**
 * The merge patch that makes the Pod that of the entry; undefined = it is. Labels are compared with those of the entry before: what others added or took
 * away stays until the entry changes.
 */
export function adoptionPatch(pod: Pod, entry: EndpointEntry, node: string): object | undefined {
  const wanted = annotationsOf(entry, node);
  const isMarked = Object.entries(wanted).every(([key, value]) => pod.metadata?.annotations?.[key] === value);
  if (isMarked && !isEnding(pod)) return undefined;
  const before = storedMember(pod, "labels");
  const dropped = isJsonObject(before) ? Object.keys(before).filter((key) => !Object.hasOwn(entry.labels, key)) : [];
  const labels = { ...Object.fromEntries(dropped.map((key) => [key, null])), ...entry.labels };
  return { metadata: { uid: pod.metadata?.uid, labels, annotations: { ...wanted, ...writtenOwn(ENDING_ANNOTATION, null) } } };
}

/** The merge patch that says that the agent is about to delete the Pod. */
export function endingPatch(pod: Pod): object {
  return { metadata: { uid: pod.metadata?.uid, annotations: writtenOwn(ENDING_ANNOTATION, "true") } };
}

function annotationsOf(entry: EndpointEntry, node: string): Record<string, string> {
  return { ...writtenOwn(NODE_ANNOTATION, node), ...writtenOwn(ENTRY_ANNOTATION, JSON.stringify(entry)) };
}

/** Somebody may have damaged it. */
function storedMember(pod: Pod, member: keyof EndpointEntry): JsonValue | undefined {
  try {
    const entry = JSON.parse(storedEntry(pod)) as JsonValue;
    return isJsonObject(entry) ? entry[member] : undefined;
  } catch {
    return undefined;
  }
}
