/**
 * The store of ResourceQuotas tells the limits to every store that counts (rpc/quota.ts), as the end of a namespace closes it everywhere (rule 20).
 *
 * - A store that nobody ever used is not told, so that a quota makes no object. It asks before its first write, when the list of used stores has it. Either
 *   the list has it when this store asks whom to tell, or it asks later than that, and so for limits that are stored by then.
 * - A change of limits is marked in its own transaction. A store is behind while its mark is older. So a crash loses no change.
 * - The answer to a client waits until every store has the limits, but not for long. Cron tells the stores that did not answer.
 * - What a store is told are the changes behind its mark. When the history no longer reaches back, or the store has lost them, it is told all quotas.
 * - A store says now and then what it holds. If that is not its mark, one of the two was brought back in time, or an answer was lost: it is told all.
 * - A store that knows later changes than there are has them from a time that this store has lost. From then on this store tells as somebody else.
 */
import { parseJson } from "../../core/encoding/exact-json";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { SharedCall } from "../../core/turns/shared-call";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { semanticEqual } from "../../api/meta/equality";
import type { KubeObject, ResourceQuota } from "../../api/meta/kubernetes";
import { qualifiedResource } from "../../api/meta/status";
import type { ResourceDefinition } from "../../api/registry/resource";
import { limitsFor, limitsOf, type UsageRules, usageRules } from "../../api/registry/resource-quotas/usage";
import type { HeldLimits, LimitedStore, QuotaLimits, QuotaMessage } from "../../api/rpc/quota";
import type { Operation, StoreExtension } from "../../api/store/state/extension";
import type { StoreEngine } from "../../api/store/engine/store-engine";

/** How long the answer to a change of limits waits for slow stores. */
export const PUSH_WAIT_MS = 2_000;
/** Changes told in one message; behind more of them, all quotas are told. */
const CHANGES_MAX = 1_000;
/** The mark of the last change of limits; the others have the names of stores. */
const CHANGED = "";
/** The mark that counts how often this store was found to have been brought back in time. */
const LIVES = "/lives";
/** The mark of a store that has to be told all quotas. */
const UNKNOWN = -1;
/** The same of one that was told nothing, as far as this store knows: only if it was ever used. */
const UNKNOWN_IF_USED = -2;

/** Revisions of the quotas' store; 0 at first. In its database. */
export interface QuotaMarks {
  markGet(name: string): number;
  markSet(name: string, revision: number): void;
  /** the state of the quotas at the mark (rpc/quota.ts); "" at first */
  stateGet(name: string): string;
  stateSet(name: string, state: string): void;
}

/** A store of the cluster; `store` makes a stub for one call. */
export interface CountingStore {
  definition: Pick<ResourceDefinition, "group" | "resource" | "namespaced">;
  store(): LimitedStore;
}

export interface QuotaPushPorts {
  clock: Clock;
  random: Pick<Random, "uuid">;
  recorder: Recorder;
  marks: QuotaMarks;
  /** the store of ResourceQuotas */
  quotas(): Pick<StoreEngine, "storage" | "revision" | "floor" | "incarnation">;
  /** every store of the cluster */
  stores(): readonly CountingStore[];
  /** see UsedStores */
  isUnused(name: string): Promise<boolean>;
}

export class QuotaPushes {
  /** by name of the store */
  readonly #messages = new Map<string, SharedCall<void>>();

  constructor(private readonly ports: QuotaPushPorts) {}

  /** The extension of the store of ResourceQuotas. */
  extension(): StoreExtension<undefined> {
    const { clock, marks, random } = this.ports;
    const begun = new WeakSet<Operation<undefined>>();
    return {
      committed: (change, operation) => {
        if (semanticEqual(limitsOf(change.before), limitsOf(change.after))) return;
        marks.markSet(CHANGED, change.revision);
        marks.stateSet(CHANGED, random.uuid());
        if (operation) begun.add(operation);
      },
      settled: async (operation) => {
        if (begun.has(operation)) await withTimeout(clock, PUSH_WAIT_MS, this.push()).catch(() => undefined);
      },
    };
  }

  /** Stores say what they hold: those that do not hold what they were told are told all. See LimitSource. */
  async compare(held: readonly HeldLimits[]): Promise<boolean> {
    const { marks, quotas } = this.ports;
    // Changes behind this one begin pushes of their own to whoever asks now, so the answer does not wait for them.
    const asked = marks.markGet(CHANGED);
    for (const { resource, source, through, state = "" } of held) {
      const mark = marks.markGet(resource);
      const isOwn = source === this.#source;
      if (isOwn ? through === mark && state === marks.stateGet(resource) : source === "" && mark === 0 && !this.#isBehind(mark)) continue;
      if (isOwn && through > quotas().revision) this.#begin();
      // A store that was never told is from now on one that has to be.
      marks.markSet(resource, UNKNOWN);
    }
    const names = held.map(({ resource }) => resource);
    await this.push(names);
    // No other one keeps them waiting. An object that dies leaves the others to cron.
    this.push().catch(() => undefined);
    return names.every((name) => marks.markGet(name) >= asked);
  }

  /** Tells every store that is behind, or those of these names. Resolves when each has answered or failed; rejects where the own disk fails. */
  async push(names?: readonly string[]): Promise<void> {
    const { marks } = this.ports;
    const lives = marks.markGet(LIVES);
    await this.#pushAll(names);
    if (marks.markGet(LIVES) !== lives) await this.#pushAll(names);
  }

  #isBehind(mark: number): boolean {
    return mark < this.ports.marks.markGet(CHANGED);
  }

