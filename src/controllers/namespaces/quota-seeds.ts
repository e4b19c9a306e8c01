/**
 * The store of Namespaces makes a ResourceQuota in each new namespace, in a cluster whose object says with which limits they start. In any other cluster a
 * new namespace costs a look into memory.
 *
 * - The quota that is owed is noted with its namespace, in one transaction, with an alarm. A death behind it leaves the note, and the next life makes it.
 * - The answer to the client waits for the quota, but not for long. From then on the alarm tries again.
 * - Each quota has its own next try, which is noted, too: one that fails holds up no other one.
 * - The limits are those of the moment in which the quota is made. A quota that is there stays as it is: from then on it is the namespace's own.
 * - A namespace that ends meanwhile needs none.
 * - A store that was brought back in time may have lost what the record has told. It notes that it is in doubt until the record has promised to tell it again.
 */
import { leastOf } from "../../core/base/extremes";
import { inParallel } from "../../core/base/in-parallel";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { KubeObject } from "../../api/meta/kubernetes";
import type { Status } from "../../api/meta/status";
import type { StoreRpc } from "../../api/rpc/store";
import type { Operation, StoreExtension } from "../../api/store/state/extension";
import type { NamespaceQuotas } from "../../api/rpc/namespace-quotas";
import { createRequest, isNamespaceTerminating, type Writer } from "../followed/write-requests";

/** The quota has this name in each namespace. */
const FIRST_QUOTA = "initial";
/** How long the answer to a create waits for the store of ResourceQuotas. */
export const SEED_WAIT_MS = 2_000;
/** From a create, and from a failure, to the next attempt; doubled with each failure up to the maximum. */
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** Quotas that one alarm makes, and how many at once; the next alarm goes on. */
const MADE_PER_RUN = 100;
const MADE_TOGETHER = 6;
/** After so many failures in one run the store is in trouble: the others wait for the next one. */
const FAILED_PER_RUN = 6;
const WRITER: Writer = { manager: "clusters", group: "" };
const NONE: KeptQuotas = { version: 0, hard: null };

/** `isDoubted`: the record may have told something later, which is lost. */
export interface KeptQuotas extends NamespaceQuotas {
  readonly isDoubted?: true;
}

/** A quota that is owed: how many attempts have failed, and when the next one is due, in milliseconds since the epoch. */
export interface OwedQuota {
  readonly failures: number;
  readonly dueAt: number;
}

/** In the database of the store of Namespaces; every method is one synchronous step. */
export interface SeedNotes {
  /** undefined = nothing was ever set */
  quotas(): KeptQuotas | undefined;
  quotasSave(quotas: KeptQuotas): void;
  /** by namespace */
  owed(): Iterable<readonly [namespace: string, owed: OwedQuota]>;
  owe(namespace: string, owed: OwedQuota): void;
  settle(namespace: string): void;
}

export interface QuotaSeedPorts {
  clock: Clock;
  recorder: Recorder;
  notes: SeedNotes;
  /** the store of ResourceQuotas; makes a stub for one call */
  resourceQuotas(): Pick<StoreRpc, "write">;
  /** has the record of the cluster tell its quotas again; durable there when it resolves */
  askRecord(): Promise<void>;
  /** the object has an alarm at this time (ms since the epoch) or earlier, durable with the writes of the turn */
  wakeBy(atMs: number): void;
}

export class QuotaSeeds {
  /** as on disk; undefined = to be read */
  #quotas: KeptQuotas | undefined;
  #owed: Map<string, OwedQuota> | undefined;
  readonly #attempts = new Map<string, Promise<boolean>>();
  #running: Promise<void> | undefined;
  /** a run has left what is due: the next one begins then */
  #restsUntil = -Infinity;
  /** questions to the record that failed, and when the next one is due */
  #asked = { failures: 0, dueAt: 0 };

  constructor(private readonly ports: QuotaSeedPorts) {}

  /** Takes what the record says, unless something newer is known. */
  set({ version, hard }: NamespaceQuotas): void {
    const known = this.#read();
    if (version > known.version) this.#save({ ...known, version, hard });
  }

  /** The store was brought back in time. */
  beginAnew(): void {
    this.#save({ ...this.#read(), isDoubted: true });
    this.#owed = undefined;
    this.ports.wakeBy(this.ports.clock.now() + RETRY_MS);
  }

