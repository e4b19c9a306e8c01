/** ResourceQuotas in a simulated cluster: their store, their controller, and their limits in the stores of ConfigMaps, Services and ResourceQuotas. */
import { semanticEqual } from "../../../src/api/meta/equality";
import type { KubeObject, ResourceQuota } from "../../../src/api/meta/kubernetes";
import { qualifiedResource } from "../../../src/api/meta/status";
import { configMapsDefinition } from "../../../src/api/registry/config-maps/definition";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import { resourceQuotasDefinition } from "../../../src/api/registry/resource-quotas/definition";
import { limitsFor, limitsOf, type UsageRules, usageRules } from "../../../src/api/registry/resource-quotas/usage";
import { servicesDefinition } from "../../../src/api/registry/services/definition";
import type { HeldLimits, LimitedStore, QuotaMessage, QuotaProgress } from "../../../src/api/rpc/quota";
import type { ControllerRpc } from "../../../src/api/rpc/store";
import type { StorePeers } from "../../../src/api/store/cluster-store";
import type { CommittedChange, StoreExtension } from "../../../src/api/store/state/extension";
import { namespaceRange, objectKey } from "../../../src/api/store/state/keys";
import type { QuotaStorage } from "../../../src/api/store/quota/quota-guard";
import type { Controller } from "../../../src/controllers/frame/controller";
import { PlainStore } from "../../../src/controllers/plain-store";
import type { CountingStore, QuotaMarks } from "../../../src/controllers/quotas/quota-pushes";
import { resourceQuotasController } from "../../../src/controllers/resource-quotas-controller";
import { MemoryQuotaStorage } from "../memory/quota-storage";
import { controllerLife } from "./controller-life";
import { ALWAYS, type Caller, type Life, SimNode, whileAlive } from "./platform/network";
import { plainCopy } from "./platform/plain-copy";
import type { SimLimits, SimPlatform } from "./platform/platform";
import { overriding } from "../worlds/overriding";
import { visitListOf } from "./peers";
import { storePorts } from "./stores";
import { StoreTables } from "./tables";

export const COUNTED = [configMapsDefinition, servicesDefinition, resourceQuotasDefinition];

/** Protections that are removed on purpose. Made anew for every history. */
export interface QuotaSabotage {
  /** what arrives at a store that stands at `known` */
  message?(message: QuotaMessage, known: QuotaProgress | undefined): QuotaMessage;
  /** what the store of quotas hears of the limits that stores hold */
  held?(held: HeldLimits[]): HeldLimits[];
  /** in one life of the store of quotas */
  marks?(marks: QuotaMarks): QuotaMarks;
  /** a store asks for no limits before its first write */
  isUnasked?: boolean;
}

type CountedNode = SimNode<PlainStore>;

interface Counted {
  readonly definition: ResourceDefinition;
  readonly rules: UsageRules;
  readonly node: CountedNode;
  readonly tables: StoreTables;
  readonly limits: MemoryQuotaStorage;
}

export class SimQuotas implements SimLimits {
  readonly controller: SimNode<Controller>;
  /** limits that a write has exceeded */
  readonly exceeded: string[] = [];
  readonly #counted = new Map<string, Counted>();

  constructor(
    private readonly cluster: SimPlatform,
    private readonly sabotage: QuotaSabotage = {},
  ) {
    cluster.limits = this;
    this.#add(servicesDefinition, cluster.services as unknown as CountedNode, cluster.tables.services);
    for (const definition of [configMapsDefinition, resourceQuotasDefinition]) this.#plain(definition);
    this.controller = this.#makeController();
  }

  /** The object of the store, as clients reach it. */
  store(definition: ResourceDefinition): SimNode<PlainStore> {
    return this.#of(definition).node;
  }

