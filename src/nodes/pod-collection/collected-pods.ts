/**
 * What the collector knows of Pods: those that stand on a Node, are being deleted or have ended. They are rows of its own, so that nothing is read
 * twice. A status of a living Pod costs a search in its text.
 */
import type { KubeObject, Pod } from "../../api/meta/kubernetes";
import { parseTime } from "../../api/meta/time";
import type { FedText } from "../../controllers/followed/followed-store";
import type { FactRows } from "../../controllers/followed/kept-facts";
import { KeptPods } from "../pods/kept-pods";

/** Upstream's isPodTerminated: every other phase, one that nobody knows included. */
const ALIVE = ["Pending", "Running", "Unknown"];
const ENDED = ["Succeeded", "Failed"];

export interface CollectedPod {
  readonly uid: string;
  /** "" = no Node was chosen */
  readonly node: string;
  /** when its grace period is over, in milliseconds since the epoch; undefined = it is not being deleted */
  readonly deletedAt?: number;
  /** Its phase is not that of a living Pod. */
  readonly terminated?: { readonly createdAt: number; readonly isEvicted: boolean };
  /** It has ended, and is deleted without a grace period: finalizers alone hold it, and nothing is left to do here. */
  readonly isDone?: true;
}

/** What the collector has to know of a Pod; undefined = nothing. */
export function collectedPod({ metadata, spec, status }: Pod): CollectedPod | undefined {
  const node = spec?.nodeName ?? "";
  const phase = status?.phase ?? "";
  const deletedAt = parseTime(metadata?.deletionTimestamp);
  const isTerminated = !ALIVE.includes(phase);
  if (node === "" && deletedAt === undefined && !isTerminated) return undefined;
  const createdAt = parseTime(metadata?.creationTimestamp) ?? 0;
  const isDone = deletedAt !== undefined && Number(metadata?.deletionGracePeriodSeconds ?? -1) === 0 && isEnded(phase);
  return {
    uid: metadata?.uid ?? "",
    node,
    ...(deletedAt === undefined ? {} : { deletedAt }),
    ...(isTerminated ? { terminated: { createdAt, isEvicted: phase === "Failed" && status?.reason === "Evicted" } } : {}),
    ...(isDone ? { isDone } : {}),
  };
}

/** Whether the phase is one that the collector leaves as it is. */
export function isEnded(phase: string): boolean {
  return ENDED.includes(phase);
}

/** Whether a change of a Pod can give the collector work. What it misses, the pass of cron finds. */
export function asksForCollection({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  if (!after) return false;
  const [was, is] = [before as Pod | undefined, after as Pod];
  if (is.metadata?.deletionTimestamp !== was?.metadata?.deletionTimestamp) return true;
  if ((is.spec?.nodeName ?? "") !== (was?.spec?.nodeName ?? "")) return true;
  return is.status?.phase !== was?.status?.phase && !ALIVE.includes(is.status?.phase ?? "");
}

export class CollectedPods extends KeptPods<CollectedPod> {
  readonly terminating = new Set<string>();
  readonly terminated = new Set<string>();

  constructor(rows: FactRows) {
    super(rows, collectedPod, livesOn);
  }

  protected override entered(key: string, pod: CollectedPod): void {
    super.entered(key, pod);
    const { deletedAt, terminated } = pod;
    if (deletedAt !== undefined) this.terminating.add(key);
    if (terminated) this.terminated.add(key);
  }

  protected override left(key: string, pod: CollectedPod): void {
    super.left(key, pod);
    this.terminating.delete(key);
    this.terminated.delete(key);
  }
}

/** Whether the text is that of a Pod on its Node which lives on. A label may look like a phase: then the Pod is parsed. */
function livesOn({ uid, node, deletedAt, terminated }: CollectedPod, { text }: FedText): boolean {
  if (node === "" || deletedAt !== undefined || terminated) return false;
  const isIn = (phase: string): boolean => text.includes(`"phase":"${phase}"`);
  return text.includes(uid) && !text.includes('"deletionTimestamp"') && ALIVE.some(isIn) && !ENDED.some(isIn);
}