  /** The part of the namespaces store's extension that notes and makes. */
  extension(): Required<Pick<StoreExtension<undefined>, "committed" | "settled" | "writeUndone" | "turnLost">> {
    const { clock } = this.ports;
    const begun = new WeakMap<Operation<undefined>, string>();
    const forget = (): void => (this.#owed = undefined);
    return {
      committed: ({ type, after }, operation) => {
        // What a cluster begins with is its own, and comes without an operation.
        if (!operation || type !== "ADDED" || this.#read().hard === null) return;
        const namespace = after?.metadata?.name ?? "";
        this.#owe(namespace, { failures: 0, dueAt: clock.now() + RETRY_MS });
        begun.set(operation, namespace);
      },
      settled: async (operation) => {
        const namespace = begun.get(operation);
        if (namespace !== undefined) await withTimeout(clock, SEED_WAIT_MS, this.#attempt(namespace)).catch(() => undefined);
      },
      writeUndone: forget,
      turnLost: forget,
    };
  }

  /** When the alarm has work, in milliseconds since the epoch; undefined = never. */
  get dueAt(): number | undefined {
    const { version, isDoubted } = this.#read();
    // Without quotas nothing was ever owed.
    const owed = version === 0 ? [] : [...this.#owedQuotas().values()].map(({ dueAt }) => dueAt);
    const all = isDoubted ? [...owed, this.#asked.dueAt] : owed;
    return all.length > 0 ? Math.max(leastOf(all), this.#restsUntil) : undefined;
  }

  /** Makes what is due. Rejects where the disk fails. */
  makeDue(): Promise<void> {
    return (this.#running ??= this.#run().finally(() => (this.#running = undefined)));
  }

  async #run(): Promise<void> {
    const { clock } = this.ports;
    const { version, isDoubted } = this.#read();
    if (isDoubted && this.#asked.dueAt <= clock.now()) await this.#ask();
    if (version === 0) return;
    const now = clock.now();
    const due = [...this.#owedQuotas()].filter(([, { dueAt }]) => dueAt <= now).sort(([, a], [, b]) => a.dueAt - b.dueAt);
    let failed = 0;
    let left = due.length;
    await inParallel(due.slice(0, MADE_PER_RUN), MADE_TOGETHER, async ([namespace]) => {
      if (failed >= FAILED_PER_RUN) return;
      left--;
      if (!(await this.#attempt(namespace))) failed++;
    });
    if (left > 0) this.#restsUntil = clock.now() + RETRY_MS;
  }

  /** Whether nothing is owed any more. An attempt that is under way is shared. */
  #attempt(namespace: string): Promise<boolean> {
    const running = this.#attempts.get(namespace) ?? this.#try(namespace).finally(() => this.#attempts.delete(namespace));
    this.#attempts.set(namespace, running);
    return running;
  }

  async #try(namespace: string): Promise<boolean> {
    const { clock, notes, recorder } = this.ports;
    const owed = this.#owedQuotas().get(namespace);
    if (!owed) return true;
    // The namespace may have gone meanwhile, and another one of the name have come.
    const isSame = (): boolean => this.#owedQuotas().get(namespace)?.dueAt === owed.dueAt;
    try {
      const refusal = await this.#makeIn(namespace);
      if (refusal) recorder.log("warn", "a namespace starts without its quota", { namespace, message: refusal.message ?? "" });
      if (!isSame()) return false;
      notes.settle(namespace);
      this.#owed?.delete(namespace);
      return true;
    } catch (error) {
      recorder.log("warn", "the quota of a new namespace could not be made", { namespace, error: String(error) });
      const { failures } = owed;
      if (isSame()) this.#owe(namespace, { failures: failures + 1, dueAt: clock.now() + backOff(failures) });
      return false;
    }
  }

  async #ask(): Promise<void> {
    const { askRecord, clock, recorder } = this.ports;
    try {
      await withTimeout(clock, RPC_TIMEOUT_MS, askRecord());
      this.#asked = { failures: 0, dueAt: 0 };
      const { version, hard } = this.#read();
      this.#save({ version, hard });
    } catch (error) {
      recorder.log("warn", "the record of the cluster was not asked for its quotas", { error: String(error) });
      const { failures } = this.#asked;
      this.#asked = { failures: failures + 1, dueAt: clock.now() + backOff(failures) };
    }
  }

  /** Answers the refusal of a quota that no repetition makes. Throws where another attempt may. */
  async #makeIn(namespace: string): Promise<Status | undefined> {
    const { hard } = this.#read();
    if (hard === null) return undefined;
    const quota = { metadata: { name: FIRST_QUOTA, namespace }, spec: { hard } } as KubeObject;
    const answer = await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.resourceQuotas().write(createRequest(quota, WRITER)));
    if (answer.ok) return undefined;
    const { status } = answer;
    // It is there, or its namespace ends or has ended.
    if (status.reason === "AlreadyExists" || status.code === 404 || isNamespaceTerminating(status)) return undefined;
    if (status.code === 422 || status.code === 400 || status.code === 403) return status;
    throw new Error(status.message ?? "refused");
  }

  #owe(namespace: string, owed: OwedQuota): void {
    this.ports.notes.owe(namespace, owed);
    this.#owedQuotas().set(namespace, owed);
    this.ports.wakeBy(owed.dueAt);
  }

  #owedQuotas(): Map<string, OwedQuota> {
    return (this.#owed ??= new Map(this.ports.notes.owed()));
  }

  #save(quotas: KeptQuotas): void {
    this.ports.notes.quotasSave(quotas);
    this.#quotas = quotas;
  }

  #read(): KeptQuotas {
    return (this.#quotas ??= this.ports.notes.quotas() ?? NONE);
  }
}

/** To the next attempt behind so many failures. */
function backOff(failures: number): number {
  return Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(failures, 10));
}
