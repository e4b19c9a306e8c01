import type { RepairedStore, Progress, RepairStorage, Tries } from "../../../src/addresses/repair/repair-ports";
import { addressCounts, nodePortCounts } from "../../../src/addresses/repair/repair-counts";
import type { RepairCounts } from "../../../src/addresses/rpc/repair";

/** RepairStorage in memory; counts what is written, since a healthy pass writes next to nothing. */
export class MemoryRepairStorage implements RepairStorage {
  readonly suspects = new Map<string, number>();
  readonly counts = new Map<string, number>();
  readonly #progress = new Map<RepairedStore, Progress>();
  readonly #numbers = new Map<string, number>();
  readonly #tries = new Map<string, Tries>();

  progressLoad(what: RepairedStore): Progress {
    return structuredClone(this.#progress.get(what) ?? { cursor: undefined, sweptTo: "", urgent: true });
  }

  progressSave(what: RepairedStore, progress: Progress): void {
    this.#progress.set(what, structuredClone(progress));
  }

  numberGet(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  numberSet(name: string, value: number): void {
    this.#numbers.set(name, value);
  }

  suspectPut(id: string, dueAt: number, tries = this.suspectTries(id)): void {
    this.suspects.set(id, Math.min(dueAt, this.suspects.get(id) ?? Infinity));
    this.#tries.set(id, { ...tries });
  }

  suspectTries(id: string): Tries {
    return { ...(this.#tries.get(id) ?? { attempts: 0, toldAt: 0 }) };
  }

  suspectsTake(nowMs: number, limit: number, leaseUntil: number): string[] {
    const due = [...this.suspects]
      .filter(([, dueAt]) => dueAt <= nowMs)
      .sort(([, a], [, b]) => a - b)
      .slice(0, limit);
    for (const [id] of due) this.suspects.set(id, leaseUntil);
    return due.map(([id]) => id);
  }

  suspectsDone(leaseUntil: number): void {
    for (const [id, dueAt] of this.suspects) {
      if (dueAt !== leaseUntil) continue;
      this.suspects.delete(id);
      this.#tries.delete(id);
    }
  }

  suspectEarliest(): number | undefined {
    return this.suspects.size > 0 ? Math.min(...this.suspects.values()) : undefined;
  }

  countsLoad(): Pick<RepairCounts, "ipErrors" | "reconcileErrors"> {
    return addressCounts(this.counts);
  }

  nodePortCountsLoad(): RepairCounts["nodePorts"] {
    return nodePortCounts(this.counts);
  }

  count(type: string, by: number): void {
    this.counts.set(type, (this.counts.get(type) ?? 0) + by);
  }
}