  get #source(): string {
    const lives = this.ports.marks.markGet(LIVES);
    return this.ports.quotas().incarnation + (lives > 0 ? `/${lives}` : "");
  }

  /** Under a new name every store takes all quotas, whatever it has heard under the old one. */
  #begin(): void {
    const { marks, recorder, stores } = this.ports;
    recorder.log("warn", "a store knows later quotas than there are: all stores are told all of them");
    marks.markSet(LIVES, marks.markGet(LIVES) + 1);
    for (const { definition } of stores()) {
      const name = qualifiedResource(definition);
      marks.markSet(name, isTold(marks.markGet(name)) ? UNKNOWN : UNKNOWN_IF_USED);
    }
  }

  async #pushAll(names?: readonly string[]): Promise<void> {
    const stores = this.ports.stores().map(({ definition }) => qualifiedResource(definition));
    await Promise.all(stores.filter((name) => names?.includes(name) ?? true).map((name) => this.#pushTo(name)));
  }

  /** One message at a time goes to a store. A call meanwhile gets the message after it, which tells what has changed until then. */
  #pushTo(name: string): Promise<void> {
    let messages = this.#messages.get(name);
    if (!messages) this.#messages.set(name, (messages = new SharedCall(() => this.#tell(name))));
    return messages.begin();
  }

  async #tell(name: string): Promise<void> {
    const { clock, marks, recorder } = this.ports;
    const known = marks.markGet(name);
    if (!this.#isBehind(known)) return;
    const { definition, store } = this.ports.stores().find(({ definition }) => qualifiedResource(definition) === name) ?? {};
    const rules = definition && usageRules(definition);
    if (!rules || !store) return;
    // One that was told something is there, whatever the list says.
    if (!isTold(known) && (await this.ports.isUnused(name))) return;
    const send = (message: QuotaMessage): Promise<number> => withTimeout(clock, RPC_TIMEOUT_MS, store().takeQuotas(message));
    try {
      let message = this.#changesSince(name, rules) ?? this.#all(rules);
      let reached = await send(message);
      if (reached < message.through) {
        message = this.#all(rules);
        reached = await send(message);
      }
      // Not even when this store has caught up meanwhile may another one have been ahead of what it was told.
      if (reached > message.through) this.#begin();
      else {
        marks.markSet(name, reached);
        marks.stateSet(name, message.state ?? "");
      }
    } catch (error) {
      recorder.log("warn", "a store was not told the limits of quotas", { store: name, error: String(error) });
    }
  }

  /** undefined = the history does not reach back, or there are too many of them. */
  #changesSince(name: string, rules: UsageRules): QuotaMessage | undefined {
    const { marks } = this.ports;
    const { storage, revision, floor } = this.ports.quotas();
    const since = marks.markGet(name);
    if (since <= 0 || since < floor) return undefined;
    const entries = [...storage.changesSince(since, CHANGES_MAX + 1)];
    if (entries.length > CHANGES_MAX) return undefined;
    const quotas = new Map<string, QuotaLimits>();
    for (const { key, type, data } of entries) quotas.set(key, toldOf(key, type === "DELETED" ? undefined : data, rules));
    const [base, state] = [marks.stateGet(name), marks.stateGet(CHANGED)];
    return { source: this.#source, since, base, through: revision, state, quotas: [...quotas.values()] };
  }

  #all(rules: UsageRules): QuotaMessage {
    const { storage, revision } = this.ports.quotas();
    const quotas: QuotaLimits[] = [];
    for (const { key, data } of storage.objectScan("", "")) {
      const told = toldOf(key, data, rules);
      if (told.hard) quotas.push(told);
    }
    return { source: this.#source, since: null, through: revision, state: this.ports.marks.stateGet(CHANGED), quotas };
  }
}

/** Whether a store with this mark was ever told something, or has said itself what it holds. */
function isTold(mark: number): boolean {
  return mark !== 0 && mark !== UNKNOWN_IF_USED;
}

/** `data`: the quota as it is stored; undefined = it is gone. */
function toldOf(key: string, data: string | undefined, rules: UsageRules): QuotaLimits {
  const quota = data === undefined ? undefined : (parseJson(data) as KubeObject as ResourceQuota);
  return { key, hard: limitsFor(rules, limitsOf(quota)) ?? null };
}
