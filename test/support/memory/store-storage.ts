import type { StoredObject } from "../../../src/api/store/state/store-storage";
import { Journal, SimulatedCrash } from "../sim/platform/journal";
import { SimStoreStorage } from "../sim/platform/store-storage";

/**
 * The rows of one StoreEngine in memory, with the faults of a real database. It outlives the store over it: a restart is a new
 * StoreEngine on the same storage.
 */
export class MemoryStoreStorage extends SimStoreStorage {
  /** the next outermost transaction that writes is lost (nothing kept), or kept although its caller sees an error */
  crashNext: "beforeCommit" | "afterCommit" | undefined;
  /** each write of the object with this key is undone, once all of it is written; its turn goes on */
  undoneKey: string | undefined;
  #mustUndo = false;
  readonly #journal: Journal;
  #held: { resolve(): void; reject(error: Error): void }[] | undefined;
  #isGone = false;

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

  override objectPut(object: StoredObject): void {
    super.objectPut(object);
    this.#mustUndo ||= object.key === this.undoneKey;
  }

  override transaction<T>(work: () => T): T {
    return super.transaction(() => {
      const answer = work();
      if (!this.#mustUndo) return answer;
      this.#mustUndo = false;
      throw new Error("this write fails");
    });
  }

  /** Resolves at once, unless the test holds it back or fails it. */
  override sync(): Promise<void> {
    if (this.#isGone) return Promise.reject(new Error("the disk is gone"));
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

  /** Fails what waits and all that comes, as the platform does after a commit that failed. */
  failSync(): void {
    this.#isGone = true;
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { reject } of held) reject(new Error("the disk is gone"));
  }

  /** The next object finds a storage that works again. */
  repairSync(): void {
    this.#isGone = false;
  }

  #crashIf(point: "beforeCommit" | "afterCommit"): void {
    if (this.crashNext !== point) return;
    this.crashNext = undefined;
    throw new SimulatedCrash(point);
  }
}
