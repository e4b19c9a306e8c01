/** The NodeStorage port in memory, with a count of its writes. A new object on it is the old one after a restart. */
import type { NodeFacts } from "../../../src/api/meta/proxy-health";
import type { KeptReport } from "../../../src/proxy-health/judgement";
import type { NodeStorage, Watch } from "../../../src/proxy-health/node-storage";

export class MemoryNodeStorage implements NodeStorage {
  readonly #reports = new Map<string, KeptReport>();
  readonly #facts = new Map<string, NodeFacts>();
  #watch: Watch | undefined;
  writes = 0;

  transaction<T>(work: () => T): T {
    return work();
  }

  reports(): Iterable<[string, KeptReport]> {
    return this.#reports;
  }

  reportPut(node: string, kept: KeptReport): void {
    this.writes++;
    this.#reports.set(node, kept);
  }

  facts(): Iterable<[string, NodeFacts]> {
    return this.#facts;
  }

  factsPut(node: string, facts: NodeFacts): void {
    this.writes++;
    this.#facts.set(node, facts);
  }

  nodeDelete(node: string): void {
    this.writes++;
    this.#reports.delete(node);
    this.#facts.delete(node);
  }

  watchLoad(): Watch | undefined {
    return this.#watch;
  }

  watchPut(watch: Watch): void {
    this.writes++;
    this.#watch = watch;
  }
}
