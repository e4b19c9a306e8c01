/**
 * The Pods on Nodes, and which of them are to lose Ready: those that came to a Node that is not ready, and those whose Node left Ready. Pods are read
 * only while some Node is not ready. Their rows are saved together with the cursor of their store, so each change is met once.
 */
import type { KubeObject, Pod } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { FeedReader } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";

/** name of the cursor of their store */
export const PODS = "pods";

const KIND = "pods";
const KIND_DUE = "due";

interface PodOfNode {
  readonly node: string;
  /** It has a condition Ready that is not False. */
  readonly isReady: boolean;
}

/** Whether a change of a Pod asks for a pass: it came to a Node. */
export function comesToNode({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  const node = (after as Pod | undefined)?.spec?.nodeName;
  return Boolean(node) && node !== (before as Pod | undefined)?.spec?.nodeName;
}

export class BoundPods {
  readonly #pods = new Map<string, PodOfNode>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #due = new Set<string>();

  constructor(private readonly rows: Pick<KeptRows, "saved" | "put" | "delete" | "cursor">) {}

  load(): void {
    for (const [key, pod] of this.rows.saved<PodOfNode>(KIND)) this.#set(key, pod);
    for (const [key] of this.rows.saved<object>(KIND_DUE)) this.#due.add(key);
  }

  /** The keys of the Pods on a Node that may have to lose Ready. */
  readyOn(node: string): string[] {
    return [...(this.#byNode.get(node) ?? [])].filter((key) => this.#pods.get(key)?.isReady);
  }

  /** The Pods that came to a Node, or are to lose Ready with it, and are not settled. */
  get due(): readonly (PodOfNode & { key: string })[] {
    return [...this.#due].map((key) => ({ key, ...(this.#pods.get(key) ?? { node: "", isReady: false }) }));
  }

  mustLoseReady(key: string): void {
    if (this.#due.has(key)) return;
    this.#due.add(key);
    this.rows.put(KIND_DUE, key, {}, true);
  }

  /** The Pod has been marked, or need not be. */
  settled(key: string): void {
    if (this.#due.delete(key)) this.rows.delete(KIND_DUE, key);
  }

  get reader(): FeedReader {
    return {
      keys: () => this.#pods.keys(),
      put: (object: KubeObject, isListed) => this.#put(object as Pod, isListed),
      gone: (key) => this.#gone(key),
    };
  }

  #put({ metadata, spec, status }: Pod, isListed: boolean): void {
    const key = keyOf({ metadata: metadata ?? {} });
    const node = spec?.nodeName ?? "";
    if (node === "") return this.#gone(key);
    const isReady = status?.conditions?.some((condition) => condition.type === "Ready" && condition.status !== "False") ?? false;
    const before = this.#pods.get(key);
    if (before?.node === node && before.isReady === isReady) return;
    this.#set(key, { node, isReady });
    this.rows.put(KIND, key, { node, isReady });
    // A Pod of the very first list may be older than the controller.
    const isFirstList = isListed && this.rows.cursor(PODS) === undefined;
    if (!isFirstList && before?.node !== node) this.mustLoseReady(key);
  }

  #set(key: string, pod: PodOfNode): void {
    this.#leave(key);
    this.#pods.set(key, pod);
    const there = this.#byNode.get(pod.node) ?? new Set();
    this.#byNode.set(pod.node, there.add(key));
  }

  #gone(key: string): void {
    if (!this.#leave(key)) return;
    this.#pods.delete(key);
    this.rows.delete(KIND, key);
    this.settled(key);
  }

  #leave(key: string): boolean {
    const before = this.#pods.get(key);
    if (!before) return false;
    const there = this.#byNode.get(before.node);
    there?.delete(key);
    if (there?.size === 0) this.#byNode.delete(before.node);
    return true;
  }
}
