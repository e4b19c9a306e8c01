/**
 * The store of a resource that needs nothing but keeping: namespaces, nodes, pods, endpoints, events, ConfigMaps, leases and the like. What controllers
 * want of some of them is here.
 */
import type {
  BatchedStore,
  BeginningAbove,
  CollectionRequest,
  Expiry,
  ExpiringStoreRpc,
  GetResult,
  ObjectKey,
  StoreCounters,
  StoreNews,
  WriteRequest,
  WriteResult,
} from "../api/rpc/store";
import type { AskedPage, FedChanges, FedPage, ObjectFeed } from "../api/rpc/object-feed";
import type { LinkedStore, StoreCursor } from "../api/rpc/object-links";
import type { ObjectValues, ValuedStore, ValuesQuestion } from "../api/rpc/object-values";
import type { CompilingRules, PolicyAnswer, PolicyRpc } from "../api/rpc/policy";
import type { BalancerAnswer, BalancerBookRpc, BalancerQuestion } from "../api/rpc/load-balancers";
import type { FleetPoolsRpc, FleetQuestion, FleetReply } from "../api/rpc/fleet-pools";
import type { PoolAnswer, PoolBookRpc, PoolQuestion } from "../api/rpc/pool-book";
import type { HeldLimits, LimitedStore, LimitSource } from "../api/rpc/quota";
import type { LabelSource } from "../api/rpc/namespace-labels";
import { qualifiedResource, serviceUnavailable } from "../api/meta/status";
import { resourceQuotasDefinition } from "../api/registry/resource-quotas/definition";
import { RPC_TIMEOUT_MS } from "../core/base/limits";
import { withTimeout } from "../core/base/timeout";
import { PartsAlarm } from "../core/turns/parts-alarm";
import { ClusterStore, type ClusterStorePorts, type StorePeers } from "../api/store/cluster-store";
import type { StoreExtension } from "../api/store/state/extension";
import type { StoreObserver } from "../api/store/state/observer";
import { type ChangeFilter, type FollowerPokePorts, type Followers, pokesOfAll, pokingFollowers } from "../api/store/feeds/follower-pokes";
import { objectValuesSince } from "../api/store/feeds/object-values-reader";
import { ServingTime } from "../api/store/feeds/serving-time";
import type { StoreEngine } from "../api/store/engine/store-engine";
import type { Poke } from "../api/store/feeds/deliveries";
import type { AnnouncedWrites } from "./announced-writes";
import { tellingOwnChanges } from "./compiled-rules";
import { type AdvertisedKeeper, advertisedKeeper } from "./advertised/advertised-keeper";
import { LabelPushes, type LabelPushPorts } from "./namespaces/label-pushes";
import { QuotaSeeds, type QuotaSeedPorts } from "./namespaces/quota-seeds";
import type { NamespaceQuotas, QuotaSeedingStore } from "../api/rpc/namespace-quotas";
import { closingNamespaces } from "./namespaces/namespace-closing";
import { type ContentStore, namespaceContent } from "./namespaces/namespace-content";
import {
  closeEverywhere,
  emptyEverywhere,
  type EmptyingProgress,
  type NamespaceContent,
  type TerminatingNamespace,
} from "./namespaces/namespace-deletion";
import { type CountingStore, QuotaPushes, type QuotaMarks } from "./quotas/quota-pushes";
import { fencingNamespaces } from "./namespaces/namespace-fence";
import { type EnteredNames, UsedStores } from "./followed/used-stores";
import { type ExpiryRule, ObjectExpiry } from "./object-expiry";

/** What a client waits before it tries again to make the first object of a store. */
const RETRY_AFTER_SECONDS = 1;
/** The store that tells the limits of quotas, in the list of those that were ever used. */
const QUOTAS = qualifiedResource(resourceQuotasDefinition);

/** Whom a plain store calls. Each function answers for one call. */
export interface PlainStorePeers extends StorePeers {
  followers: Followers;
  /** every store of the cluster */
  stores(): readonly ContentStore[];
  /** who was ever used; absent = every store may be */
  entered?: EnteredNames;
  /** whether the cluster's own controller empties and ends namespaces */
  endsNamespaces(): boolean;
}

