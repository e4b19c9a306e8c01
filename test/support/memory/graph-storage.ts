import type { GraphNode } from "../../../src/controllers/garbage-collection/graph";
import type { GraphStorage } from "../../../src/controllers/garbage-collection/ports";
import type { StoreCursor } from "../../../src/api/rpc/object-links";
import { Journal, JournaledMap } from "../sim/platform/journal";

/** The collector's rows on a journal. Each row is kept as text, so that nothing is shared with the collector. */
export class MemoryGraphStorage implements GraphStorage {
  readonly #nodes: JournaledMap<string>;
  readonly #cursors: JournaledMap<string>;

  constructor(private readonly journal = new Journal()) {
    this.#nodes = new JournaledMap(journal);
    this.#cursors = new JournaledMap(journal);
  }

  get rows(): number {
    return this.#nodes.size;
  }

  transaction(work: () => void): void {
    this.journal.transaction(() => {
      this.journal.note("noteGraph");
      work();
    });
  }

  nodes(): GraphNode[] {
    return this.#nodes.values().map((text) => JSON.parse(text) as GraphNode);
  }

  cursors(): [string, StoreCursor][] {
    return this.#cursors.values().map((text) => JSON.parse(text) as [string, StoreCursor]);
  }

  nodeGet(id: string): GraphNode | undefined {
    const text = this.#nodes.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as GraphNode);
  }

  nodePut(id: string, node: GraphNode): void {
    this.#nodes.set(id, JSON.stringify(node));
  }

  nodeDelete(id: string): void {
    this.#nodes.delete(id);
  }

  cursorPut(store: string, cursor: StoreCursor): void {
    this.#cursors.set(store, JSON.stringify([store, cursor]));
  }
}
