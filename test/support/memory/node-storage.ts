/** The NodeStorage port in memory, with a count of its writes. A new object on it is the old one after a restart. */
import type { KeptReport } from "../../../src/proxy-health/judgement";
import type { NodeStorage, Watch, StoredFacts } from "../../../src/proxy-health/node-storage";
import type { Cursor, LocalCounts, ServiceCheck } from "../../../src/proxy-health/pushed/shard-change";

export class MemoryNodeStorage implements NodeStorage {
  readonly #reports = new Map<string, KeptReport>();
  readonly #facts = new Map<string, StoredFacts>();
  readonly #counts = new Map<string, LocalCounts>();
  #watch: Watch | undefined;
  #cursor: Cursor | undefined;
  #checks: readonly ServiceCheck[] = [];
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

  facts(): Iterable<[string, StoredFacts]> {
    return this.#facts;
  }

  factsPut(node: string, facts: StoredFacts): void {
    this.writes++;
    this.#facts.set(node, facts);
  }

  nodeDelete(node: string): void {
    this.writes++;
    this.#reports.delete(node);
    this.#facts.delete(node);
    this.#counts.delete(node);
  }

  counts(): Iterable<[string, LocalCounts]> {
    return this.#counts;
  }

  countsPut(node: string, counts: LocalCounts): void {
    this.writes++;
    if (Object.keys(counts).length > 0) this.#counts.set(node, counts);
    else this.#counts.delete(node);
  }

  cursorLoad(): Cursor | undefined {
    return this.#cursor;
  }

  cursorPut(cursor: Cursor): void {
    this.writes++;
    this.#cursor = cursor;
  }

  checksLoad(): readonly ServiceCheck[] {
    return this.#checks;
  }

  checksPut(checks: readonly ServiceCheck[]): void {
    this.writes++;
    this.#checks = checks;
  }

  watchLoad(): Watch | undefined {
    return this.#watch;
  }

  watchPut(watch: Watch): void {
    this.writes++;
    this.#watch = watch;
  }
}