export interface PlainStorePorts extends ClusterStorePorts {
  peers: PlainStorePeers;
  /** some controller follows the resource, although it may be switched off now */
  isFollowed: boolean;
  /** of the controllers that do not ask for every change */
  filters?: readonly ChangeFilter[];
  /** canonical addresses at which clusters reach the API servers; may be none */
  advertiseAddresses: readonly string[];
  /** of the store of ResourceQuotas: how far the limits have been told, in the same database, and to whom they are told */
  quotaPushes?: { marks: QuotaMarks; stores(): readonly CountingStore[] };
  /** of the store of Namespaces: what the store of Services was told of labels, in the same database, and that store */
  labelPushes?: Pick<LabelPushPorts, "notes" | "services">;
  /** of the store of Namespaces: quotas that new ones start with, in the same database, the store of them, and who says them */
  quotaSeeds?: Pick<QuotaSeedPorts, "notes" | "resourceQuotas" | "askRecord">;
  /** of the store of Namespaces: replaces the object's alarm by one at this time (ms since the epoch), durable with the writes of the turn */
  setAlarm?(atMs: number): void;
  /** when objects of the store end; absent = never */
  expiry?: ExpiryRule;
  /** of the store of Clusters: awaited before each read; never rejects */
  readable?(): Promise<void>;
  /** of stores of roles and bindings: who hears of their changes before they are committed */
  announced?: AnnouncedWrites;
  /** of the store of the addresses of pools: what knows all pools */
  pools?: PoolBookRpc;
  /** of the same store: addresses for Services */
  balancers?: BalancerBookRpc & { attach(own: Pick<StoreEngine, "internally">): void };
  /** of the same store: addresses of pools of the root, there for other clusters, elsewhere for its own claims */
  fleet?: StoreOfFleet;
  /** of the store of ClusterRoles: what compiles the rules of the cluster. `own` is the store itself */
  policy?(own: ObjectFeed & BatchedStore): CompilingRules;
}

/** `dueAt`: when `alarm` has work, in milliseconds since the epoch; undefined = it has none. `maintain` and `alarm` never reject. */
export interface StoreOfFleet extends FleetPoolsRpc {
  readonly dueAt: number | undefined;
  attach(own: Pick<StoreEngine, "internally">): void;
  maintain(): Promise<void>;
  alarm?(): Promise<void>;
  /** The store came back from a time before. */
  beginAnew(): void;
}

/** What the object around a plain store answers. */
export type PlainStoreRpc = ExpiringStoreRpc &
  LabelSource &
  LimitedStore &
  LimitSource &
  LinkedStore &
  ObjectFeed &
  PolicyRpc &
  PoolBookRpc &
  BalancerBookRpc &
  FleetPoolsRpc &
  QuotaSeedingStore &
  ValuedStore;

