/**
 * One store of a cluster: a StoreEngine and what peers, cron and clients ask of it besides writes of single objects. The services store, the
 * ipaddresses store, the Coordinator's store and the plain stores are this class with another extension and other observers.
 */
import { HISTORY_COMPACTION_MS, LIST_COPY_LIFETIME_SECONDS } from "./state/limits";
import type { ControllersSetting } from "../../core/config/controllers";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Digest, Random, Recorder } from "../../core/base/ports";
import { ok, type Result } from "../../core/base/result";
import { withTimeout } from "../../core/base/timeout";
import { qualifiedResource, type Status } from "../meta/status";
import { definitionOf, representationsOf } from "../registry/all";
import { usageRules } from "../registry/resource-quotas/usage";
import type { ResourceDefinition, StrategyContext } from "../registry/resource";
import type { FedChanges, FedPage, ObjectFeed } from "../rpc/object-feed";
import type { LimitedStore, LimitSource, QuotaMessage, UsageAnswer, UsageQuestion } from "../rpc/quota";
import type { LinkChanges, LinkedStore, LinkPage, ObjectLinks, SoughtObject, StoreCursor, Whereabouts } from "../rpc/object-links";
import type {
  BatchedStore,
  BeginningAbove,
  CollectionRequest,
  ControllerRpc,
  GetResult,
  MaintainedStore,
  NamespaceRemains,
  ObjectKey,
  StoreCounters,
  WriteRequest,
  WriteResult,
} from "../rpc/store";
import { BatchedDeletion } from "./write/batched-deletion";
import { pokingCollector } from "./feeds/collector-pokes";
import type { StoreExtension } from "./state/extension";
import type { StoreObserver } from "./state/observer";
import { limited } from "./quota/limited";
import { listCopies, listCopyKey, mayComeFromCopy, storeName } from "./list/list-copy";
import { type ListBody, listPage } from "./list/list-page";
import { tellsRemainder } from "./list/list-remainder";
import { ownerSource } from "./list/list-source";
import { NamespaceEmptying } from "./namespace-emptying";
import { NamespaceGuard, type NamespaceGuardStorage } from "./write/namespace-guard";
import { ObjectFeedReader } from "./feeds/object-feed-reader";
import { ObjectLinksReader } from "./feeds/object-links-reader";
import { type Publications, type Publisher, publisherAt } from "./list/publisher";
import { QuotaGuard, type QuotaStorage } from "./quota/quota-guard";
import { StoreEngine } from "./engine/store-engine";
import type { StoreStorage } from "./state/store-storage";
import type { WatchSink } from "./hub/watch-hub";
import { startWatch, type WatchStart } from "./watch/watch-start";

/** Whom every store calls. Each function answers for one call. */
export interface StorePeers {
  /** the Namespace object of this name, from its store */
  namespace(name: string): Promise<GetResult>;
  /** undefined = switched off */
  garbageCollector(): ControllerRpc | undefined;
  /** the controller that says in their status what quotas limit and what is used; undefined = switched off */
  quotaController?(): ControllerRpc | undefined;
  /** the store of ResourceQuotas */
  limitSource?(): LimitSource;
}

export interface ClusterStorePorts {
  /** the cluster's id */
  cluster: string;
  definition: ResourceDefinition;
  serviceFamilies: StrategyContext["serviceFamilies"];
  clock: Clock;
  random: Random;
  recorder: Recorder;
  digest: Digest;
  /** see RevisionsPorts */
  serverStartedAt?: number;
  storage: StoreStorage;
  /** in the same database */
  closedNamespaces: NamespaceGuardStorage;
  publications: Publications;
  /** in the same database; absent = no quota counts the objects here */
  quotas?: QuotaStorage;
  peers: StorePeers;
  /** Tells cron that the cluster has work in its jobs of this rhythm. May be lost. */
  noteBusy(rhythm: "minute" | "hour"): void;
  /** Remembers which controllers run in the cluster; durable with the writes of the turn. */
  controllersSet(setting: ControllersSetting): void;
  /** Removes everything that the object holds, for ever; rejects when that is done. */
  end(): Promise<never>;
  /** objects deleted together; the default is that of batched-deletion.ts */
  deletedTogether?: number;
  /** what stands around the extension, for whoever looks at every write */
  extended?<Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply>;
}

/** How often a store that refuses says which limits it holds. */
const LIMITS_TOLD_MS = 60_000;

