/**
 * The store of Namespaces makes a ResourceQuota in each new namespace, in a cluster whose object says with which limits they start. In any other cluster a
 * new namespace costs a look into memory.
 *
 * - The quota that is owed is noted with its namespace, in one transaction, with an alarm. A death behind it leaves the note, and the next life makes it.
 * - The answer to the client waits for the quota, but not for long. From then on the alarm tries again.
 * - The limits are those of the moment in which the quota is made. A quota that is there stays as it is: from then on it is the namespace's own.
 * - A namespace that ends meanwhile needs none.
 */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { SharedCall } from "../../core/turns/shared-call";
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
/** Quotas that one run makes; the alarm begins the next run. */
const MADE_PER_RUN = 100;
const WRITER: Writer = { manager: "clusters", group: "" };
const NONE: NamespaceQuotas = { version: 0, hard: null };

/** In the database of the store of Namespaces; every method is one synchronous step. */
export interface SeedNotes {
  /** undefined = nothing was ever set */
  quotas(): NamespaceQuotas | undefined;
  quotasSave(quotas: NamespaceQuotas): void;
  /** names of namespaces whose quota is owed */
  owed(limit: number): string[];
  owe(namespace: string): void;
  settle(namespace: string): void;
}

export interface QuotaSeedPorts {
  clock: Clock;
  recorder: Recorder;
  notes: SeedNotes;
  /** the store of ResourceQuotas; makes a stub for one call */
  resourceQuotas(): Pick<StoreRpc, "write">;
  /** replaces the object's alarm by one at this time (ms since the epoch), durable with the writes of the turn */
  setAlarm(atMs: number): void;
}

export class QuotaSeeds {
  /** as on disk; undefined = to be read */
  #quotas: NamespaceQuotas | undefined;
  readonly #runs = new SharedCall(() => this.#run());
  #failures = 0;

  constructor(private readonly ports: QuotaSeedPorts) {}

  /** Takes what the record says, unless something newer is known. */
  set(quotas: NamespaceQuotas): void {
    if (quotas.version <= this.#read().version) return;
    this.ports.notes.quotasSave(quotas);
    this.#quotas = quotas;
  }

  /** The part of the namespaces store's extension that notes and makes. */
  extension(): Required<Pick<StoreExtension<undefined>, "committed" | "settled">> {
    const { clock, notes, setAlarm } = this.ports;
    const begun = new WeakSet<Operation<undefined>>();
    return {
      committed: ({ type, after }, operation) => {
        // What a cluster begins with is its own, and comes without an operation.
        if (!operation || type !== "ADDED" || this.#read().hard === null) return;
        notes.owe(after?.metadata?.name ?? "");
        setAlarm(clock.now() + RETRY_MS);
        begun.add(operation);
      },
      settled: async (operation) => {
        if (begun.has(operation)) await withTimeout(clock, SEED_WAIT_MS, this.make()).catch(() => undefined);
      },
    };
  }

  /** Makes what is owed. One run at a time; who comes meanwhile waits for the one after it. Rejects where the disk fails. */
  make(): Promise<void> {
    return this.#runs.begin();
  }

  async #run(): Promise<void> {
    const { clock, notes, recorder, setAlarm } = this.ports;
    // Nothing was ever owed.
    if (this.#read().version === 0) return;
    const owed = notes.owed(MADE_PER_RUN);
    for (const namespace of owed) {
      try {
        const refusal = await this.#makeIn(namespace);
        if (refusal) recorder.log("warn", "a namespace starts without its quota", { namespace, message: refusal.message ?? "" });
        notes.settle(namespace);
        this.#failures = 0;
      } catch (error) {
        recorder.log("warn", "the quota of a new namespace could not be made", { namespace, error: String(error) });
        setAlarm(clock.now() + Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** this.#failures++));
        return;
      }
    }
    if (owed.length === MADE_PER_RUN) setAlarm(clock.now() + RETRY_MS);
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

  #read(): NamespaceQuotas {
    return (this.#quotas ??= this.ports.notes.quotas() ?? NONE);
  }
}
