/**
 * The facts that an object knows of its nodes besides their reports. The controller sent them, or the object found the Node in the store before that.
 */
import type { Family } from "../core/net/family";
import { semanticEqual } from "../api/meta/equality";
import type { NodeFacts } from "./rules/eligibility";
import type { KeptReport } from "./judgement";
import type { NodeStorage, StoredFacts } from "./node-storage";
import {
  compareCursors,
  type Cursor,
  type LocalCounts,
  type PushedNode,
  sameCursor,
  type ServiceCheck,
  type ShardChange,
} from "./pushed/shard-change";

/** A Service with a check: by its healthCheckNodePort, or by its name. */
export type AskedService = { readonly port: number } | { readonly namespace: string; readonly name: string };

/** A creationTimestamp has whole seconds, rounded down. */
const CREATED_WITHIN_MS = 1_000;

type LastReport = Pick<KeptReport, "reportedAt">;

type Storage = Pick<
  NodeStorage,
  | "transaction"
  | "reportDelete"
  | "facts"
  | "factsPut"
  | "counts"
  | "countsPut"
  | "nodeDelete"
  | "cursorLoad"
  | "cursorPut"
  | "checksLoad"
  | "checksPut"
>;

export class ToldNodes {
  readonly #facts: Map<string, StoredFacts>;
  readonly #counts: Map<string, LocalCounts>;
  #checks: readonly ServiceCheck[] | undefined;
  #cursor: Cursor | undefined;

  constructor(private readonly storage: Storage) {
    this.#facts = new Map(storage.facts());
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

  /** Whether the controller ever told of checks. */
  get knowsChecks(): boolean {
    return this.#checks !== undefined;
  }

  /** The check of a Service, by its port or its name. */
  checkOf(asked: AskedService): ServiceCheck | undefined {
    return this.#checks?.find(({ namespace, name, port }) =>
      "port" in asked ? port === asked.port : name === asked.name && namespace === asked.namespace,
    );
  }

  /** Endpoints of the Service on the node. */
  countOf(node: string, { namespace, name }: ServiceCheck, family: Family): number {
    return this.#counts.get(node)?.[`${namespace}/${name}`]?.[family] ?? 0;
  }

  /** Whether the controller told of the name, which it does once more when its Node goes. */
  isTold(name: string): boolean {
    const facts = this.#facts.get(name);
    return facts !== undefined && !facts.isUntold;
  }

  /** Names of Nodes that were found in their store, and of which the controller has not told. */
  get untold(): string[] {
    return [...this.#facts].flatMap(([name, { isUntold }]) => (isUntold ? [name] : []));
  }

  /** A Node that was found is gone again. */
  lost(name: string): void {
    this.storage.nodeDelete(name);
    this.#forget(name);
  }

  /**
   * Keeps a Node of the store that the controller has not sent. Answers true when the last report is dropped, because it is of an earlier Node of the
   * name.
   */
  found(name: string, facts: NodeFacts, report: LastReport | undefined, now: number): boolean {
    const stored = { ...facts, isUntold: true } as const;
    if (semanticEqual(stored, this.#facts.get(name))) return false;
    const endsReport = this.#isEarlier(name, report, facts, now);
    const { storage } = this;
    storage.transaction(() => {
      if (endsReport) storage.reportDelete(name);
      storage.factsPut(name, stored);
    });
    this.#facts.set(name, stored);
    return endsReport;
  }

  /**
   * Takes a change, unless it is older than what is known or has a gap. Answers the names whose reports go: their Nodes are gone, or others now;
   * undefined = there is a gap. A Node that was found stays: the controller may not have heard of it, and its store says when it is gone.
   *
   * @param isAnswer it answers a question that was asked with today's cursor, so it is newer whatever its cursor says
   */
  take(change: ShardChange, reports: ReadonlyMap<string, LastReport>, now: number, isAnswer: boolean): string[] | undefined {
    const own = this.#cursor;
    if (!isAnswer && own && compareCursors(change.to, own) <= 0) return [];
    if (change.from && !(own && sameCursor(own, change.from))) return undefined;
    const entries = new Map(Object.entries(change.nodes));
    if (!change.from) for (const name of [...this.#facts.keys(), ...reports.keys()]) if (!entries.has(name)) entries.set(name, null);
    const told: [string, PushedNode][] = [];
    const gone: string[] = [];
    for (const [name, entry] of entries) {
      if (entry) told.push([name, entry]);
      else if (!this.#facts.get(name)?.isUntold) gone.push(name);
    }
    const ended = [...gone, ...told.flatMap(([name, { facts }]) => (this.#isEarlier(name, reports.get(name), facts, now) ? [name] : []))];
    const { storage } = this;
    storage.transaction(() => {
      for (const name of gone) storage.nodeDelete(name);
      for (const [name, entry] of told) this.#store(name, entry, ended.includes(name));
      if (change.checks && (!this.#checks || !semanticEqual(change.checks, this.#checks))) storage.checksPut(change.checks);
      if (!own || !sameCursor(own, change.to)) storage.cursorPut(change.to);
    });
    for (const name of gone) this.#forget(name);
    for (const [name, { facts, counts }] of told) {
      this.#facts.set(name, facts);
      if (counts) this.#counts.set(name, counts);
    }
    this.#checks = change.checks ?? this.#checks;
    this.#cursor = change.to;
    return ended;
  }

  /**
   * Whether the report is of an earlier Node of the name. The agent of this one may have reported before anybody told of it. In doubt it is: an agent
   * reports again, and the silence of one that is gone would last. So it is within the second of the creation, and where the clock was set back since.
   */
  #isEarlier(name: string, report: LastReport | undefined, { uid, createdAt = Infinity }: NodeFacts, now: number): boolean {
    const known = this.#facts.get(name)?.uid;
    if (report === undefined || known === undefined || known === uid) return false;
    return report.reportedAt < createdAt + CREATED_WITHIN_MS || report.reportedAt > now;
  }

  #store(name: string, { facts, counts }: PushedNode, endsReport: boolean): void {
    if (endsReport) this.storage.reportDelete(name);
    if (!semanticEqual(facts, this.#facts.get(name))) this.storage.factsPut(name, facts);
    if (counts && !semanticEqual(counts, this.#counts.get(name))) this.storage.countsPut(name, counts);
  }

  #forget(name: string): void {
    this.#facts.delete(name);
    this.#counts.delete(name);
  }
}
