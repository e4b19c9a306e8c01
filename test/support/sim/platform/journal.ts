import { isRareStep, type ProtocolStep } from "../protocol-steps";

/** A crash in the middle of the object's own code: whatever it was doing is over. */
export class SimulatedCrash extends Error {
  override name = "SimulatedCrash";
}

/** What a transaction does in the protocol, as far as it was noted. */
export interface CommitSteps {
  /** one of them is of the rare ones */
  isRare: boolean;
  /** asked for only when something befalls the transaction */
  all(): Iterable<ProtocolStep>;
}

export function commitStepsOf(noted: ReadonlySet<ProtocolStep>): CommitSteps {
  return { isRare: [...noted].some(isRareStep), all: () => noted };
}

/** Where an object may die; each may throw. */
export interface CommitGate {
  /** before an outermost transaction that wrote something is kept */
  beforeCommit?(steps: CommitSteps): void;
  /** after it was kept, when nobody can know yet */
  afterCommit?(steps: CommitSteps): void;
}

/**
 * The transaction of one object's in-memory tables: each write records how it is undone, a nested transaction is a savepoint. What was
 * written outlives the object over it, as a Durable Object's database does.
 */
export class Journal {
  gate: CommitGate = {};
  /** outermost transactions that were kept and wrote something: what would cost a disk sync */
  commits = 0;
  #undo: (() => void)[] | undefined;
  #steps: Set<ProtocolStep> = new Set();

  transaction<T>(work: () => T): T {
    const outer = this.#undo;
    const undo: (() => void)[] = [];
    if (outer === undefined) this.#steps = new Set();
    const steps = this.#steps;
    this.#undo = undo;
    let result: T;
    try {
      result = work();
      if (outer === undefined && undo.length > 0) this.gate.beforeCommit?.(commitStepsOf(steps));
    } catch (error) {
      for (const back of undo.reverse()) back();
      throw error;
    } finally {
      this.#undo = outer;
    }
    if (outer !== undefined) outer.push(...undo);
    else if (undo.length > 0) {
      this.commits++;
      this.gate.afterCommit?.(commitStepsOf(steps));
    }
    return result;
  }

  /** Says what the open transaction does. */
  note(step: ProtocolStep): void {
    this.#steps.add(step);
  }

  /** Whether somebody has said that the open transaction does this. */
  does(step: ProtocolStep): boolean {
    return this.#steps.has(step);
  }

  /** To be called with each write, which outside a transaction is one by itself. */
  wrote(undo: () => void): void {
    this.#undo?.push(undo);
  }
}

/** A map whose changes the journal can undo. */
export class JournaledMap<V> {
  readonly #map = new Map<string, V>();

  constructor(private readonly journal: Journal) {}

  get size(): number {
    return this.#map.size;
  }

  get(key: string): V | undefined {
    return this.#map.get(key);
  }

  has(key: string): boolean {
    return this.#map.has(key);
  }

  /** The function brings back what there is now, as point-in-time recovery does: no transaction undoes that. */
  remembered(): () => void {
    const then = [...this.#map];
    return () => {
      this.#map.clear();
      for (const [key, value] of then) this.#map.set(key, value);
    };
  }

  keys(): string[] {
    return [...this.#map.keys()];
  }

  values(): V[] {
    return [...this.#map.values()];
  }

  set(key: string, value: V): void {
    const before = this.#map.get(key);
    this.journal.wrote(() => (before === undefined ? this.#map.delete(key) : this.#map.set(key, before)));
    this.#map.set(key, value);
  }

  delete(key: string): void {
    const before = this.#map.get(key);
    if (before === undefined) return;
    this.journal.wrote(() => this.#map.set(key, before));
    this.#map.delete(key);
  }
}
