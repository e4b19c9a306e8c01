/**
 * The brain of one store: the API objects of one resource of one cluster, their revisions, history and watchers.
 *
 * Invariants
 * - One writer: everything goes through `#turn`, which decides all operations of an event-loop turn in one transaction
 *   (group commit). Each operation keeps its own checks and its own result.
 * - Revision, floor and history are written in the transaction of the change (rule 22).
 * - A decision from before an await is made again after it (rule 7): an operation that left the turn comes back through `#decide`, which
 *   compares with the rows of that moment.
 * - Watchers hear of a turn only after it is durable, in order (rule 21).
 *
 * A crash before the end of the transaction leaves nothing. A crash after it leaves everything, the extension's rows included.
 */
import { assert } from "../../core/base/assert";
import { Batcher, type BatchCounters } from "../../core/base/batch";
import { HISTORY_ENTRIES_MAX, HISTORY_SIZE_MAX, HISTORY_TRIM_ENTRIES, STORE_OPERATIONS_MAX, STORE_QUEUE_MAX } from "./limits";
import { OPERATION_DEADLINE_MS } from "../../core/base/limits";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import type { KubeObject } from "../meta/kubernetes";
import { internalError, notFound, overloaded, revisionTooLarge, type Status, timeout } from "../meta/status";
import { rfc3339Seconds } from "../meta/time";
import { ownWriter, trackFields } from "./field-tracking";
import type { ResourceDefinition, StrategyContext } from "../registry/resource";
import type { GetResult, ObjectKey, WriteRequest, WriteResult } from "../rpc/store";
import type { Admission, CommittedChange, Operation, StoreExtension } from "./extension";
import { storageKey } from "./keys";
import type { NamespaceGuard } from "./namespace-guard";
import { isTooLarge, tooLarge } from "./object-size";
import { prepareWrite, type Prepared } from "./prepare";
import { type HistoryEntry, StorageFault, type StoredObject, type StoreState, type StoreStorage } from "./store-storage";
import { WatchHub } from "./watch-hub";

export interface StoreOptions<Supply> {
  definition: ResourceDefinition;
  /** the same objects as they are served under another group (events.k8s.io events) */
  representations: readonly ResourceDefinition[];
  storage: StoreStorage;
  clock: Clock;
  random: Random;
  recorder: Recorder;
  /** facts of the running server for strategies */
  context(): StrategyContext;
  extension?: StoreExtension<Supply>;
  /** namespaced kinds only: whether creating in a namespace is allowed now */
  namespaces?: NamespaceGuard;
  historyBounds?: HistoryBounds;
}

/** An operation with the result of its last turn: a turn that finds the same stored object reuses it. */
class PendingWrite<Supply> implements Operation<Supply> {
  supply: Supply | undefined;
  prepared: { baseRevision: number; value: Prepared } | undefined;
  /** set when the write can only be given up */
  refusal: Status | undefined;
  reservedKey = "";
  /** `closes` of the namespace guard when this operation asked it; -1 = it has not */
  askedAt = -1;

  constructor(
    readonly request: WriteRequest,
    readonly deadline: number,
  ) {}
}

/** Work of the server itself inside a store's turn. */
export interface StoreTurn {
  get(key: string): StoredObject | undefined;
  /** stores `object` as the next revision; creates or replaces by key */
  put(key: string, object: KubeObject): void;
  /** the same for a key that `get` has just found free */
  add(key: string, object: KubeObject): void;
  remove(key: string): void;
}

interface InternalWork {
  run(turn: StoreTurn): unknown;
}

type Outcome =
  | { kind: "done"; result: WriteResult }
  | { kind: "wait"; supply(): Promise<Status | undefined> }
  | { kind: "reserved"; by: Promise<unknown> }
  | { kind: "value"; value: unknown };

type Job<Supply> = PendingWrite<Supply> | InternalWork;

/** The revision of an empty store: a watch that follows its list reads "0" as "any". */
const FIRST_REVISION = 1;

/** Of the history; the default is what base/limits.ts says. */
export interface HistoryBounds {
  entriesMax: number;
  sizeMax: number;
  trimEntries: number;
}

