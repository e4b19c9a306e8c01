/**
 * The brain of one store: the API objects of one resource of one cluster, their revisions, history and watchers.
 *
 * Invariants
 * - One writer: everything goes through `#turn`, which decides all operations of an event-loop turn in one transaction
 *   (group commit). Each operation keeps its own checks and its own result (write-decider.ts). While others wait, a turn waits for the last commit
 *   (rule 24, commit-pace.ts).
 * - Revision, floor and history are durable with the change (revisions.ts has the exception).
 * - Watchers hear of a turn only after it is durable, in order (announcer.ts).
 * - Observers hear of a turn after its transaction, and cannot change its outcome (observer.ts).
 *
 * A crash before the end of the transaction leaves nothing. A crash after it leaves everything, the extension's rows included.
 */
import { assert } from "../../../core/base/assert";
import { Batcher, type BatchCounters, COMMIT_LOST } from "../../../core/turns/batch";
import { OPERATION_DEADLINE_MS } from "../../../core/base/limits";
import type { Clock, Random, Recorder } from "../../../core/base/ports";
import { expired, internalError, notFound, overloaded, revisionTooLarge, serviceUnavailable } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { GetResult, ObjectKey, WriteRequest, WriteResult } from "../../rpc/store";
import { Announcer } from "./announcer";
import { RecentReaders } from "./recent-readers";
import { storageKey } from "../state/keys";
import { STORE_OPERATIONS_MAX, STORE_QUEUE_MAX } from "../state/limits";
import { PendingWrite } from "../write/pending-write";
import { ReservedKeys } from "../write/reserved-keys";
import { beginningAbove } from "../state/revision-gaps";
import type { StoreObserver } from "../state/observer";
import { Revisions, type RevisionsPorts } from "../state/revisions";
import { type HistoryReader, StorageFault, type StoreStorage } from "../state/store-storage";
import { type StoreTurn, turnOver } from "../state/store-turn";
import type { WatchHub } from "../hub/watch-hub";
import { type DeciderPorts, WriteDecider, type WriteOutcome } from "../write/write-decider";

export interface StoreOptions<Supply> extends DeciderPorts<Supply>, RevisionsPorts<Supply> {
  recorder: Recorder;
  /** told in this order */
  observers: readonly StoreObserver[];
  /** Ends the object: a commit was lost. Its next request starts it from what is stored. */
  abort(reason: string): void;
}

interface InternalWork {
  run(turn: StoreTurn): unknown;
}

type OperationOutcome = WriteOutcome | { kind: "value"; value: unknown };

type Job<Supply> = PendingWrite<Supply> | InternalWork;

export class StoreEngine<Supply = undefined> {
  readonly definition: ResourceDefinition;
  readonly hub: WatchHub;
  readonly #options: StoreOptions<Supply>;
  readonly #batcher: Batcher<Job<Supply>, OperationOutcome>;
  readonly #revisions: Revisions<Supply>;
  readonly #reserved = new ReservedKeys<Supply>();
  readonly #decider: WriteDecider<Supply>;
  readonly #announcer: Announcer;
  readonly #readers: RecentReaders;
  /** client writes begun and not yet answered */
  #underWay = 0;
  #counting: Promise<void> | undefined;