export class ClusterStore<Supply = undefined> implements BatchedStore, MaintainedStore, LinkedStore, LimitedStore, ObjectFeed {
  readonly store: StoreEngine<Supply>;
  readonly #ports: ClusterStorePorts;
  readonly #links: ObjectLinksReader;
  readonly #feed: ObjectFeedReader;
  protected readonly deletion: BatchedDeletion;
  readonly #emptying: NamespaceEmptying;
  readonly #listCopies: Publisher;
  readonly #quotas: QuotaGuard | undefined;
  #limitsToldAt = -Infinity;

  constructor(ports: ClusterStorePorts, extension?: StoreExtension<Supply>, observers: readonly StoreObserver[] = []) {
    const { cluster, definition, clock, random, recorder, serverStartedAt = 0, storage, peers, serviceFamilies } = ports;
    this.#ports = ports;
    const namespaces = new NamespaceGuard(ports.closedNamespaces, (name) => withTimeout(clock, RPC_TIMEOUT_MS, peers.namespace(name)));
    const pokes = pokingCollector({
      clock,
      garbageCollector: () => peers.garbageCollector(),
      noteBusy: (rhythm) => ports.noteBusy(rhythm),
      noteRelevant: (revision) => this.#links.noteRelevant(revision),
      head: () => this.store.revision,
      leavesWork: extension !== undefined || observers.length > 0,
    });
    this.#quotas = this.#guard(ports);
    const around = ports.extended?.(extension ?? {}) ?? extension ?? {};
    this.store = new StoreEngine<Supply>({
      definition,
      representations: representationsOf(definition),
      storage,
      clock,
      random,
      recorder,
      serverStartedAt,
      context: () => ({ now: clock.now(), serviceFamilies }),
      extension: this.#inLimits(ports, around),
      observers: [...observers, pokes],
      ...(definition.namespaced ? { namespaces } : {}),
    });
    this.deletion = new BatchedDeletion((request) => this.write(request), ports.deletedTogether);
    this.#emptying = new NamespaceEmptying(this.store, namespaces, this.deletion);
    this.#links = new ObjectLinksReader(this.store);
    this.#feed = new ObjectFeedReader(this.store);
    const name = storeName(cluster, definition);
    const publication = { key: listCopyKey(name), lifetimeSeconds: LIST_COPY_LIFETIME_SECONDS };
    this.#listCopies = publisherAt(ports, publication, listCopies(this.store, name, ports.digest));
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.store.write(request);
  }

  writeAll(requests: WriteRequest[]): Promise<WriteResult[]> {
    return Promise.all(requests.map((request) => this.write(request)));
  }

  async get(key: ObjectKey, resourceVersion: string): Promise<GetResult> {
    await this.store.waitFor(resourceVersion);
    return this.store.get(key, resourceVersion);
  }

  /** Resolves when this collection may be read or watched: the store has its revision, or has waited for it in vain, and has its counts. */
  async opened(request: CollectionRequest): Promise<void> {
    await this.store.waitFor(request.resourceVersion);
    if (tellsRemainder(request)) await this.store.counted();
  }

  /** What the header of every list and watch says of this store (list-source.ts). */
  get source(): string {
    return ownerSource(this.store);
  }

