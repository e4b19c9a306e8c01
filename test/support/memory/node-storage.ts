/** The NodeStorage port on a journal, with a count of its writes. A new object on it is the old one after a restart. */
import type { KeptReport } from "../../../src/proxy-health/judgement";
import type { NodeStorage, StoredFacts, NodeWatch } from "../../../src/proxy-health/node-storage";
import type { Cursor, LocalCounts, ServiceCheck } from "../../../src/proxy-health/pushed/shard-change";
import { Journal, JournaledMap } from "../sim/platform/journal";

export class MemoryNodeStorage implements NodeStorage {
  readonly #reports: JournaledMap<[string, KeptReport]>;
  readonly #facts: JournaledMap<[string, StoredFacts]>;
  readonly #counts: JournaledMap<[string, LocalCounts]>;
  readonly #watch: JournaledMap<NodeWatch>;
  readonly #cursor: JournaledMap<Cursor>;
  readonly #checks: JournaledMap<readonly ServiceCheck[]>;
  writes = 0;

  constructor(readonly journal = new Journal()) {
    this.#reports = new JournaledMap(journal);
    this.#facts = new JournaledMap(journal);
    this.#counts = new JournaledMap(journal);
    this.#watch = new JournaledMap(journal);
    this.#cursor = new JournaledMap(journal);
    this.#checks = new JournaledMap(journal);
  }

  /** The function brings back what there is now. */
  remembered(): () => void {
    const maps = [this.#reports, this.#facts, this.#counts, this.#watch, this.#cursor, this.#checks];
    const back = maps.map((map) => map.remembered());
    return () => back.forEach((one) => one());
  }

  transaction<T>(work: () => T): T {
    return this.journal.transaction(work);
  }

  reports(): Iterable<[string, KeptReport]> {
    return this.#reports.values();
  }

  reportPut(node: string, kept: KeptReport): void {
    this.writes++;
    this.#reports.set(node, [node, kept]);
  }

  reportDelete(node: string): void {
    this.writes++;
    this.#reports.delete(node);
  }

  facts(): Iterable<[string, StoredFacts]> {
    return this.#facts.values();
  }

  factsPut(node: string, facts: StoredFacts): void {
    this.writes++;
    this.#facts.set(node, [node, facts]);
  }

  nodeDelete(node: string): void {
    this.writes++;
    this.#reports.delete(node);
    this.#facts.delete(node);
    this.#counts.delete(node);
  }

  counts(): Iterable<[string, LocalCounts]> {
    return this.#counts.values();
  }

  countsPut(node: string, counts: LocalCounts): void {
    this.writes++;
    if (Object.keys(counts).length > 0) this.#counts.set(node, [node, counts]);
    else this.#counts.delete(node);
  }

  cursorLoad(): Cursor | undefined {
    return this.#cursor.get("");
  }

  cursorPut(cursor: Cursor): void {
    this.writes++;
    this.#cursor.set("", cursor);
  }

  checksLoad(): readonly ServiceCheck[] | undefined {
    return this.#checks.get("");
  }

  checksPut(checks: readonly ServiceCheck[]): void {
    this.writes++;
    this.#checks.set("", checks);
  }

  watchLoad(): NodeWatch | undefined {
    return this.#watch.get("");
  }

  watchPut(watch: NodeWatch): void {
    this.writes++;
    this.#watch.set("", watch);
  }
}