const HISTORY_BOUNDS: HistoryBounds = { entriesMax: HISTORY_ENTRIES_MAX, sizeMax: HISTORY_SIZE_MAX, trimEntries: HISTORY_TRIM_ENTRIES };

export class StoreEngine<Supply = undefined> {
  readonly definition: ResourceDefinition;
  readonly hub: WatchHub;
  readonly #options: StoreOptions<Supply>;
  readonly #batcher: Batcher<Job<Supply>, Outcome>;
  readonly #reserved = new Map<string, { operation: PendingWrite<Supply>; done: Promise<unknown> }>();
  /** client writes begun and not yet answered */
  #underWay = 0;
  #state: StoreState;
  /** changes of the turn that is being decided */
  #changes: HistoryEntry[] = [];
  #publishing: Promise<void> = Promise.resolve();

  constructor(options: StoreOptions<Supply>) {
    this.#options = options;
    this.definition = options.definition;
    this.#state = options.storage.stateLoad() ?? this.#create();
    this.hub = new WatchHub(
      options.clock,
      this.#state.revision,
      (work) => this.afterPublication(work),
      (error) => this.#unpublished(error),
    );
    this.#batcher = new Batcher<Job<Supply>, Outcome>({
      clock: options.clock,
      apply: (jobs) => this.#turn(jobs),
      refuse: () => ({ kind: "done", result: tooMany() }),
      onFailure: (error) => this.#reload(error),
      queueWeightMax: STORE_QUEUE_MAX,
      // An operation with a supply was admitted before: it must reach the turn that uses the supply or gives it back.
      weigh: (job) => ("run" in job || job.supply === undefined ? 1 : 0),
    });
  }

  /** Totals of the group commit, for metrics: drains, operations, … */
  get counters(): BatchCounters {
    return this.#batcher.counters;
  }

  get incarnation(): string {
    return this.#state.incarnation;
  }

  /** The newest revision, durable or about to be. */
  get revision(): number {
    return this.#state.revision;
  }

  /** Changes up to this revision are no longer in the history. */
  get floor(): number {
    return this.#state.floor;
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
    let release: () => void = () => undefined;
    const done = new Promise<void>((resolve) => {
      release = resolve;
    });
    try {
      let outcome = await this.#submit(operation, done);
      while (outcome.kind === "wait" || outcome.kind === "reserved") {
        if (outcome.kind === "wait") operation.refusal = await outcome.supply();
        else await outcome.by;
        outcome = await this.#submit(operation, done);
      }
      assert(outcome.kind === "done", "a write ends with a result");
      await this.#options.extension?.settled?.(operation);
      return outcome.result;
    } finally {
      this.#underWay--;
      this.#options.extension?.ended?.(operation);
      if (this.#reserved.get(operation.reservedKey)?.operation === operation) this.#reserved.delete(operation.reservedKey);
      release();
    }
  }

  /** Runs `work` in the next turn, in its transaction; its changes get history and events like any others. */
  async internally<T>(work: (turn: StoreTurn) => T): Promise<T> {
    const outcome = await this.#batcher.submit({ run: work });
    if (outcome.kind === "value") return outcome.value as T;
    throw new Error("the store's queue is full");
  }

  /** One object; `resourceVersion` "" or "0" = newest, "N" = at least N. */
  get(key: ObjectKey, resourceVersion: string): GetResult {
    const wanted = Number(resourceVersion || "0");
    if (wanted > this.#state.revision) return { ok: false, status: revisionTooLarge(resourceVersion, this.#state.revision) };
    const stored = this.#options.storage.objectGet(storageKey(key));
    if (!stored) return { ok: false, status: notFound(this.definition, key.name) };
    return { ok: true, object: stored.data };
  }

  /** Runs `work` once everything committed so far is durable and published; later publications come after it. */
  afterPublication(work: () => void): Promise<void> {
    const next = this.#publishing.then(() => this.#options.storage.sync()).then(work);
    this.#publishing = next.catch(() => undefined);
    return next;
  }

  /** Drops history beyond the bounds; the hourly tail of the trimming at write time. */
  compact(): void {
    try {
      this.#options.storage.transaction(() => {
        if (this.#trimHistory()) this.#options.storage.stateSave(this.#state);
      });
    } catch (error) {
      this.#reload(error);
      throw error;
    }
  }

  #create(): StoreState {
    const { storage, random, clock } = this.#options;
    return storage.transaction(() => {
      this.#state = { incarnation: random.uuid(), revision: FIRST_REVISION, floor: FIRST_REVISION, historySize: 0 };
      const now = clock.now();
      for (const initial of this.definition.initialObjects) {
        const metadata = { ...initial.metadata, uid: random.uuid(), creationTimestamp: rfc3339Seconds(now) };
        const object = { ...initial, metadata };
        trackFields(ownWriter(this.definition), { after: object }, now);
        this.#put(storageKey({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" }), object, undefined, undefined);
      }
      storage.stateSave(this.#state);
      this.#changes = [];
      return this.#state;
    });
  }

  #submit(operation: PendingWrite<Supply>, done: Promise<unknown>): Promise<Outcome> {
    this.#doneOf.set(operation, done);
    return this.#batcher.submit(operation);
  }

  readonly #doneOf = new WeakMap<PendingWrite<Supply>, Promise<unknown>>();

  /** All operations of one turn of the event loop: one transaction, hence one disk sync. */
  #turn(jobs: readonly Job<Supply>[]): Outcome[] {
    const { storage, extension } = this.#options;
    this.#changes = [];
    const outcomes = storage.transaction(() => {
      const decided = jobs.map((job) => this.#isolated(job));
      if (this.#changes.length > 0) {
        this.#trimHistory();
        storage.stateSave(this.#state);
        extension?.sealTurn?.();
      }
      return decided;
    });
    if (this.#changes.length > 0) this.#publishLater(this.#changes);
    this.#changes = [];
    extension?.turnCommitted?.();
    return outcomes;
  }

  /** One job in its own savepoint: what it throws is its own 500 and undoes only what it wrote. */
  #isolated(job: Job<Supply>): Outcome {
    const state = { ...this.#state };
    const changes = this.#changes.length;
    try {
      return this.#options.storage.transaction(() => ("run" in job ? this.#runInternal(job) : this.#decide(job)));
    } catch (error) {
      this.#state = state;
      this.#changes.length = changes;
      this.#options.extension?.writeUndone?.();
      // The server's own work does not throw unless something is broken: then the whole turn is given up and memory built anew. So is the turn of
      // a storage that failed: it may have undone more than this job.
      if ("run" in job || error instanceof StorageFault) throw error;
      this.#options.recorder.log("error", "write failed", { resource: this.definition.resource, error: describe(error) });
      return this.#options.storage.transaction(() => this.#refuse(job, internalError("the write could not be carried out")));
    }
  }

  #runInternal(work: InternalWork): Outcome {
    const value = work.run({
      get: (key) => this.#options.storage.objectGet(key),
      put: (key, object) => void this.#put(key, object, this.#options.storage.objectGet(key), undefined),
      add: (key, object) => void this.#put(key, object, undefined, undefined),
      remove: (key) => {
        const before = this.#options.storage.objectGet(key);
        if (before) this.#remove(before, JSON.parse(before.data) as KubeObject, undefined);
      },
    });
    return { kind: "value", value };
  }

  /** Decides one write against what is stored now, and writes it if it may be written. */
  #decide(operation: PendingWrite<Supply>): Outcome {
    if (operation.refusal) return this.#refuse(operation, operation.refusal);
    const { clock, namespaces, storage } = this.#options;
    if (clock.now() > operation.deadline) return this.#refuse(operation, timeout("request did not complete within the allotted time"));
    const { request } = operation;
    const taken = (key: string): boolean => this.#isReserved(key, operation);
    const current = request.verb === "create" ? undefined : storage.objectGet(storageKey(request.key));
    const baseRevision = current?.revision ?? 0;
    if (namespaces && !current) {
      const waits = this.#checkNamespace(operation, namespaces);
      if (waits) return waits;
    }
    if (operation.prepared?.baseRevision !== baseRevision || request.verb === "delete") {
      const value = prepareWrite(request, current, { ...this.#options, exists: (key) => storage.objectGet(key), reserved: taken });
      operation.prepared = { baseRevision, value };
    }
    const prepared = operation.prepared.value;
    switch (prepared.kind) {
      case "refused":
        return this.#refuse(operation, prepared.status, prepared.warnings);
      case "unchanged":
        return this.#give(operation, { ok: true, code: 200, object: prepared.data, warnings: prepared.warnings, gone: false });
      case "put":
      case "remove":
        return this.#admit(operation, prepared, current);
    }
  }

  /** Why a create is refused in its namespace, or that the namespace has to be asked for. A PUT or apply that creates counts as a create. */
  #checkNamespace(operation: PendingWrite<Supply>, namespaces: NamespaceGuard): Outcome | undefined {
    const { request } = operation;
    if (!this.#mayCreate(request)) return undefined;
    const namespace = request.verb === "create" ? request.namespace : request.key.namespace;
    if (namespaces.isOpen(namespace)) return undefined;
    if (operation.askedAt !== namespaces.closes) {
      const ask = async (): Promise<undefined> => {
        await namespaces.learn(namespace);
        operation.askedAt = namespaces.closes;
      };
      return { kind: "wait", supply: ask };
    }
    const why = namespaces.refuses(namespace, this.definition, () =>
      request.verb === "create" ? nameIn(request.object) : request.key.name,
    );
    return why && this.#refuse(operation, why);
  }

  /** Whether the request makes an object where there is none. */
  #mayCreate(request: WriteRequest): boolean {
    switch (request.verb) {
      case "create":
        return true;
      case "update":
        return this.definition.allowCreateOnUpdate && request.subresource === "";
      case "patch":
        return request.patchType === "apply" && request.subresource === "";
      case "delete":
      case "act":
        return false;
    }
  }

  #admit(operation: PendingWrite<Supply>, prepared: Prepared & { kind: "put" | "remove" }, current: StoredObject | undefined): Outcome {
    const key = prepared.key;
    if (!current) {
      // A create of the same name is on its way: its outcome decides (hazard 15).
      const other = this.#reserved.get(key);
      if (other && other.operation !== operation) {
        // The other create has changed the rows: nothing computed before its end is valid.
        operation.prepared = undefined;
        return { kind: "reserved", by: other.done };
      }
      if (operation.supply !== undefined && this.#options.storage.objectGet(key)) {
        operation.prepared = undefined;
        return this.#decide(operation);
      }
    }
    const admission: Admission = this.#options.extension?.admit?.(
      { after: prepared.kind === "put" ? prepared.after : undefined, before: prepared.before, dryRun: prepared.dryRun },
      operation,
    ) ?? { kind: "go" };
    switch (admission.kind) {
      case "refuse":
        return this.#refuse(operation, admission.status, prepared.warnings);
      case "wait":
        if (!current) this.#reserve(key, operation);
        return admission;
      case "go":
        return this.#commit(operation, prepared, current);
    }
  }

  #commit(operation: PendingWrite<Supply>, prepared: Prepared & { kind: "put" | "remove" }, current: StoredObject | undefined): Outcome {
    if (prepared.kind === "remove") {
      const { dryRun, before, last = before, warnings } = prepared;
      if (dryRun || !current) return this.#give(operation, { ok: true, code: 200, object: JSON.stringify(last), warnings, gone: true });
      return {
        kind: "done",
        result: { ok: true, code: 200, object: this.#remove(current, before, operation, last), warnings, gone: true },
      };
    }
    const { after, dryRun, code, warnings } = prepared;
    if (dryRun) {
      const object = JSON.stringify(after);
      if (isTooLarge(object)) return this.#refuse(operation, tooLarge(), warnings);
      return this.#give(operation, { ok: true, code, object, warnings, gone: false });
    }
    const data = this.#put(prepared.key, after, current, operation, prepared.before);
    if (data === undefined) return this.#refuse(operation, tooLarge(), warnings);
    return { kind: "done", result: { ok: true, code, object: data, warnings, gone: false } };
  }

  #refuse(operation: PendingWrite<Supply>, status: Status, warnings: string[] = []): Outcome {
    return this.#give(operation, { ok: false, status, warnings });
  }

  /** Ends an operation that writes nothing: its supply is given back. */
  #give(operation: PendingWrite<Supply>, result: WriteResult): Outcome {
    if (operation.supply !== undefined) this.#options.extension?.abandon?.(operation);
    return { kind: "done", result };
  }

  /** Writes the object as the next revision; undefined = too large, nothing written. */
  #put(
    key: string,
    after: KubeObject,
    current: StoredObject | undefined,
    operation: Operation<Supply> | undefined,
    before?: KubeObject,
  ): string | undefined {
    const revision = this.#state.revision + 1;
    const metadata = (after.metadata ??= {});
    metadata.resourceVersion = String(revision);
    const data = JSON.stringify(after);
    // A row holds more than a client may send: the server's own marks of deletion and conditions always fit.
    const limited = operation !== undefined && operation.request.verb !== "delete";
    if (limited && isTooLarge(data)) return undefined;
    this.#state.revision = revision;
    const uid = metadata.uid ?? "";
    this.#options.storage.objectPut({ key, uid, revision, data });
    this.#record(
      { revision, type: current ? "MODIFIED" : "ADDED", key, data, before: current?.data ?? "" },
      uid,
      operation,
      after,
      before ?? parsed(current),
    );
    return data;
  }

  /** `last`: what watchers see. `before`: what was stored. They differ when an update removes the last finalizer and changes the object. */
  #remove(current: StoredObject, before: KubeObject, operation: Operation<Supply> | undefined, last = before): string {
    const revision = ++this.#state.revision;
    this.#options.storage.objectDelete(current.key);
    const data = JSON.stringify({ ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } });
    this.#record({ revision, type: "DELETED", key: current.key, data, before: current.data }, current.uid, operation, undefined, before);
    return data;
  }

  #record(entry: HistoryEntry, uid: string, operation: Operation<Supply> | undefined, after?: KubeObject, before?: KubeObject): void {
    this.#options.storage.historyAppend(entry);
    this.#state.historySize += entry.data.length + entry.before.length;
    this.#changes.push(entry);
    const { committed } = this.#options.extension ?? {};
    if (!committed) return;
    const change: CommittedChange = { type: entry.type, key: entry.key, uid, revision: entry.revision };
    if (after) change.after = after;
    if (before) change.before = before;
    this.#options.extension?.committed?.(change, operation);
  }

  #reserve(key: string, operation: PendingWrite<Supply>): void {
    operation.reservedKey = key;
    this.#reserved.set(key, { operation, done: this.#doneOf.get(operation) ?? Promise.resolve() });
  }

  #isReserved(key: string, by: PendingWrite<Supply>): boolean {
    const other = this.#reserved.get(key);
    return other !== undefined && other.operation !== by;
  }

  #publishLater(changes: readonly HistoryEntry[]): void {
    void this.afterPublication(() => this.hub.publish(changes)).catch((error: unknown) => {
      // The write was lost and the object is about to be reset; watchers resume from their last revision.
      this.#unpublished(error);
      this.hub.endAll();
    });
  }

  #unpublished(error: unknown): void {
    this.#options.recorder.log("error", "changes were not published", { resource: this.definition.resource, error: describe(error) });
  }

  #trimHistory(): boolean {
    const { storage, historyBounds = HISTORY_BOUNDS } = this.#options;
    const { entriesMax, sizeMax, trimEntries } = historyBounds;
    const entries = this.#state.revision - this.#state.floor;
    if (entries <= entriesMax && this.#state.historySize <= sizeMax) return false;
    const trim = entries > entriesMax ? entries - entriesMax + trimEntries : Math.min(trimEntries, entries - 1);
    this.#state.floor += trim;
    this.#state.historySize -= storage.historyTrim(this.#state.floor);
    return true;
  }

  #reload(error: unknown): void {
    this.#options.recorder.log("error", "a turn was lost", { resource: this.definition.resource, error: describe(error) });
    const state = this.#options.storage.stateLoad();
    assert(state, "a store that lives has its state stored");
    this.#state = state;
    this.#changes = [];
    // It is unknown whether the transaction was kept: watchers come back and read the history.
    this.hub.endAll();
    this.#options.extension?.turnLost?.();
  }
}

function tooMany(): WriteResult {
  return { ok: false, status: overloaded(), warnings: [] };
}

function parsed(stored: StoredObject | undefined): KubeObject | undefined {
  return stored && (JSON.parse(stored.data) as KubeObject);
}

function nameIn(object: string): string {
  return (JSON.parse(object) as KubeObject).metadata?.name ?? "";
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
