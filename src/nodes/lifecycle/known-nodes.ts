/**
 * The Nodes of the cluster. Each has a row with its uid and the status of Ready that was last read. So the controller acts on each change of
 * Ready once, also after a crash.
 */
import type { KubeObject, Node } from "../../api/meta/kubernetes";
import type { FeedReader } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { heartbeatAt, nodeState, type NodeState, readyOf } from "./node-state";

const KIND = "nodes";

interface KnownNode {
  readonly uid: string;
  /** status of Ready; "" = none */
  readonly ready: string;
  /** since when it is not ready, in milliseconds since the epoch */
  readonly since: number;
  /** The Node is new to the controller, which removes NoExecute taints from an earlier time first. */
  readonly isNew?: true;
  /** The Node left Ready, and its Pods are to lose Ready, too. */
  readonly isDraining?: true;
  /** The Node came to be not ready without having been Ready: the Pods that are on it by then keep Ready. */
  readonly sparesPods?: true;
}

export interface NodeNews {
  registered(node: NodeState): void;
  removed(name: string, uid: string): void;
  leftReady(node: NodeState): void;
  /** The Node is as it is now; it may be unchanged. `heartbeatAt`: see heartbeatAt */
  seen(node: NodeState, heartbeatAt: number | undefined): void;
}

export class KnownNodes {
  readonly #states = new Map<string, NodeState>();
  readonly #known = new Map<string, KnownNode>();

  constructor(
    private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">,
    private readonly now: () => number,
    private readonly news: NodeNews,
  ) {}

  load(): void {
    for (const [name, known] of this.rows.saved<KnownNode>(KIND)) this.#known.set(name, known);
  }

  get names(): Iterable<string> {
    return this.#known.keys();
  }

  /** The states of all Nodes that have been read. */
  get states(): readonly NodeState[] {
    return [...this.#states.values()];
  }

  get(name: string): NodeState | undefined {
    return this.#states.get(name);
  }

  /** In the order in which they left Ready. */
  get notReady(): NodeState[] {
    const since = ({ name }: NodeState): number => this.#known.get(name)?.since ?? 0;
    return this.states.filter(isNotReady).sort((a, b) => since(a) - since(b));
  }

  isNew(name: string): boolean {
    return this.#known.get(name)?.isNew ?? false;
  }

  /** The Node is no longer new: NoExecute taints from an earlier time are gone. */
  settled(name: string): void {
    this.#change(name, ({ isNew: _, ...known }) => known);
  }

  get draining(): string[] {
    return [...this.#known].flatMap(([name, { isDraining }]) => (isDraining ? [name] : []));
  }

  /** Notes that each Pod of the Node has a row of its own. False: the Node has got Ready back meanwhile, or is gone. */
  drained(name: string): boolean {
    const wasDraining = this.#known.get(name)?.isDraining ?? false;
    if (wasDraining) this.#change(name, ({ isDraining: _, ...known }) => known);
    return wasDraining;
  }

  get sparing(): string[] {
    return [...this.#known].flatMap(([name, { sparesPods }]) => (sparesPods ? [name] : []));
  }

  /** Notes that the Pods that the Node spares have been read. */
  spared(name: string): void {
    if (this.#known.get(name)?.sparesPods) this.#change(name, ({ sparesPods: _, ...known }) => known);
  }

  get reader(): FeedReader {
    return {
      keys: () => this.names,
      put: (object: KubeObject) => this.#put(nodeState(object as Node), heartbeatAt(object as Node, this.now())),
      gone: (name) => this.#gone(name),
    };
  }

  #put(node: NodeState, writtenAt: number | undefined): void {
    const { name, uid } = node;
    if (this.#known.get(name) && this.#known.get(name)?.uid !== uid) this.#gone(name);
    const before = this.#known.get(name);
    const ready = readyOf(node) ?? "";
    this.#states.set(name, node);
    if (!before) {
      const known: KnownNode = { uid, ready, since: this.now(), isNew: true, ...(isNotReady(node) ? { sparesPods: true } : {}) };
      this.#known.set(name, known);
      this.rows.put(KIND, name, known, true);
      this.news.registered(node);
    } else if (before.ready !== ready) {
      const { isDraining, sparesPods, ...rest } = before;
      const leaves = before.ready === "True" && isNotReady(node);
      const drains = ready !== "True" && (isDraining || leaves);
      const spares = isNotReady(node) && !drains && (sparesPods || before.ready === "");
      this.#change(name, () => ({
        ...rest,
        ready,
        since: before.ready === "True" || before.ready === "" ? this.now() : before.since,
        ...(drains ? { isDraining: true as const } : {}),
        ...(spares ? { sparesPods: true as const } : {}),
      }));
      if (leaves) this.news.leftReady(node);
    }
    this.news.seen(node, writtenAt);
  }

  #gone(name: string): void {
    const known = this.#known.get(name);
    this.#states.delete(name);
    if (!known) return;
    this.#known.delete(name);
    this.rows.delete(KIND, name);
    this.news.removed(name, known.uid);
  }

  #change(name: string, change: (known: KnownNode) => KnownNode): void {
    const known = this.#known.get(name);
    if (!known) return;
    const changed = change(known);
    this.#known.set(name, changed);
    this.rows.put(KIND, name, changed);
  }
}

/** Whether the condition Ready exists and is not True. */
export function isNotReady(node: NodeState): boolean {
  const ready = readyOf(node);
  return ready !== undefined && ready !== "True";
}