  objects<T extends KubeObject>(definition: ResourceDefinition): T[] {
    return objectsIn(this.#of(definition), "") as T[];
  }

  /** Any object of these. */
  get nodes(): readonly { crash(): void }[] {
    return [...[...this.#counted.values()].map(({ node }) => node), this.controller];
  }

  /** What cron does each minute. */
  cron(): void {
    const { network } = this.cluster;
    void network.call(ALWAYS, this.#of(resourceQuotasDefinition).node, (store) => store.maintain()).catch(() => undefined);
    void this.#poked(ALWAYS).catch(() => undefined);
  }

  /** The function brings the store of this resource back to now; of the services store, which others would have to follow, the limits alone. */
  remembered(definition: ResourceDefinition): () => void {
    const { limits, node, tables } = this.#of(definition);
    const back = [limits.remembered(), ...(definition === servicesDefinition ? [] : [tables.store.remembered()])];
    return () => {
      node.crash();
      for (const one of back) one();
    };
  }

  rows(resource: string, life: Life): QuotaStorage | undefined {
    const found = this.#counted.get(resource);
    return found && whileAlive(found.limits, life);
  }

  peers(life: Life): Pick<StorePeers, "quotaController" | "limitSource"> {
    return {
      quotaController: (): ControllerRpc => ({ poke: () => this.#poked(life) }),
      limitSource: () => ({
        limitsHeld: (held) =>
          this.sabotage.isUnasked && held.every(({ source }) => source === "") ? Promise.resolve(true) : this.#limitsHeld(life, held),
      }),
    };
  }

  judged<Supply>(resource: string, extension: StoreExtension<Supply>): StoreExtension<Supply> {
    return overriding(extension, {
      committed: (change, operation) => {
        extension.committed?.(change, operation);
        this.#judge(resource, change);
      },
    });
  }

  /** What has to hold when everything is quiet: every store has the limits that there are, and every status says what is used. */
  atRest(): string[] {
    const quotas = this.objects<ResourceQuota>(resourceQuotasDefinition);
    return [...this.exceeded, ...[...this.#counted.values()].flatMap((one) => wrongLimits(one, quotas)), ...this.#wrongStatuses(quotas)];
  }

  #wrongStatuses(quotas: readonly ResourceQuota[]): string[] {
    return quotas.flatMap(({ metadata, spec, status }) => {
      const used: Record<string, string> = {};
      for (const counted of this.#counted.values()) {
        const amounts = usageIn(counted, metadata?.namespace ?? "");
        for (const name of Object.keys(spec?.hard ?? {})) if (amounts[name] !== undefined) used[name] = String(amounts[name]);
      }
      const want = { hard: spec?.hard, used };
      return semanticEqual(want, status ?? {})
        ? []
        : [`the status of ${metadata?.name ?? ""} is ${JSON.stringify(status)} instead of ${JSON.stringify(want)}`];
    });
  }

  /** Of what a write uses more of, no limit that its store has may be exceeded. Counted by a look at every object. */
  #judge(resource: string, { key, after, before }: CommittedChange): void {
    const counted = this.#counted.get(resource);
    if (!counted || !after) return;
    const { rules } = counted;
    const then = before ? rules.measure(before) : rules.measured.map(() => 0);
    const more = rules.measure(after).flatMap((amount, i) => (amount > (then[i] ?? 0) ? (rules.measured[i] ?? []) : []));
    const names = [...(before ? [] : rules.counted), ...more];
    const { namespace } = objectKey(key);
    const amounts = usageIn(counted, namespace);
    for (const { key: quota, hard } of counted.limits.quotaLoad()) {
      if (objectKey(quota).namespace !== namespace) continue;
      for (const name of names) {
        if (hard[name] === undefined || (amounts[name] ?? 0) <= Number(hard[name])) continue;
        this.exceeded.push(`${key}: ${quota} allows ${hard[name]} ${name}, and there are ${amounts[name] ?? 0}`);
      }
    }
  }

  #of(definition: ResourceDefinition): Counted {
    const found = this.#counted.get(definition.resource);
    if (!found) throw new Error(`no store of ${definition.resource}`);
    return found;
  }

  #add(definition: ResourceDefinition, node: CountedNode, tables: StoreTables): void {
    const rules = usageRules(definition);
    if (!rules) throw new Error(`quotas do not count ${definition.resource}`);
    this.#counted.set(definition.resource, { definition, rules, node, tables, limits: new MemoryQuotaStorage(tables.journal) });
  }

  #plain(definition: ResourceDefinition): void {
    const { cluster } = this;
    const { group, resource } = definition;
    const tables = new StoreTables();
    const make = (life: Life): PlainStore => {
      const ports = storePorts(cluster, life, { group, resource, tables });
      const isOfQuotas = definition === resourceQuotasDefinition;
      const marks = whileAlive(this.#of(definition).limits, life);
      return new PlainStore({
        ...ports,
        peers: {
          ...ports.peers,
          followers: () => (isOfQuotas ? [{ poke: () => this.#poked(life) }] : []),
          stores: () => [],
          entered: () => visitListOf(cluster, life).entered(),
          endsNamespaces: () => true,
        },
        isFollowed: isOfQuotas,
        advertiseAddresses: [],
        ...(isOfQuotas && { quotaPushes: { marks: this.sabotage.marks?.(marks) ?? marks, stores: () => this.#stores(life) } }),
      });
    };
    const node = new SimNode<PlainStore>(resource, cluster.network, make, () => Promise.resolve());
    tables.journal.gate = node.gate;
    this.#add(definition, node, tables);
  }

  #stores(caller: Life): (CountingStore & { store(): LimitedStore })[] {
    const { network } = this.cluster;
    return [...this.#counted.values()].map(({ definition, node, limits }) => ({
      definition,
      store: () => ({
        takeQuotas: (message) =>
          network.call(caller, node, (store) => {
            const sent = plainCopy(message);
            return store.takeQuotas(this.sabotage.message?.(sent, limits.quotaProgress()) ?? sent);
          }),
        quotaReport: (questions) => network.call(caller, node, (store) => store.quotaReport(plainCopy(questions))),
        quotaUsage: (questions) => network.call(caller, node, (store) => store.quotaUsage(plainCopy(questions))),
      }),
    }));
  }

  #makeController(): SimNode<Controller> {
    const { cluster } = this;
    const { network } = cluster;
    const make = (life: Life): Controller => {
      const quotas = this.#of(resourceQuotasDefinition).node;
      return resourceQuotasController.make({
        clock: life.clock,
        recorder: cluster.recorder(life),
        peers: {
          stores: () => this.#stores(life),
          entered: () => visitListOf(cluster, life).entered(),
          quotas: () => ({
            write: (request) => network.call(life, quotas, (store) => store.write(plainCopy(request))),
            objectsAfter: (after, limit) => network.call(life, quotas, (store) => store.objectsAfter(after, limit)),
            limitsHeld: (held) => this.#limitsHeld(life, held),
          }),
        },
        ...controllerLife(network, life, () => node),
      });
    };
    const node = new SimNode<Controller>("controllers/resource-quotas", network, make, (brain) => brain.alarm());
    node.hasRightTime = true;
    return node;
  }

  #limitsHeld(caller: Caller, held: HeldLimits[]): Promise<boolean | undefined> {
    const heard = this.sabotage.held?.(held) ?? held;
    return this.cluster.network.call(caller, this.#of(resourceQuotasDefinition).node, (store) => store.limitsHeld(plainCopy(heard)));
  }

  #poked(caller: Caller): Promise<unknown> {
    return this.cluster.network.call(caller, this.controller, (brain) => brain.poke());
  }
}

/** `namespace` "": of all. */
function objectsIn({ tables }: Counted, namespace: string): KubeObject[] {
  const { from, to } = namespaceRange(namespace);
  return tables.store.objectScan(from, to).map(({ data }) => JSON.parse(data) as KubeObject);
}

/** What a namespace uses, by a look at every object. */
function usageIn(counted: Counted, namespace: string): Record<string, number> {
  const { rules } = counted;
  const objects = objectsIn(counted, namespace);
  const used: Record<string, number> = {};
  for (const name of rules.counted) used[name] = objects.length;
  rules.measured.forEach((name, i) => (used[name] = objects.reduce((sum, object) => sum + (rules.measure(object)[i] ?? 0), 0)));
  return used;
}

/** A store that nobody ever used is told nothing. */
function wrongLimits({ definition, rules, limits, tables }: Counted, quotas: readonly ResourceQuota[]): string[] {
  if (definition !== servicesDefinition && !tables.store.isEntered()) return [];
  const want = Object.fromEntries(
    quotas.flatMap((quota) => {
      const hard = limitsFor(rules, limitsOf(quota));
      return hard ? [[`${quota.metadata?.namespace ?? ""}/${quota.metadata?.name ?? ""}`, hard] as const] : [];
    }),
  );
  const has = Object.fromEntries(limits.quotaLoad().map(({ key, hard }) => [key, hard]));
  if (semanticEqual(want, has)) return [];
  return [`the store of ${qualifiedResource(definition)} has the limits ${JSON.stringify(has)} instead of ${JSON.stringify(want)}`];
}
