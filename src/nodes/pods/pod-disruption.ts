/** What the controllers write into Pods that they are about to delete: strategic patches of the status, and deletions of exactly that Pod. */
import type { KubeObject, Pod } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import type { ObjectKey, WriteRequest } from "../../api/rpc/store";
import { optionsOf } from "../../controllers/followed/write-requests";

type PodCondition = NonNullable<NonNullable<Pod["status"]>["conditions"]>[number];

/** Why the Pod goes. */
export interface Disruption {
  reason: string;
  message: string;
}

/**
 * The condition DisruptionTarget as the Pod is to have it; undefined = it says so already (upstream UpdatePodCondition, which does not compare
 * observedGeneration). `nowMs` is in milliseconds since the epoch.
 */
export function disruptionCondition({ metadata, status }: Pod, disruption: Disruption, nowMs: number): PodCondition | undefined {
  const before = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  const isSet = before?.status === "True";
  if (isSet && before.reason === disruption.reason && before.message === disruption.message) return undefined;
  const generation = metadata?.generation;
  return {
    type: "DisruptionTarget",
    status: "True",
    ...disruption,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: (isSet ? before.lastTransitionTime : undefined) ?? rfc3339Seconds(nowMs),
  };
}

/** A patch of the status of this very Pod: another one of its name is a conflict. Conditions of other types stay. */
export function statusPatch(pod: Pod, status: NonNullable<Pod["status"]>, manager: string): WriteRequest {
  const options = optionsOf({ manager, group: "" });
  const patch = JSON.stringify({ metadata: { uid: pod.metadata?.uid }, status });
  return { verb: "patch", key: keyIn(pod), subresource: "status", patchType: "strategic", patch, options };
}

/** @param gracePeriodSeconds undefined = the Pod's own */
export function podDeletion(pod: Pod, gracePeriodSeconds: number | undefined): WriteRequest {
  const { uid } = pod.metadata ?? {};
  const preconditions = uid === undefined ? {} : { uid };
  return { verb: "delete", key: keyIn(pod), options: { dryRun: false, preconditions, propagationPolicy: "", gracePeriodSeconds } };
}

function keyIn({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}
