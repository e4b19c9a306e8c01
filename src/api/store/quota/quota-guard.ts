/**
 * The limits that ResourceQuotas set in the namespaces of this store. Every commit turn asks here, and counts in the turn that creates: of concurrent
 * creates at a limit none is one too many. Nothing is asked of another object; the store of ResourceQuotas tells the limits (rpc/quota.ts).
 *
 * Used amounts are derived from the stored objects, once for each namespace with limits, and kept in memory with each change. Lost memory is derived anew.
 */
import { parseJson } from "../../../core/encoding/exact-json";
import type { KubeObject } from "../../meta/kubernetes";
import { quantityOf, quantityValue } from "../../schema/quantity";
import { forbidden } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { UsageRules } from "../../registry/resource-quotas/usage";
import type { QuotaLimits, QuotaMessage, QuotaProgress } from "../../rpc/quota";
import type { Admission, CommittedChange, ProposedChange } from "../state/extension";
import { namespaceRange, objectKey } from "../state/keys";
import type { StoreStorage } from "../state/store-storage";

export interface QuotaStorage {
  /** of whom, and up to which revision, the limits are known */
  quotaProgress(): QuotaProgress | undefined;
  quotaProgressSave(progress: QuotaProgress): void;
  quotaLoad(): Iterable<{ key: string; hard: Record<string, string> }>;
  quotaPut(key: string, hard: Record<string, string>): void;
  quotaDelete(key: string): void;
}

export interface QuotaGuardPorts {
  definition: ResourceDefinition;
  rules: UsageRules;
  storage: QuotaStorage;
  /** see StoreEngine */
  objects(): Pick<StoreStorage, "objectScan">;
  countIn(namespace: string): number | undefined;
  counted(): Promise<void>;
  /** a write was refused */
  refused?(): void;
}

/** What a namespace uses. `measured` is absent until somebody asks: it takes a look at every object. */
interface Usage {
  objects: number;
  measured?: number[];
}

const GO: Admission = { kind: "go" };

export class QuotaGuard {
  /** namespace -> name of the quota -> its limits */
  #limits = new Map<string, Map<string, Record<string, string>>>();
  readonly #usage = new Map<string, Usage>();

  constructor(private readonly ports: QuotaGuardPorts) {
    this.#load();
  }

  /** Whether the change exceeds a quota; dry runs are judged alike. To be asked in the turn that commits. */
  admit({ after, before }: ProposedChange): Admission {
    const namespace = after?.metadata?.namespace ?? "";
    const quotas = this.#limits.get(namespace);
    const { rules, counted, definition } = this.ports;
    if (!after || !quotas || (before && !rules.onUpdate)) return GO;
    const requested = this.#requested(after, before);
    if (requested.size === 0) return GO;
    for (const [name, hard] of [...quotas].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const concerned = [...requested.keys()].filter((one) => Object.hasOwn(hard, one)).sort();
      const used = this.#used(namespace, concerned);
      // An old store whose objects are not counted yet.
      if (!used) return { kind: "wait", supply: () => counted().then(() => undefined) };
      const exceeded = concerned.filter((one, i) => (used[i] ?? 0) + (requested.get(one) ?? 0) > quantityValue(hard[one] ?? ""));
      if (exceeded.length > 0) {
        const told = (amount: (one: string) => string | undefined): string =>
          exceeded.map((one) => `${one}=${amount(one) ?? "0"}`).join(",");
        const amounts = [
          `requested: ${told((one) => quantityOf(requested.get(one) ?? 0))}`,
          `used: ${told((one) => quantityOf(used[concerned.indexOf(one)] ?? 0))}`,
          `limited: ${told((one) => hard[one])}`,
        ];
        this.ports.refused?.();
        const why = `exceeded quota: ${name}, ${amounts.join(", ")}`;
        return { kind: "refuse", status: forbidden(definition, after.metadata?.name ?? "", why) };
      }
    }
    return GO;
  }

