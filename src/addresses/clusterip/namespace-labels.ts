/**
 * The labels of namespaces in the store of Services, in memory. Nothing is known, and nobody is asked, until a topology has ranges that are kept for the
 * Services of some namespaces. Then the store of Namespaces is asked to tell changes, and each namespace is read once (rpc/namespace-labels.ts).
 *
 * What is read after the other store has agreed to tell is complete: a change before is in what is read, a change behind is told. A message may
 * overtake the answer to a question. So the later revision counts, whichever comes first.
 */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Namespace } from "../../api/meta/kubernetes";
import type { LabelSource, ToldNamespace } from "../../api/rpc/namespace-labels";
import type { GetResult } from "../../api/rpc/store";
import type { Tenants } from "../ledger/address-supply";
import type { TenantLabels } from "../topology/tenants";

export interface NamespaceLabelsPorts {
  clock: Clock;
  /** the store of Namespaces; makes a stub for one call */
  source(): LabelSource;
  /** the Namespace object of this name, from its store */
  namespace(name: string): Promise<GetResult>;
  /** whether ranges are kept for the Services of some namespaces, as far as the store knows */
  isWanted(): boolean;
}

interface Known {
  revision: number;
  labels: TenantLabels;
}

const NO_LABELS: TenantLabels = {};

export class NamespaceLabels implements Tenants {
  /** undefined = not asked to be told */
  #told: Promise<void> | undefined;
  #isTold = false;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<TenantLabels>>();
  /** grows when nothing that is known, or asked for, counts any more */
  #era = 0;

  constructor(private readonly ports: NamespaceLabelsPorts) {}

  labelsOf(name: string): TenantLabels | Promise<TenantLabels> {
    return this.known(name) ?? this.#learn(name);
  }

  /** The same for decisions that cannot wait. */
  known(name: string): TenantLabels | undefined {
    return this.#isTold ? this.#known.get(name)?.labels : undefined;
  }

  /** Somebody else has read the namespace, after it began to ask now. */
  read(name: string, answer: GetResult): void {
    if (this.#isTold) this.#heard(name, answer);
  }

  /** See LabelledStore. */
  take(changed: ToldNamespace[] | null): boolean {
    const isWanted = changed !== null && this.#told !== undefined && this.ports.isWanted();
    if (!isWanted) {
      this.#forget();
      return false;
    }
    for (const { name, revision, labels } of changed) {
      if (this.#asking.has(name)) this.#put(name, { revision, labels: labels ?? NO_LABELS });
      else if (labels === null) this.#known.delete(name);
      else if (this.#known.has(name)) this.#put(name, { revision, labels });
    }
    return true;
  }

  #forget(): void {
    this.#told = undefined;
    this.#isTold = false;
    this.#known.clear();
    this.#era++;
  }

  #learn(name: string): Promise<TenantLabels> {
    let asking = this.#asking.get(name);
    if (!asking) {
      const begun = this.#ask(name).finally(() => {
        if (this.#asking.get(name) === begun) this.#asking.delete(name);
      });
      this.#asking.set(name, (asking = begun));
    }
    return asking;
  }

  async #ask(name: string): Promise<TenantLabels> {
    const { clock, namespace } = this.ports;
    await (this.#told ??= this.#begin());
    const era = this.#era;
    const answer = await withTimeout(clock, RPC_TIMEOUT_MS, namespace(name));
    // What was told meanwhile is lost to this answer.
    if (era !== this.#era) return this.#ask(name);
    return this.#heard(name, answer);
  }

  async #begin(): Promise<void> {
    const { clock, source } = this.ports;
    const era = this.#era;
    try {
      await withTimeout(clock, RPC_TIMEOUT_MS, source().tellNamespaceLabels());
      if (era === this.#era) this.#isTold = true;
    } catch (error) {
      if (era === this.#era) this.#told = undefined;
      throw error;
    }
  }

  /** Nothing can be created in a namespace that is not there: its labels are asked for again. */
  #heard(name: string, answer: GetResult): TenantLabels {
    if (!answer.ok) {
      if (answer.status.code === 404) return this.#known.get(name)?.labels ?? NO_LABELS;
      throw new Error(`the namespaces store refused: ${answer.status.message}`);
    }
    const { metadata } = JSON.parse(answer.object) as Namespace;
    return this.#put(name, { revision: Number(metadata?.resourceVersion ?? 0), labels: metadata?.labels ?? {} });
  }

  #put(name: string, told: Known): TenantLabels {
    const known = this.#known.get(name);
    if (known && known.revision >= told.revision) return known.labels;
    this.#known.set(name, told);
    return told.labels;
  }
}
