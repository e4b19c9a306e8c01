/**
 * The NoExecute taints of Nodes. A Node without taints is kept, too: an eviction from it is cancelled, while one from a Node that is gone is not.
 */
import type { KubeObject, Node, Taint } from "../../api/meta/kubernetes";
import { type FactRows, KeptFacts } from "../../controllers/followed/kept-facts";
import { evictingTaints } from "./tolerations";

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

export class TaintedNodes extends KeptFacts<Node, readonly KeptTaint[]> {
  readonly #tainted = new Set<string>();

  constructor(rows: FactRows) {
    super(rows, "nodes", keptTaints);
  }

  /** The names of the Nodes that have taints. */
  get tainted(): ReadonlySet<string> {
    return this.#tainted;
  }

  protected override entered(name: string, taints: readonly KeptTaint[]): void {
    if (taints.length > 0) this.#tainted.add(name);
  }

  protected override left(name: string): void {
    this.#tainted.delete(name);
  }
}
