import type { QuotaStorage } from "../../../src/api/store/quota/quota-guard";
import type { QuotaMarks } from "../../../src/controllers/quotas/quota-pushes";
import { Journal, JournaledMap } from "../sim/platform/journal";

type Progress = NonNullable<ReturnType<QuotaStorage["quotaProgress"]>>;

/** The tables of quotas in memory; they share a journal with the other tables of their store. */
export class MemoryQuotaStorage implements QuotaStorage, QuotaMarks {
  readonly limits: JournaledMap<Record<string, string>>;
  readonly #progress: JournaledMap<Progress>;
  readonly #marks: JournaledMap<number>;
  readonly #states: JournaledMap<string>;

  constructor(journal = new Journal()) {
    this.limits = new JournaledMap(journal);
    this.#progress = new JournaledMap(journal);
    this.#marks = new JournaledMap(journal);
    this.#states = new JournaledMap(journal);
  }

  quotaProgress(): Progress | undefined {
    return this.#progress.get("");
  }

  quotaProgressSave(progress: Progress): void {
    this.#progress.set("", progress);
  }

  quotaLoad(): { key: string; hard: Record<string, string> }[] {
    return this.limits.keys().map((key) => ({ key, hard: { ...this.limits.get(key) } }));
  }

  quotaPut(key: string, hard: Record<string, string>): void {
    this.limits.set(key, { ...hard });
  }

  quotaDelete(key: string): void {
    this.limits.delete(key);
  }

  /** The function brings back what there is now. */
  remembered(): () => void {
    const maps = [this.limits.remembered(), this.#progress.remembered(), this.#marks.remembered(), this.#states.remembered()];
    return () => {
      for (const back of maps) back();
    };
  }

  markGet(name: string): number {
    return this.#marks.get(name) ?? 0;
  }

  markSet(name: string, revision: number): void {
    this.#marks.set(name, revision);
  }

  stateGet(name: string): string {
    return this.#states.get(name) ?? "";
  }

  stateSet(name: string, state: string): void {
    this.#states.set(name, state);
  }
}