  constructor(options: StoreOptions<Supply>) {
    this.#options = options;
    this.definition = options.definition;
    this.#readers = new RecentReaders(options.clock, () => this.hub.watchedAt);
    this.#revisions = new Revisions({ ...options, isRead: () => this.#readers.are });
    // The watches of the object before come back.
    if (!this.#revisions.isNew) this.#readers.note();
    this.#decider = new WriteDecider(options, this.#revisions, this.#reserved);
    this.#announcer = new Announcer({ ...options, resource: this.definition.resource }, this.revision);
    this.hub = this.#announcer.hub;
    this.#batcher = new Batcher<Job<Supply>, OperationOutcome>({
      clock: options.clock,
      apply: (jobs) => this.#turn(jobs),
      refuse: () => ({ kind: "done", result: tooMany() }),
      onFailure: (error) => this.#reload(error),
      queueWeightMax: STORE_QUEUE_MAX,
      // An operation with a supply was admitted before: it must reach the turn that uses the supply or gives it back.
      weigh: (job) => ("run" in job || job.supply === undefined ? 1 : 0),
      commits: {
        // Shares the sync of the announcement, and the next turn begins behind it.
        durable: () => this.#announcer.after(() => undefined),
        unbegun: () => ({ kind: "done", result: lostBefore() }),
        end: (error) => this.#end(error),
      },
    });
  }

  /** Totals of the group commit, for metrics: drains, operations, … */
  get counters(): BatchCounters {
    return this.#batcher.counters;
  }

  get incarnation(): string {
    return this.#revisions.incarnation;
  }

  /** The newest revision, durable or about to be. */
  get revision(): number {
    return this.#revisions.newest;
  }

  /** Nothing was ever written. */
  get isUntouched(): boolean {
    return this.#revisions.isUntouched;
  }

  /** Nothing was ever written but what a new store gets. */
  get hasInitialAlone(): boolean {
    return this.#revisions.hasInitialAlone;
  }

  /** Whether a client has the revision from another life of the store (rule 32): it is 410, whatever is asked for. */
  readonly isOfAnotherLife = (revision: number): boolean => this.#revisions.isOfAnotherLife(revision);

  /** Changes up to this revision are no longer in the history. */
  get floor(): number {
    return this.#revisions.floor;
  }

  /** Lists go on at this revision or a later one. */
  get listFloor(): number {
    return this.#revisions.listFloor;
  }

  /** The floor of the changes that are always on the disk (revisions.ts). */
  get writtenFloor(): number {
    return this.#revisions.writtenFloor;
  }

  /** Every retained change. */
  get history(): HistoryReader {
    return this.#revisions.history;
  }

  get storage(): StoreStorage {
    return this.#options.storage;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get random(): Random {
    return this.#options.random;
  }

  /** Runs one client write to its end. Never rejects for a reason that a client could cause. */
  async write(request: WriteRequest): Promise<WriteResult> {
    if (this.#underWay >= STORE_OPERATIONS_MAX) return tooMany();
    this.#underWay++;
    const operation = new PendingWrite<Supply>(request, this.#options.clock.now() + OPERATION_DEADLINE_MS);
    try {
      let outcome = await this.#batcher.submit(operation);
      while (outcome.kind === "wait" || outcome.kind === "reserved") {
        if (outcome.kind === "wait") operation.refusal = await outcome.supply();
        else await outcome.by;
        outcome = await this.#batcher.submit(operation);
      }
      assert(outcome.kind === "done", "a write ends with a result");
      await this.#options.extension?.settled?.(operation);
      return outcome.result;
    } finally {
      this.#underWay--;
      this.#options.extension?.ended?.(operation);
      this.#reserved.release(operation);
      operation.end();
    }
  }

  /** Runs `work` in the next turn, in its transaction; its changes get history and events like any others. */
  async internally<T>(work: (turn: StoreTurn) => T): Promise<T> {
    const outcome = await this.#batcher.submit({ run: work });
    if (outcome.kind === "value") return outcome.value as T;
    throw new Error("the store takes no work: its queue is full, or a commit was lost");
  }

  /**
   * What a read at `resourceVersion` waits for before it is answered; undefined = nothing. Afterwards the store has reached the revision, or the
   * read is refused.
   */
  waitFor(resourceVersion: string): Promise<void> | undefined {
    const wanted = Number(resourceVersion || "0");
    return wanted > this.revision ? this.#announcer.awaited.wait(wanted) : undefined;
  }

  /** One object; `resourceVersion` "" or "0" = newest, "N" = at least N. */
  get(key: ObjectKey, resourceVersion: string): GetResult {
    const wanted = Number(resourceVersion || "0");
    if (wanted > this.revision) return { ok: false, status: revisionTooLarge(resourceVersion, this.revision) };
    if (this.isOfAnotherLife(wanted)) return { ok: false, status: expired(`too old resource version: ${wanted} (${this.floor})`) };
    const stored = this.#options.storage.objectGet(storageKey(key));
    if (!stored) return { ok: false, status: notFound(this.definition, key.name) };
    return { ok: true, object: stored.data };
  }

  /** A client has listed: it may come to watch from what it was given. */
  noteList(): void {
    this.#readers.note();
  }

  /** How many objects a namespace has ("" = all have); undefined until `counted` has resolved, in a store that an earlier release wrote. */
  countIn(namespace: string): number | undefined {
    return this.#revisions.countIn(namespace);
  }

  /** Resolves when all objects are counted: in an old store after some turns, between which it does its other work. Rejects with a storage that fails. */
  counted(): Promise<void> {
    return (this.#counting ??= this.#countAll().finally(() => (this.#counting = undefined)));
  }

  /** Runs `work` once everything committed so far is durable and published; later publications come after it. */
  afterPublication(work: () => void): Promise<void> {
    return this.#announcer.after(work);
  }

  /**
   * Begins above what clients of the data can have seen (rule 32). `head` was the newest revision in the data, `asOf` is their time in milliseconds
   * since the epoch. Durable when it answers with the revision of the beginning; undefined = there are no revisions left, nothing changed. With a
   * `head` the data are to be written into this store, and what it holds gets new revisions. Without one they are what the store holds. A repeat
   * changes nothing where the store begins above already. Watches end and come back.
   */
  async beginAbove(head: number | undefined, asOf: number): Promise<number | undefined> {
    const { clock } = this.#options;
    const beginning = await this.internally(() => {
      const revisions = this.#revisions;
      const wanted = beginningAbove(head ?? this.revision, asOf, clock.now());
      if (wanted === undefined) return undefined;
      const isThere = head !== undefined && revisions.beginning >= wanted;
      if (!isThere) revisions.beginLife(wanted, head !== undefined);
      return revisions.beginning;
    });
    if (beginning !== undefined) await this.afterPublication(() => this.hub.beginAt(beginning));
    return beginning;
  }

  /** Drops history beyond the bounds, as much as one turn may; the hourly tail of the trimming at write time. Answers whether there may be more. */
  compact(): boolean {
    return this.#betweenTurns(() => this.#revisions.compact());
  }

  async #countAll(): Promise<void> {
    while (!this.#betweenTurns(() => this.#revisions.countMore())) await this.#options.clock.nextTurn();
  }

  #betweenTurns<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#reload(error);
      throw error;
    }
  }

  /** All operations of one turn of the event loop: one transaction, hence one disk sync. */
  #turn(jobs: readonly Job<Supply>[]): OperationOutcome[] {
    const { storage, extension } = this.#options;
    const revisions = this.#revisions;
    const outcomes = storage.transaction(() => {
      const decided = jobs.map((job) => this.#isolated(job));
      if (revisions.changed) {
        revisions.seal();
        extension?.sealTurn?.();
      }
      extension?.turnEnding?.();
      return decided;
    });
    const { entries, committed } = revisions.takeChanges();
    if (entries.length > 0) this.#announcer.announce(entries);
    extension?.turnCommitted?.();
    if (committed.length > 0) this.#tellObservers((observer) => observer.turnCommitted(committed));
    return outcomes;
  }

  /** What an observer throws is logged; neither the turn nor another observer notices. */
  #tellObservers(tell: (observer: StoreObserver) => void): void {
    const { observers, recorder } = this.#options;
    for (const observer of observers) {
      try {
        tell(observer);
      } catch (error) {
        recorder.log("error", "an observer of a store failed", { resource: this.definition.resource, error: String(error) });
      }
    }
  }

  /** One job in its own savepoint: what it throws is its own 500 and undoes only what it wrote. */
  #isolated(job: Job<Supply>): OperationOutcome {
    const { extension, recorder, storage } = this.#options;
    const savepoint = this.#revisions.savepoint();
    try {
      return storage.transaction(() => ("run" in job ? this.#runInternal(job) : this.#decider.decide(job)));
    } catch (error) {
      this.#revisions.undo(savepoint);
      extension?.writeUndone?.();
      // The server's own work does not throw unless something is broken: then the whole turn is given up and memory built anew. So is the turn of
      // a storage that failed: it may have undone more than this job.
      if ("run" in job || error instanceof StorageFault) throw error;
      recorder.log("error", "write failed", { resource: this.definition.resource, error: String(error) });
      return storage.transaction(() => this.#decider.refuse(job, internalError("the write could not be carried out")));
    }
  }

  #runInternal(work: InternalWork): OperationOutcome {
    return { kind: "value", value: work.run(turnOver(this.#options.storage, this.#revisions)) };
  }

  #end(error: unknown): void {
    this.#options.recorder.log("error", COMMIT_LOST, { resource: this.definition.resource, error: String(error) });
    this.#options.abort(COMMIT_LOST);
  }

  #reload(error: unknown): void {
    this.#options.recorder.log("error", "a turn was lost", { resource: this.definition.resource, error: String(error) });
    this.#revisions.reload();
    this.#readers.note();
    // It is unknown whether the transaction was kept: watchers come back and read the history.
    this.hub.endAll();
    this.#options.extension?.turnLost?.();
    this.#tellObservers((observer) => observer.turnLost?.());
  }
}

/** Of a write that had not begun, or of which only the addresses were taken: those are found by the audit of their owners. */
function lostBefore(): WriteResult {
  return { ok: false, status: serviceUnavailable("the server is currently unable to handle the request", 1), warnings: [] };
}

function tooMany(): WriteResult {
  return { ok: false, status: overloaded(), warnings: [] };
}
