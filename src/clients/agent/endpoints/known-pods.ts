/** The node's Pods as the server has shown them, by list, watch and the answers to writes. An answer may come before the event of the write. */
import type { FollowStep } from "../../../api/client/follow-collection";
import type { Pod } from "../../../api/meta/kubernetes";
import { podKey } from "./pod-steps";

export class KnownPods {
  readonly #pods = new Map<string, Pod>();
  #isListed = false;

  /** @param onDeleted called with the last state of each Pod that a watch says is gone */
  constructor(private readonly onDeleted: (pod: Pod) => void) {}

  /** Whether any list has come: without one a Pod that is not here may exist. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** By podKey. */
  get pods(): ReadonlyMap<string, Pod> {
    return this.#pods;
  }

  take(step: FollowStep<Pod>): void {
    if (step.kind === "list") this.#replace(step.objects, step.resourceVersion);
    else {
      for (const { type, object } of step.changes) {
        if (type === "DELETED") this.#remove(object);
        else this.put(object);
      }
    }
  }

  /** An older state of the same Pod is passed over. */
  put(pod: Pod): void {
    const key = podKey(pod);
    const known = this.#pods.get(key);
    if (!known || isNewer(versionOf(pod), versionOf(known))) this.#pods.set(key, pod);
  }

  /** The server says that there is no such Pod, or another one. */
  forget(pod: Pod): void {
    const key = podKey(pod);
    if (this.#pods.get(key)?.metadata?.uid === pod.metadata?.uid) this.#pods.delete(key);
  }

  /** A list that began before an answer came does not know what was created meanwhile. */
  #replace(pods: readonly Pod[], version: string): void {
    this.#isListed = true;
    const later = [...this.#pods].filter(([, pod]) => isNewer(versionOf(pod), version));
    this.#pods.clear();
    for (const pod of pods) this.#pods.set(podKey(pod), pod);
    for (const [, pod] of later) this.put(pod);
  }

  #remove(pod: Pod): void {
    this.forget(pod);
    this.onDeleted(pod);
  }
}

function versionOf({ metadata }: Pod): string {
  return metadata?.resourceVersion ?? "";
}

/** Revisions of one kind are numbers that grow (KEP-5504). */
function isNewer(version: string, than: string): boolean {
  return /^\d+$/.test(version) && /^\d+$/.test(than) ? BigInt(version) > BigInt(than) : true;
}
