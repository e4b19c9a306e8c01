/** The NoExecute taints of Nodes. A Node without any is kept, too: its Pods are let off, while those of a Node that is gone are not. */
import type { KubeObject, Node } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { FeedReader } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { evictingTaints, type Taint } from "./tolerations";

const KIND = "nodes";

type KeptTaint = Pick<Taint, "key" | "value" | "effect">;

/** The time of a taint plays no role. */
function keptTaints(node: Node): KeptTaint[] {
  return evictingTaints(node).map(({ key, value, effect }) => ({ key, ...(value ? { value } : {}), effect }));
}

/** Whether a change of a Node changes who has to go. */
export function changesTaints({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  const taints = (node: KubeObject | undefined): string => JSON.stringify(node ? keptTaints(node as Node) : []);
  return taints(before) !== taints(after);
}

export class TaintedNodes {
  readonly #taints = new Map<string, readonly KeptTaint[]>();
  readonly #tainted = new Set<string>();

  constructor(private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">) {}

  load(): void {
    for (const [name, taints] of this.rows.saved<readonly KeptTaint[]>(KIND)) this.#set(name, taints);
  }

  /** undefined = there is no such Node */
  taintsOf(name: string): readonly KeptTaint[] | undefined {
    return this.#taints.get(name);
  }

  /** The names of those that have taints. */
  get tainted(): ReadonlySet<string> {
    return this.#tainted;
  }

  get reader(): FeedReader {
    return {
      keys: () => this.#taints.keys(),
      put: (object) => {
        const name = keyOf(object);
        const [before, taints] = [this.#taints.get(name), keptTaints(object as Node)];
        if (JSON.stringify(before) === JSON.stringify(taints)) return;
        this.#set(name, taints);
        this.rows.put(KIND, name, taints, before === undefined);
      },
      gone: (name) => {
        this.#tainted.delete(name);
        if (this.#taints.delete(name)) this.rows.delete(KIND, name);
      },
    };
  }

  #set(name: string, taints: readonly KeptTaint[]): void {
    this.#taints.set(name, taints);
    if (taints.length > 0) this.#tainted.add(name);
    else this.#tainted.delete(name);
  }
}
