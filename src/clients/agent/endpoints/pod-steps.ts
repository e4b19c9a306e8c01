/**
 * What is to be done next about the Pods of the node. Each step may be repeated and may be lost: the next look at the Pods shows what is left.
 *
 *   Pod                                       step
 *   none, and an entry wants one              create
 *   fits its entry                            its metadata, then its status, where they differ
 *   fits no entry                             mark it as ending, then delete it with its drain time
 *   is deleted, drains                        status: it serves as long as its probe says so
 *   is deleted, its drain time is over        delete it at once; Succeeded where finalizers hold it
 *   of somebody else, bound to the node       Failed; once deleted, delete it at once
 */
import type { Pod } from "../../../api/meta/kubernetes";
import { type EndpointEntry, entryKey } from "./endpoint-entry";
import {
  adoptionPatch,
  drainSecondsOf,
  endingPatch,
  fits,
  isEnding,
  isFinished,
  isOwn,
  isReleased,
  isTerminating,
  podNameOf,
} from "./endpoint-pod";
import { completionPatch, refusalPatch, statusPatch } from "./pod-status";

export type PodStep =
  | { readonly kind: "create"; readonly entry: EndpointEntry }
  | { readonly kind: "metadata" | "status"; readonly pod: Pod; readonly patch: object }
  | { readonly kind: "delete"; readonly pod: Pod; readonly graceSeconds: number };

/** The node's Pods as they are known, and what decides about them. */
export interface Situation {
  readonly node: string;
  /** `podAddresses` of the node */
  readonly addresses: readonly string[];
  /** by podKey */
  readonly pods: ReadonlyMap<string, Pod>;
  /** those that are to have a Pod, by podKey */
  readonly wanted: ReadonlyMap<string, EndpointEntry>;
  isReady(pod: Pod): boolean;
  isDrained(pod: Pod): boolean;
  /** ms since the epoch */
  readonly now: number;
}

/** `namespace/name` of a Pod. */
export function podKey({ metadata }: Pod): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}

/** The key of an entry's Pod. */
export function podKeyOf({ namespace, name }: EndpointEntry, node: string): string {
  return entryKey({ namespace, name: podNameOf(name, node) });
}

/** At most one step for each Pod. After each write it is asked again. */
export function nextSteps(situation: Situation): PodStep[] {
  const { pods, wanted } = situation;
  const steps: PodStep[] = [];
  for (const [key, pod] of pods) {
    const step = isOwn(pod, situation.node) ? ownStep(pod, wanted.get(key), situation) : foreignStep(pod);
    if (step) steps.push(step);
  }
  for (const [key, entry] of wanted) if (!pods.has(key)) steps.push({ kind: "create", entry });
  return steps;
}

function ownStep(pod: Pod, entry: EndpointEntry | undefined, situation: Situation): PodStep | undefined {
  if (isTerminating(pod)) return endStep(pod, situation);
  if (!entry || !fits(pod, entry)) {
    if (!isEnding(pod)) return { kind: "metadata", pod, patch: endingPatch(pod) };
    return { kind: "delete", pod, graceSeconds: drainSecondsOf(pod) };
  }
  const patch = adoptionPatch(pod, entry, situation.node);
  return patch ? { kind: "metadata", pod, patch } : statusStep(pod, situation);
}

/** A Pod without any grace left is gone unless finalizers hold it; then it is told to be over, so that nobody sends to it. */
function endStep(pod: Pod, situation: Situation): PodStep | undefined {
  if (isReleased(pod)) return isFinished(pod) ? undefined : { kind: "status", pod, patch: completionPatch(pod) };
  return situation.isDrained(pod) ? { kind: "delete", pod, graceSeconds: 0 } : statusStep(pod, situation);
}

function statusStep(pod: Pod, { addresses, isReady, now }: Situation): PodStep | undefined {
  const patch = isFinished(pod) ? undefined : statusPatch(pod, { addresses, isReady: isReady(pod), now });
  return patch && { kind: "status", pod, patch };
}

function foreignStep(pod: Pod): PodStep | undefined {
  if (isTerminating(pod)) return isReleased(pod) ? undefined : { kind: "delete", pod, graceSeconds: 0 };
  return isFinished(pod) ? undefined : { kind: "status", pod, patch: refusalPatch(pod) };
}
