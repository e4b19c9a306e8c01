import type { GraphNode } from "../../../src/controllers/garbage-collection/graph";
import type { GraphStorage } from "../../../src/controllers/garbage-collection/ports";
import type { StoreCursor } from "../../../src/api/rpc/object-links";

/** The collector's rows in maps. Each row is kept as text, so that nothing is shared with the collector. */
export class MemoryGraphStorage implements GraphStorage {
  readonly #nodes = new Map<string, string>();
  readonly #cursors = new Map<string, string>();

  get rows(): number {
    return this.#nodes.size;
  }

  transaction(work: () => void): void {
    work();
  }

  nodes(): GraphNode[] {
    return [...this.#nodes.values()].map((text) => JSON.parse(text) as GraphNode);
  }

  cursors(): [string, StoreCursor][] {
    return [...this.#cursors].map(([store, text]) => [store, JSON.parse(text) as StoreCursor]);
  }

  nodePut(id: string, node: GraphNode): void {
    this.#nodes.set(id, JSON.stringify(node));
  }

  nodeDelete(id: string): void {
    this.#nodes.delete(id);
  }

  cursorPut(store: string, cursor: StoreCursor): void {
    this.#cursors.set(store, JSON.stringify(cursor));
  }
}