export class PlainStore
  extends ClusterStore
  implements
    Omit<ExpiringStoreRpc, "fetch">,
    LimitSource,
    LabelSource,
    PolicyRpc,
    PoolBookRpc,
    BalancerBookRpc,
    FleetPoolsRpc,
    QuotaSeedingStore,
    ValuedStore
{
  readonly #advertised: AdvertisedKeeper | undefined;
  readonly #pushes: QuotaPushes | undefined;
  readonly #labels: LabelPushes | undefined;
  readonly #seeds: QuotaSeeds | undefined;
  readonly #alarm: PartsAlarm;
  readonly #expiry: ObjectExpiry | undefined;
  readonly #announced: AnnouncedWrites | undefined;
  readonly #policy: CompilingRules | undefined;
  readonly #noteBusy: () => void;
  readonly #serving: ServingTime;
  readonly #ports: Pick<
    PlainStorePorts,
    "balancers" | "clock" | "filters" | "fleet" | "peers" | "pools" | "quotas" | "readable" | "recorder"
  >;
  /** Full visits know the store for ever. */
  #isEntered: boolean;

  constructor(ports: PlainStorePorts) {
    const pushes = pushesOf(ports, () => this);
    const alarm = new PartsAlarm(
      () => [labels, seeds, ports.fleet],
      (atMs) => ports.setAlarm?.(atMs),
    );
    const wakeBy = (atMs: number): void => alarm.by(atMs);
    const labels = ports.labelPushes && new LabelPushes({ ...ports, ...ports.labelPushes, wakeBy, namespaces: () => this.store });
    const seeds = ports.quotaSeeds && new QuotaSeeds({ ...ports, ...ports.quotaSeeds, wakeBy });
    const advertised = advertisedKeeper(ports.definition, ports.advertiseAddresses, ports);
    const serving = new ServingTime(ports.clock);
    const { announced } = ports;
    const extended = <Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> => {
      const around = ports.extended?.(inner) ?? inner;
      if (ports.policy) return tellingOwnChanges(around, () => this.#policy);
      return announced?.around(around) ?? around;
    };
    super(
      announced || ports.policy ? { ...ports, extended } : ports,
      pushes?.extension() ?? extensionOf(ports, [labels?.extension() ?? {}, seeds?.extension() ?? {}]),
      [
        ...followedBy(
          ports,
          () => this.news,
          () => this.deliveries,
        ),
        ...(advertised ? [advertised] : []),
        serving,
      ],
    );
    this.#serving = serving;
    this.#ports = ports;
    this.#pushes = pushes;
    this.#labels = labels;
    this.#seeds = seeds;
    this.#alarm = alarm;
    const { clock, expiry: rule } = ports;
    const ends = (of: ExpiryRule): ObjectExpiry =>
      new ObjectExpiry({ rule: of, clock, storage: () => this.store.storage, write: (request) => this.write(request) });
    this.#expiry = rule && ends(rule);
    this.#noteBusy = () => ports.noteBusy("hour");
    this.#announced = announced;
    this.#policy = ports.policy?.(this);
    this.#advertised = advertised;
    ports.balancers?.attach(this.store);
    ports.fleet?.attach(this.store);
    advertised?.begin({ read: (key) => this.store.get(key, ""), write: (request) => this.write(request) });
    this.#isEntered = ports.peers.visitList === undefined || this.store.storage.isEntered();
    if (!this.#isEntered && !this.store.isUntouched && !this.store.hasInitialAlone) this.#enterLate();
  }

  override write(request: WriteRequest): Promise<WriteResult> {
    return !this.#isEntered && this.store.isUntouched && request.verb !== "delete" ? this.#firstWrite(request) : super.write(request);
  }

  /** A release before has made the first write. Whoever took the store for unused until now is poked by the next visit. */
  #enterLate(): void {
    this.deliveries.owe();
    this.#enter().catch(() => undefined);
  }

  /** A death before the note: the next life enters again. */
  async #enter(): Promise<void> {
    await this.deliveries.listed();
    await this.#learnLimits();
    if (this.#isEntered) return;
    this.store.storage.noteEntered();
    this.#isEntered = true;
    // The deletion of a namespace closes it in stores that are known, and in no others (rule 20).
    this.namespaces.forget();
  }

  /**
   * Of limits that were set while nobody knew the store it was not told. A store of quotas that is in the list has it now, and tells later ones. One that is
   * not there enters before its first quota, and asks then whom to tell. In doubt it is asked. Rejects without its answer.
   */
  async #learnLimits(): Promise<void> {
    const { clock, peers, quotas } = this.#ports;
    if (!quotas || this.#pushes) return;
    const known = peers.entered ? await withTimeout(clock, RPC_TIMEOUT_MS, peers.entered()).catch(() => null) : null;
    if (known?.includes(QUOTAS) ?? true) await this.limitsKnown();
  }

  /** A death behind the answer of the list leaves a store that is visited for nothing. A dry run is judged by the limits, and enters nowhere. */
  async #firstWrite(request: WriteRequest): Promise<WriteResult> {
    try {
      await (request.options.dryRun ? this.#learnLimits() : this.#enter());
    } catch {
      const status = serviceUnavailable("the first object of this resource cannot be made now, try again later", RETRY_AFTER_SECONDS);
      return { ok: false, status, warnings: [] };
    }
    return super.write(request);
  }

  override async get(key: ObjectKey, resourceVersion: string): Promise<GetResult> {
    await this.#advertised?.ensure();
    await this.#ports.readable?.();
    return super.get(key, resourceVersion);
  }

  override async opened(request: CollectionRequest): Promise<void> {
    await this.#advertised?.ensure();
    await this.#ports.readable?.();
    return super.opened(request);
  }

  /** Tells the stores that missed the limits of quotas. */
  override async maintain(): Promise<void> {
    await this.#pushes?.push();
    await this.#labels?.tell();
    await this.#seeds?.makeDue();
    await this.#ports.fleet?.maintain();
  }

  /** The object's alarm went off; only the stores of Namespaces and of the addresses of pools set one. */
  async alarm(): Promise<void> {
    await Promise.all([this.#labels?.tellDue(), this.#seeds?.makeDue(), this.#ports.fleet?.alarm?.()]);
    this.#alarm.rang();
  }

  setNamespaceQuotas(quotas: NamespaceQuotas): Promise<void> {
    if (!this.#seeds) return Promise.reject(new Error("namespaces start in the store of Namespaces"));
    this.#seeds.set(quotas);
    return Promise.resolve();
  }

  /** See LabelSource. */
  tellNamespaceLabels(): Promise<void> {
    if (!this.#labels) return Promise.reject(new Error("the labels of namespaces are told by the store of Namespaces"));
    this.#labels.ask();
    return Promise.resolve();
  }

  protected override pokes(): Poke[] {
    // A store without a write has nothing to tell, and who follows it need not be made.
    if (this.store.hasInitialAlone) return [];
    const { filters, peers } = this.#ports;
    return [
      ...super.pokes(),
      ...pokesOfAll({ followers: (createdOnly, met) => peers.followers(createdOnly, met), filters, news: () => this.news }),
    ];
  }

  /** See LimitSource; of other stores nobody asks it. */
  limitsHeld(held: HeldLimits[]): Promise<boolean | undefined> {
    return this.#pushes?.compare(held) ?? Promise.resolve(undefined);
  }

  override async objectsSince(cursor: StoreCursor | undefined, limit: number, page?: AskedPage): Promise<FedChanges> {
    const fed = super.objectsSince(cursor, limit, page);
    const settled = this.#announced?.isSettled;
    return settled === undefined ? fed : { ...(await fed), settled };
  }

  override async objectsAfter(after: string, limit: number): Promise<FedPage> {
    const page = super.objectsAfter(after, limit);
    const settled = this.#announced?.isSettled;
    return settled === undefined ? page : { ...(await page), settled };
  }

  async policySince(version: string): Promise<PolicyAnswer> {
    return this.#compiling().policySince(version);
  }

  async ensureDefaults(): Promise<boolean> {
    return this.#compiling().ensureDefaults();
  }

  async rulesChanging(resource: string): Promise<void> {
    return this.#compiling().rulesChanging(resource);
  }

  async askPools(question: PoolQuestion): Promise<PoolAnswer> {
    const { pools } = this.#ports;
    if (!pools) throw new Error("the pools are known by the store of their addresses");
    return pools.askPools(question);
  }

  async askBalancers(question: BalancerQuestion): Promise<BalancerAnswer> {
    const { balancers } = this.#ports;
    if (!balancers) throw new Error("addresses for Services are given by the store of the addresses of pools");
    // What it stores is a write as any other.
    if (!this.#isEntered && this.store.isUntouched && question.does === "take") await this.#enter();
    return balancers.askBalancers(question);
  }

  async askFleet(question: FleetQuestion): Promise<FleetReply> {
    const { fleet } = this.#ports;
    if (!fleet) throw new Error("pools of the root are asked for by the stores of the addresses of pools");
    // What it stores is a write as any other.
    if (!this.#isEntered && this.store.isUntouched && question.does === "take") await this.#enter();
    return fleet.askFleet(question);
  }

  async valuesSince(question: ValuesQuestion, cursor: StoreCursor | undefined): Promise<ObjectValues> {
    const values = await objectValuesSince(this.store, this.store.clock, question, cursor);
    return { ...values, servingMs: this.#serving.ms };
  }

  async expire(): Promise<Expiry> {
    const expired = await this.#expiry?.run();
    // What will end has to be found then, also where nobody writes any more.
    if (expired && expired.left + expired.cut > 0) this.#noteBusy();
    return expired ?? { deleted: 0, left: 0, cut: 0 };
  }

  override async counters(): Promise<StoreCounters> {
    const counters = await super.counters();
    return this.#expiry ? { ...counters, expired: this.#expiry.deleted } : counters;
  }

  /** What follows goes on behind data that came back from a backup: rules that were compiled before may have been others. */
  override async beginAbove(beginning: BeginningAbove): Promise<number | null> {
    // The list may have been brought back from a time before the store entered.
    await this.deliveries.listedAnew();
    await this.#announced?.tell();
    await this.#policy?.rulesChanging(this.store.definition.resource);
    const above = await super.beginAbove(beginning);
    this.#labels?.beginAnew();
    this.#seeds?.beginAnew();
    this.#ports.fleet?.beginAnew();
    // Nobody's recovery waits for a store of quotas that is silent: this one says now and then what it holds, and is told the rest then.
    await this.#learnLimits().catch((error: unknown) => {
      this.#ports.recorder.log("warn", "limits of quotas could not be read behind a recovery", { error: String(error) });
    });
    return above;
  }

  #compiling(): PolicyRpc {
    if (!this.#policy) throw new Error("the rules of access are compiled by the store of ClusterRoles");
    return this.#policy;
  }
}

function followedBy(
  { clock, isFollowed, filters, peers }: PlainStorePorts,
  news: () => StoreNews,
  deliveries: FollowerPokePorts["deliveries"],
): StoreObserver[] {
  const followers: Followers = (createdOnly, met) => peers.followers(createdOnly, met);
  return isFollowed ? [pokingFollowers({ clock, deliveries, followers, news, filters })] : [];
}

/** The store of ResourceQuotas is one of those that count: it tells itself without a call. */
function pushesOf(
  { clock, random, recorder, peers, quotaPushes, definition: { resource } }: PlainStorePorts,
  own: () => PlainStore,
): QuotaPushes | undefined {
  if (!quotaPushes) return undefined;
  const used = new UsedStores(clock, peers.entered);
  const stores = (): CountingStore[] =>
    quotaPushes.stores().map((counting) => (counting.definition.resource === resource ? { ...counting, store: own } : counting));
  const isUnused = (name: string): Promise<boolean> => used.isUnused(name);
  return new QuotaPushes({ clock, random, recorder, marks: quotaPushes.marks, quotas: () => own().store, stores, isUnused });
}

/** `parts`: what of the store of Namespaces looks at changes, besides their end. */
function extensionOf(ports: PlainStorePorts, parts: readonly StoreExtension<undefined>[]): StoreExtension<undefined> | undefined {
  const { clock, recorder, definition, peers } = ports;
  if (definition.resource !== "namespaces") return undefined;
  const used = new UsedStores(clock, peers.entered);
  const content = (): NamespaceContent[] => namespaceContent(clock, peers.stores(), used);
  const close = (namespace: TerminatingNamespace): Promise<unknown> => closeEverywhere(content(), namespace);
  const fence = (namespace: TerminatingNamespace): Promise<EmptyingProgress> => emptyEverywhere(content(), namespace);
  const closing = closingNamespaces({ clock, close });
  const all = [closing, ...parts];
  return {
    committed: (change, operation) => all.forEach((part) => part.committed?.(change, operation)),
    settled: async (operation) => {
      await Promise.all(all.map(async (part) => part.settled?.(operation)));
    },
    writeUndone: () => parts.forEach((part) => part.writeUndone?.()),
    turnLost: () => parts.forEach((part) => part.turnLost?.()),
    ...fencingNamespaces({ clock, recorder, mustBeEmpty: () => !peers.endsNamespaces(), fence }),
  };
}
