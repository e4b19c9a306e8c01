/** What the collector knows of Nodes. */
import type { KubeObject, Node } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { FeedReader } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";

const KIND = "nodes";
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

export interface CollectedNode {
  /** status of the condition Ready; "" = nobody has ever written one */
  readonly ready: string;
  /** It has the taint, with whatever value and effect. */
  readonly isOutOfService: boolean;
}

function collectedNode({ spec, status }: Node): CollectedNode {
  return {
    ready: status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "",
    isOutOfService: spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) ?? false,
  };
}

/** Whether a change of a Node can give the collector work. */
export function nodeAsksForCollection({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  if (!before || !after) return true;
  const [was, is] = [collectedNode(before as Node), collectedNode(after as Node)];
  return was.ready !== is.ready || was.isOutOfService !== is.isOutOfService;
}

export class CollectedNodes {
  readonly #nodes = new Map<string, CollectedNode>();

  constructor(private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">) {}

  load(): void {
    for (const [name, node] of this.rows.saved<CollectedNode>(KIND)) this.#nodes.set(name, node);
  }

  get(name: string): CollectedNode | undefined {
    return this.#nodes.get(name);
  }

  get reader(): FeedReader {
    return {
      keys: () => this.#nodes.keys(),
      put: (object) => {
        const name = keyOf(object);
        const [before, node] = [this.#nodes.get(name), collectedNode(object as Node)];
        if (JSON.stringify(before) === JSON.stringify(node)) return;
        this.#nodes.set(name, node);
        this.rows.put(KIND, name, node, before === undefined);
      },
      gone: (name) => {
        if (this.#nodes.delete(name)) this.rows.delete(KIND, name);
      },
    };
  }
}