  /** To be called for every change. Answers whether what a limited namespace uses may have changed. */
  committed({ type, key, after, before }: CommittedChange): boolean {
    if (this.#limits.size === 0) return false;
    const { namespace } = objectKey(key);
    if (!this.#limits.has(namespace)) return false;
    const usage = this.#usage.get(namespace);
    if (usage) usage.objects += type === "ADDED" ? 1 : type === "DELETED" ? -1 : 0;
    const { rules } = this.ports;
    const none = rules.measured.map(() => 0);
    const now = after ? rules.measure(after) : none;
    const then = before ? rules.measure(before) : none;
    const changes = now.map((amount, i) => amount - (then[i] ?? 0));
    if (usage?.measured) usage.measured = usage.measured.map((amount, i) => amount + (changes[i] ?? 0));
    return type !== "MODIFIED" || changes.some((change) => change !== 0);
  }

  /** Writes were undone: nothing in memory is to be trusted. */
  undone(): void {
    this.#usage.clear();
    this.#load();
  }

  /** See LimitedStore. To be called in a turn. */
  take({ source, since, base, through, state, quotas }: QuotaMessage): number {
    const { storage } = this.ports;
    const progress = storage.quotaProgress();
    const known = progress?.source === source ? progress : undefined;
    // Behind another state than this one changes say nothing, although both stores may count alike: one of them may have been brought back in time.
    if (since !== null && (since !== known?.through || base !== known.state)) return -1;
    if (known && known.through > through) return known.through;
    if (since === null) {
      const told = new Set(quotas.map(({ key }) => key));
      for (const { key } of [...storage.quotaLoad()]) if (!told.has(key)) this.#set({ key, hard: null });
    }
    for (const quota of quotas) this.#set(quota);
    storage.quotaProgressSave({ source, through, ...(state !== undefined && { state }) });
    return through;
  }

  get held(): QuotaProgress {
    return this.ports.storage.quotaProgress() ?? { source: "", through: 0 };
  }

  /** What the namespace uses of each name; undefined = an old store whose objects are not all counted. */
  usage(namespace: string, names: readonly string[]): number[] | undefined {
    return this.#used(namespace, names);
  }

  #set({ key, hard }: QuotaLimits): void {
    const { storage } = this.ports;
    if (hard) storage.quotaPut(key, hard);
    else storage.quotaDelete(key);
    this.#remember(key, hard);
  }

  #remember(key: string, hard: Record<string, string> | null): void {
    const { namespace, name } = objectKey(key);
    const quotas = this.#limits.get(namespace) ?? new Map<string, Record<string, string>>();
    if (hard) quotas.set(name, hard);
    else quotas.delete(name);
    if (quotas.size > 0) this.#limits.set(namespace, quotas);
    else {
      this.#limits.delete(namespace);
      this.#usage.delete(namespace);
    }
  }

  #load(): void {
    this.#limits = new Map();
    for (const { key, hard } of this.ports.storage.quotaLoad()) this.#remember(key, hard);
  }

  /** What the change uses more than before, without what it does not. */
  #requested(after: KubeObject, before: KubeObject | undefined): Map<string, number> {
    const { rules } = this.ports;
    const requested = new Map<string, number>();
    if (!before) for (const name of rules.counted) requested.set(name, 1);
    const then = before ? rules.measure(before) : [];
    for (const [i, amount] of rules.measure(after).entries()) {
      const more = amount - (then[i] ?? 0);
      if (more > 0) requested.set(rules.measured[i] ?? "", more);
    }
    return requested;
  }

  #used(namespace: string, names: readonly string[]): number[] | undefined {
    const { rules, countIn } = this.ports;
    let usage = this.#usage.get(namespace);
    if (!usage) {
      const objects = countIn(namespace);
      if (objects === undefined) return undefined;
      usage = { objects };
      // Nothing is heard of other namespaces.
      if (this.#limits.has(namespace)) this.#usage.set(namespace, usage);
    }
    const places = names.map((name) => rules.measured.indexOf(name));
    if (places.some((place) => place >= 0)) usage.measured ??= this.#measure(namespace);
    const { objects, measured = [] } = usage;
    return places.map((place) => (place < 0 ? objects : (measured[place] ?? 0)));
  }

  #measure(namespace: string): number[] {
    const { rules, objects } = this.ports;
    const sums = rules.measured.map(() => 0);
    const { from, to } = namespaceRange(namespace);
    for (const { data } of objects().objectScan(from, to)) {
      for (const [i, amount] of rules.measure(parseJson(data) as KubeObject).entries()) sums[i] = (sums[i] ?? 0) + amount;
    }
    return sums;
  }
}
