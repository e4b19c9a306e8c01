/** What the taint eviction controller knows of Pods on Nodes. They are read only while some Node has a NoExecute taint, or an eviction waits. */
import type { KubeObject, Pod, Toleration } from "../../api/meta/kubernetes";
import { addDefaultTolerations } from "../../api/registry/pods/default-tolerations";
import { semanticEqual } from "../../api/meta/equality";
import { parseJson } from "../../core/encoding/exact-json";
import type { FedText } from "../../controllers/followed/followed-store";
import type { FactRows } from "../../controllers/followed/kept-facts";
import { KeptPods } from "../pods/kept-pods";

export interface BoundPod {
  readonly uid: string;
  readonly node: string;
  /** metadata.generation, which grows when the spec changes or the deletion begins */
  readonly generation: string;
  /** as JSON, because a time may have more digits than a number holds */
  readonly tolerations: string;
  readonly isDeleting: boolean;
}

export function tolerationsOf({ tolerations }: BoundPod): Toleration[] {
  return parseJson(tolerations) as Toleration[];
}

/** undefined = it stands on no Node. A Pod that was stored before Pods had default tolerations has them, too. */
function boundPod({ metadata, spec: stored }: Pod): BoundPod | undefined {
  if (!stored?.nodeName) return undefined;
  const { nodeName: node } = stored;
  const spec = { ...stored };
  addDefaultTolerations({ spec });
  return {
    uid: metadata?.uid ?? "",
    node,
    generation: String(metadata?.generation ?? ""),
    tolerations: JSON.stringify(spec.tolerations ?? []),
    isDeleting: Boolean(metadata?.deletionTimestamp),
  };
}

/** Whether a change of a Pod changes whether it has to go (upstream PodUpdated). */
export function changesToleration({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  const [was, is] = [(before as Pod | undefined)?.spec, (after as Pod | undefined)?.spec];
  if ((was?.nodeName ?? "") !== (is?.nodeName ?? "")) return true;
  return Boolean(is?.nodeName) && !semanticEqual(was?.tolerations ?? [], is?.tolerations ?? []);
}

export function evictedPods(rows: FactRows): KeptPods<BoundPod> {
  return new KeptPods(rows, boundPod, hasSameSpec);
}

/** Whether the text is that of a Pod with the spec that is known. */
function hasSameSpec({ uid, generation }: BoundPod, { text }: FedText): boolean {
  return text.includes(uid) && (text.includes(`"generation":${generation},`) || text.includes(`"generation":${generation}}`));
}
