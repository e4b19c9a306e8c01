import { Journal, SimulatedCrash } from "../sim/platform/journal";
import { SimStoreStorage } from "../sim/platform/store-storage";

/**
 * The rows of one StoreEngine in memory, with the faults of a real database. It outlives the store over it: a restart is a new
 * StoreEngine on the same storage.
 */
export class MemoryStoreStorage extends SimStoreStorage {
  /** the next outermost transaction that writes is lost (nothing kept), or kept although its caller sees an error */
  crashNext: "beforeCommit" | "afterCommit" | undefined;
  readonly #journal: Journal;
  #held: { resolve(): void; reject(error: Error): void }[] | undefined;

  constructor() {
    const journal = new Journal();
    super(journal);
    this.#journal = journal;
    journal.gate = { beforeCommit: () => this.#crashIf("beforeCommit"), afterCommit: () => this.#crashIf("afterCommit") };
  }

  /** outermost transactions that were kept and wrote something: what would cost a disk sync */
  get commits(): number {
    return this.#journal.commits;
  }

  /** Resolves at once, unless the test holds it back. */
  override sync(): Promise<void> {
    const held = this.#held;
    return held ? new Promise((resolve, reject) => held.push({ resolve, reject })) : Promise.resolve();
  }

  /** From now on nothing becomes durable until `releaseSync` or `failSync`. */
  holdSync(): void {
    this.#held ??= [];
  }

  releaseSync(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { resolve } of held) resolve();
  }

  failSync(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { reject } of held) reject(new Error("the disk is gone"));
  }

  #crashIf(point: "beforeCommit" | "afterCommit"): void {
    if (this.crashNext !== point) return;
    this.crashNext = undefined;
    throw new SimulatedCrash(point);
  }
}