  list(request: CollectionRequest): Result<ListBody, Status> {
    if (mayComeFromCopy(request, this.#ports.definition)) this.#listCopies.demand();
    return listPage(this.store, request, this.#asked(request));
  }

  /** Begins a watch whose bytes go to `sink`. */
  watch(request: CollectionRequest, sink: WatchSink): Result<WatchStart, Status> {
    return startWatch(this.store, request, this.#asked(request), sink);
  }

  /** Deletes what the list shows; answers that list, or the first refusal. */
  async deleteCollection(request: CollectionRequest): Promise<Result<ListBody, Status>> {
    const page = listPage(this.store, request, this.#asked(request));
    if (!page.ok) return page;
    const error = await this.deletion.delete(page.value.keys, request.deleteOptions);
    return error ? { ok: false, error } : ok(page.value);
  }

  /** Throws without an answer of the namespaces store. */
  closeNamespace(name: string, uid: string): Promise<void> {
    return this.#emptying.close(name, uid);
  }

  emptyNamespace(name: string, uid: string): Promise<NamespaceRemains | "notClosed"> {
    return this.#emptying.empty(name, uid);
  }

  /** See LimitedStore. A store whose objects no quota counts has all that there is to know. */
  takeQuotas(message: QuotaMessage): Promise<number> {
    const guard = this.#quotas;
    return guard ? this.store.internally(() => guard.take(message)) : Promise.resolve(message.through);
  }

  async quotaReport(questions: UsageQuestion[]): Promise<UsageAnswer> {
    const guard = this.#quotas;
    const none = ({ names }: UsageQuestion): number[] => names.map(() => 0);
    if (!guard) return { amounts: questions.map(none), held: { source: "", through: 0 } };
    await this.store.counted();
    const { held } = guard;
    return { amounts: questions.map((question) => guard.usage(question.namespace, question.names) ?? none(question)), held };
  }

  async quotaUsage(questions: UsageQuestion[]): Promise<number[][]> {
    return (await this.quotaReport(questions)).amounts;
  }

  changesSince(cursor: StoreCursor | undefined, limit: number): Promise<LinkChanges> {
    return Promise.resolve(this.#links.changesSince(cursor, limit));
  }

  listMetadata(after: string, limit: number): Promise<LinkPage> {
    return Promise.resolve(this.#links.listMetadata(after, limit));
  }

  metadataOf(keys: ObjectKey[]): Promise<(ObjectLinks | null)[]> {
    return Promise.resolve(this.#links.metadataOf(keys));
  }

  whereabouts(sought: SoughtObject[], after: string): Promise<Whereabouts> {
    return Promise.resolve(this.#links.whereabouts(sought, after));
  }

  objectsSince(cursor: StoreCursor | undefined, limit: number): Promise<FedChanges> {
    return Promise.resolve(this.#feed.objectsSince(cursor, limit));
  }

  objectsAfter(after: string, limit: number): Promise<FedPage> {
    return Promise.resolve(this.#feed.objectsAfter(after, limit));
  }

  objectsNamed(keys: ObjectKey[]): Promise<(string | null)[]> {
    return Promise.resolve(this.#feed.objectsNamed(keys));
  }

  /** A plain store has nothing that could be left half done. */
  maintain(): Promise<void> {
    return Promise.resolve();
  }

  /** Other work of the store has its turns meanwhile. What is left after HISTORY_COMPACTION_MS waits for the next hour. */
  async compact(): Promise<void> {
    const { clock } = this.#ports;
    const endsAt = clock.now() + HISTORY_COMPACTION_MS;
    while (this.store.compact() && clock.now() < endsAt) await clock.nextTurn();
  }

  async beginAbove({ head, asOf }: BeginningAbove): Promise<number | null> {
    const beginning = await this.store.beginAbove(head, asOf);
    this.#links.noteRelevant(this.store.revision);
    return beginning ?? null;
  }

  endWatches(): Promise<void> {
    this.store.hub.endAll();
    return Promise.resolve();
  }

  counters(): Promise<StoreCounters> {
    const { drains, operations } = this.store.counters;
    return Promise.resolve({
      drains,
      operations,
      watchers: this.store.hub.size,
      watches: this.store.hub.open,
      revision: this.store.revision,
    });
  }

  /** See SwitchedObject in tenancy/rpc. */
  setControllers(setting: ControllersSetting): Promise<void> {
    this.#ports.controllersSet(setting);
    return Promise.resolve();
  }

  /** The end of the store with its cluster: see Wipeable in tenancy/rpc. */
  wipe(_listed: string[]): Promise<string[]> {
    this.store.hub.endAll();
    return this.#ports.end();
  }

  #guard({ definition, quotas }: ClusterStorePorts): QuotaGuard | undefined {
    const rules = usageRules(definition);
    if (!rules || !quotas) return undefined;
    return new QuotaGuard({
      ...{ definition, rules, storage: quotas },
      objects: () => this.store.storage,
      countIn: (namespace) => this.store.countIn(namespace),
      counted: () => this.store.counted(),
      refused: () => this.#tellLimits(),
    });
  }

  /** The limits that refuse may be lifted: the store of ResourceQuotas, or this one, may have been brought back in time. */
  #tellLimits(): void {
    const { clock, definition, peers } = this.#ports;
    const now = clock.now();
    if (!this.#quotas || Math.abs(now - this.#limitsToldAt) < LIMITS_TOLD_MS) return;
    this.#limitsToldAt = now;
    const held = { resource: qualifiedResource(definition), ...this.#quotas.held };
    void peers
      .limitSource?.()
      .limitsHeld([held])
      .catch(() => undefined);
  }

  #inLimits(ports: ClusterStorePorts, extension: StoreExtension<Supply>): StoreExtension<Supply> {
    const { clock, peers } = ports;
    const guard = this.#quotas;
    if (!guard) return extension;
    const noteBusy = (): void => {
      if (peers.quotaController?.()) ports.noteBusy("minute");
    };
    const usageChanged = (): void => {
      void peers
        .quotaController?.()
        ?.poke()
        .catch(() => undefined);
    };
    return limited({ clock, guard, usageChanged, noteBusy }, extension);
  }

  /** The representation that the client asked for. */
  #asked({ group, resource }: CollectionRequest): ResourceDefinition {
    return definitionOf(group, resource) ?? this.store.definition;
  }
}
