/**
 * What an object knows of its nodes besides their reports: what the controller told, and Nodes that it found in their store before the controller told
 * of them.
 */
import type { Family } from "../core/net/family";
import { semanticEqual } from "../api/meta/equality";
import type { NodeFacts } from "../api/meta/proxy-health";
import type { NodeStorage, StoredFacts } from "./node-storage";
import {
  compareCursors,
  type Cursor,
  goesOnFrom,
  type LocalCounts,
  type PushedNode,
  type ServiceCheck,
  type ShardChange,
} from "./pushed/shard-change";

/** A Service with a check: by its healthCheckNodePort, or by its name. */
export type AskedService = { readonly port: number } | { readonly namespace: string; readonly name: string };

/** The controller may not have heard for so long of a Node that was found in its store. */
const FOUND_MS = 60_000;

type Storage = Pick<
  NodeStorage,
  "transaction" | "facts" | "factsPut" | "counts" | "countsPut" | "nodeDelete" | "cursorLoad" | "cursorPut" | "checksLoad" | "checksPut"
>;

export class ToldNodes {
  readonly #facts: Map<string, StoredFacts>;
  readonly #counts: Map<string, LocalCounts>;
  /** when Nodes were found in their store */
  readonly #foundAt = new Map<string, number>();
  #checks: readonly ServiceCheck[];
  #cursor: Cursor | undefined;

  constructor(private readonly storage: Storage) {
    this.#facts = new Map(storage.facts());
    for (const [name, { isUntold }] of this.#facts) if (isUntold) this.#foundAt.set(name, -Infinity);
    this.#counts = new Map(storage.counts());
    this.#checks = storage.checksLoad();
    this.#cursor = storage.cursorLoad();
  }

  /** undefined = the controller never told anything */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  /** undefined = there is no such Node, as far as is known */
  factsOf(name: string): NodeFacts | undefined {
    return this.#facts.get(name);
  }

  /** The check of a Service, by its port or its name. */
  checkOf(asked: AskedService): ServiceCheck | undefined {
    return this.#checks.find(({ namespace, name, port }) =>
      "port" in asked ? port === asked.port : name === asked.name && namespace === asked.namespace,
    );
  }

  /** Endpoints of the Service on the node. */
  countOf(node: string, { namespace, name }: ServiceCheck, family: Family): number {
    return this.#counts.get(node)?.[`${namespace}/${name}`]?.[family] ?? 0;
  }

  /** Whether the controller told of the name, which it does once more when its Node goes. */
  isTold(name: string): boolean {
    return this.#facts.has(name) && !this.#foundAt.has(name);
  }

  /** A Node that was found is gone again. */
  lost(name: string): void {
    this.storage.nodeDelete(name);
    this.#remember(name, null);
  }

  /** A Node that nobody told of. */
  found(name: string, facts: NodeFacts, now: number): void {
    const stored = { ...facts, isUntold: true } as const;
    this.storage.factsPut(name, stored);
    this.#facts.set(name, stored);
    this.#foundAt.set(name, now);
  }

  /**
   * Takes a change, unless it is older than what is known or has a gap. Answers the names whose reports go: their Nodes are gone, or others now.
   *
   * @param isAnswer it answers a question that was asked with today's cursor, so it is newer whatever its cursor says
   * @param others names that may be known besides: a whole state without them ends them, too
   */
  take(change: ShardChange, now: number, others: Iterable<string>, isAnswer = false): string[] {
    const own = this.#cursor;
    if (!isAnswer && own && compareCursors(change.to, own) <= 0) return [];
    if (!goesOnFrom(own, change)) return [];
    const entries = new Map(Object.entries(change.nodes));
    if (!change.from) {
      for (const name of [...this.#facts.keys(), ...others]) if (!entries.has(name) && !this.#isNew(name, now)) entries.set(name, null);
    }
    const ended = [...entries].flatMap(([name, entry]) => (this.#isOther(name, entry) ? [name] : []));
    const { storage } = this;
    storage.transaction(() => {
      for (const name of ended) storage.nodeDelete(name);
      for (const [name, entry] of entries) if (entry) this.#store(name, entry, ended.includes(name));
      if (change.checks && !semanticEqual(change.checks, this.#checks)) storage.checksPut(change.checks);
      storage.cursorPut(change.to);
    });
    for (const [name, entry] of entries) this.#remember(name, entry);
    this.#checks = change.checks ?? this.#checks;
    this.#cursor = change.to;
    return ended;
  }

  #isNew(name: string, now: number): boolean {
    const age = now - (this.#foundAt.get(name) ?? -Infinity);
    return age >= 0 && age < FOUND_MS;
  }

  /** Whether what is kept under the name is of no Node any more, or of an earlier one. */
  #isOther(name: string, entry: PushedNode | null): boolean {
    if (!entry) return true;
    const uid = this.#facts.get(name)?.uid;
    return uid !== undefined && uid !== entry.facts.uid;
  }

  #store(name: string, { facts, counts }: PushedNode, isNew: boolean): void {
    if (isNew || !semanticEqual(facts, this.#facts.get(name))) this.storage.factsPut(name, facts);
    if (!semanticEqual(counts, isNew ? {} : (this.#counts.get(name) ?? {}))) this.storage.countsPut(name, counts);
  }

  #remember(name: string, entry: PushedNode | null): void {
    this.#foundAt.delete(name);
    if (entry) {
      this.#facts.set(name, entry.facts);
      this.#counts.set(name, entry.counts);
    } else {
      this.#facts.delete(name);
      this.#counts.delete(name);
    }
  }
}
