/**
 * One store of a cluster: a StoreEngine and what peers, cron and clients ask of it besides writes of single objects. The services store, the
 * ipaddresses store, the Coordinator's store and the plain stores are this class with another extension and other observers.
 */
import { HISTORY_COMPACTION_MS, LIST_COPY_LIFETIME_SECONDS, LISTS_RETRY_SECONDS } from "./state/limits";
import type { ControllersSetting } from "../../core/config/controllers";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Digest, Random, Recorder } from "../../core/base/ports";
import { err, type Result } from "../../core/base/result";
import { withTimeout } from "../../core/base/timeout";
import { expired, overloaded, qualifiedResource, type Status, succeeded } from "../meta/status";
import { definitionIn, definitionOf, representationsOf } from "../registry/all";
import { usageRules } from "../registry/resource-quotas/usage";
import type { ResourceDefinition, StrategyContext } from "../registry/resource";
import { unsupported } from "../rpc/protocol";
import type { AskedPage, FedChanges, FedPage, ObjectFeed } from "../rpc/object-feed";
import type { TouchedObjects, TouchedStore } from "../rpc/touched-objects";
import type { HeldLimits, LimitedStore, LimitSource, QuotaMessage, UsageAnswer, UsageQuestion } from "../rpc/quota";
import type { VisitedStore, VisitListRpc, VisitOutcome } from "../rpc/visits";
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
  StoreNews,
  WriteRequest,
  WriteResult,
} from "../rpc/store";
import { BatchedDeletion } from "./write/batched-deletion";
import { pokingCollector } from "./feeds/collector-pokes";
import { Deliveries, type Poke } from "./feeds/deliveries";
import type { StoreExtension } from "./state/extension";
import type { StoreObserver } from "./state/observer";
import { limited } from "./quota/limited";
import { KeptItems } from "./list/kept-items";
import { listCopies, listCopyKey, mayComeFromCopy, storeName } from "./list/list-copy";
import { LIST_BOUNDS, type ListBody, listPage } from "./list/list-page";
import { tellsRemainder } from "./list/list-remainder";
import { ownerSource } from "./list/list-source";
import { StreamedLists } from "./list/streamed-lists";
import { NamespaceEmptying } from "./namespace-emptying";
import { NamespaceGuard, type NamespaceGuardStorage } from "./write/namespace-guard";
import { ObjectFeedReader } from "./feeds/object-feed-reader";
import { touchedSince } from "./feeds/touched-objects-reader";
import { ObjectLinksReader } from "./feeds/object-links-reader";
import { type Publications, type Publisher, publisherAt } from "./list/publisher";
import { QuotaGuard, type QuotaStorage } from "./quota/quota-guard";
import { StoreEngine } from "./engine/store-engine";
import { HistoryLost } from "./state/snapshot";
import type { StoreStorage } from "./state/store-storage";
import type { WatchSink } from "./hub/watch-hub";
import { SocketWatches } from "./watch/socket-watches";
import type { BeginningRoom } from "./watch/watch-beginning";
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
  /** where the store asks for cron's visits; absent = nobody visits */
  visitList?(): Pick<VisitListRpc, "askVisits">;
}

export interface ClusterStorePorts {
  /** the cluster's id */
  cluster: string;
  definition: ResourceDefinition;
  /** asked at each use: a cluster may begin with ranges of its own */
  serviceFamilies(): StrategyContext["serviceFamilies"];
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
  /** See StoreOptions. */
  abort(reason: string): void;
  /** large lists that the store sends at once; absent or 0 = any number */
  streamedListsMax?: number;
  /** objects deleted together; the default is that of batched-deletion.ts */
  deletedTogether?: number;
  /** what stands around the extension, for whoever looks at every write */
  extended?<Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply>;
}

/** The store of ResourceQuotas may tell twice what it asks for, and may wait for itself meanwhile. */
const LIMITS_TIMEOUT_MS = 2 * RPC_TIMEOUT_MS;
/** How often a store that refuses says which limits it holds. */
const LIMITS_TOLD_MS = 60_000;

/** The verbs of writes that this release knows. A later one may know others. */
const VERBS: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "act"] satisfies WriteRequest["verb"][]);

function unknownVerb({ verb }: WriteRequest): Error {
  return unsupported(`write with the verb ${verb}`);
}

/** Whether a write most likely concerns the garbage collector. A renewal repeats the owner of its Lease, so an update tells nothing. */
function mayChangeLinks(request: WriteRequest): boolean {
  return request.verb === "delete" || (request.verb === "create" && request.object.includes('"ownerReferences"'));
}

export class ClusterStore<Supply = undefined>
  implements BatchedStore, MaintainedStore, LinkedStore, LimitedStore, ObjectFeed, TouchedStore, VisitedStore
{
  readonly store: StoreEngine<Supply>;
  /** the watches of Workers */
  readonly sockets: SocketWatches;
  readonly #ports: ClusterStorePorts;
  readonly #links: ObjectLinksReader;
  readonly #feed: ObjectFeedReader;
  protected readonly deletion: BatchedDeletion;
  protected readonly deliveries: Deliveries;
  protected readonly namespaces: NamespaceGuard;
  readonly #emptying: NamespaceEmptying;
  readonly #keptItems = new KeptItems();
  readonly #streamedLists: StreamedLists;
  /** Watches that begin with much are lists at first. */
  readonly #beginnings: BeginningRoom;
  readonly #listCopies: Publisher;
  readonly #quotas: QuotaGuard | undefined;
  #limitsToldAt = -Infinity;
  /** A turn may leave something undone: the work of an extension, or what an observer causes. */
  readonly #leavesWork: boolean;

  constructor(ports: ClusterStorePorts, extension?: StoreExtension<Supply>, observers: readonly StoreObserver[] = []) {
    const { cluster, definition, clock, random, recorder, serverStartedAt = 0, storage, peers } = ports;
    this.#ports = ports;
    this.#streamedLists = new StreamedLists(clock, ports.streamedListsMax ?? 0);
    this.#beginnings = { places: this.#streamedLists, bounds: LIST_BOUNDS };
    const namespaces = new NamespaceGuard(ports.closedNamespaces, (name) => withTimeout(clock, RPC_TIMEOUT_MS, peers.namespace(name)));
    this.namespaces = namespaces;
    this.#leavesWork = extension !== undefined || observers.some(({ isIdle }) => !isIdle);
    const deliveries = new Deliveries({ clock, name: qualifiedResource(definition), visitList: () => peers.visitList?.() });
    this.deliveries = deliveries;
    const pokes = pokingCollector({
      clock,
      garbageCollector: () => peers.garbageCollector(),
      deliveries,
      noteBusy: (rhythm) => this.#noteBusy(rhythm),
      noteRelevant: (revision) => this.#links.noteRelevant(revision),
      news: () => this.news,
      leavesWork: this.#leavesWork,
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
      context: () => ({ now: clock.now(), serviceFamilies: ports.serviceFamilies() }),
      extension: this.#inLimits(ports, around),
      observers: [...observers, pokes, this.#keptItems],
      abort: (reason) => ports.abort(reason),
      ...(definition.namespaced ? { namespaces } : {}),
    });
    this.sockets = new SocketWatches(this.store, (request) => this.#asked(request), this.#beginnings);
    this.deletion = new BatchedDeletion((request) => this.write(request), ports.deletedTogether);
    this.#emptying = new NamespaceEmptying(this.store, namespaces, this.deletion);
    this.#links = new ObjectLinksReader(this.store);
    this.#feed = new ObjectFeedReader(this.store);
    const name = storeName(cluster, definition);
    const publication = { key: listCopyKey(name), lifetimeSeconds: LIST_COPY_LIFETIME_SECONDS };
    this.#listCopies = publisherAt(ports, publication, listCopies(this.store, name, ports.digest));
  }

  /** Rejects as `unsupported` where this release does not know the verb. */
  write(request: WriteRequest): Promise<WriteResult> {
    if (!VERBS.has(request.verb)) return Promise.reject(unknownVerb(request));
    if (this.#leavesWork || mayChangeLinks(request)) this.deliveries.spoke();
    return this.store.write(request);
  }

  writeAll(requests: WriteRequest[]): Promise<WriteResult[]> {
    // Nothing is carried out of a call that is unsupported.
    const unknown = requests.find(({ verb }) => !VERBS.has(verb));
    if (unknown) return Promise.reject(unknownVerb(unknown));
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

  /** What a poke says of this store. */
  get news(): StoreNews {
    const { definition, incarnation, revision } = this.store;
    return { store: qualifiedResource(definition), incarnation, revision };
  }

  /** What the header of every list and watch says of this store (list-source.ts). */
  get source(): string {
    return ownerSource(this.store);
  }

  list(request: CollectionRequest): Result<ListBody, Status> {
    if (!request.unfollowed) this.store.noteList();
    if (mayComeFromCopy(request, this.#ports.definition)) this.#listCopies.demand();
    return this.#placed(listPage(this.store, request, this.#asked(request), this.#keptItems));
  }

  /** Begins a watch whose bytes go to `sink`. */
  watch(request: CollectionRequest, sink: WatchSink): Result<WatchStart, Status> {
    return startWatch(this.store, request, this.#asked(request), sink, this.#beginnings);
  }

  /** Deletes what the list shows; answers that list, or the Status of #deleteListed. A large list is read twice: its objects are not held meanwhile. */
  async deleteCollection(request: CollectionRequest): Promise<Result<ListBody, Status>> {
    const page = this.#placed(listPage(this.store, request, this.#asked(request)));
    if (!page.ok) return page;
    let isAnswer = false;
    try {
      const refusal = await this.#deleteListed(page.value, request);
      isAnswer = !refusal;
      return refusal ? err(refusal) : page;
    } finally {
      if (!isAnswer) page.value.rest?.place?.end();
    }
  }

  /**
   * Answers the first refusal. A list can be given no more where the history has forgotten its end, or its place is lost. Then it is the Success of its
   * deletion, which upstream's API has, too.
   */
  async #deleteListed({ begun, rest }: ListBody, { deleteOptions }: CollectionRequest): Promise<Status | undefined> {
    const keys = [...begun.keys];
    const last = keys.at(-1);
    // All keys before the first deletion: deletions take their time, in which the history may forget the list.
    if (rest && last !== undefined) {
      try {
        for await (const page of rest.behind(last)) keys.push(...page.keys);
      } catch (error) {
        if (error instanceof HistoryLost) return expired(error.message);
        throw error;
      }
    }
    const refusal = await this.deletion.delete(keys, deleteOptions);
    if (refusal || !rest) return refusal;
    return rest.isThere() && !rest.place?.isOver ? undefined : succeeded(200, "");
  }

  /** A large list with its place, or its refusal. */
  #placed(page: Result<ListBody, Status>): Result<ListBody, Status> {
    if (!page.ok || !page.value.rest) return page;
    const place = this.#streamedLists.begin();
    if (!place) return err(overloaded(LISTS_RETRY_SECONDS));
    page.value.rest.place = place;
    return page;
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

  objectsSince(cursor: StoreCursor | undefined, limit: number, page?: AskedPage): Promise<FedChanges> {
    return Promise.resolve(this.#feed.objectsSince(cursor, limit, page));
  }

  objectsAfter(after: string, limit: number): Promise<FedPage> {
    return Promise.resolve(this.#feed.objectsAfter(after, limit));
  }

  objectsNamed(keys: ObjectKey[]): Promise<(string | null)[]> {
    return Promise.resolve(this.#feed.objectsNamed(keys));
  }

  /** See TouchedStore. */
  touchedSince(cursor: StoreCursor, label?: string): Promise<TouchedObjects> {
    return Promise.resolve(touchedSince(this.store, cursor, label));
  }

  /** A plain store has nothing that could be left half done. */
  maintain(): Promise<void> {
    return Promise.resolve();
  }

  /** See VisitedStore. */
  visit(): Promise<VisitOutcome> {
    return this.deliveries.visit(
      () => this.maintain(),
      () => this.pokes(),
    );
  }

  /** Pokes of everybody whom the store ever pokes. */
  protected pokes(): Poke[] {
    const { peers } = this.#ports;
    const [collector, quotas] = [peers.garbageCollector(), this.#quotas && peers.quotaController?.()];
    const { news } = this;
    return [...(collector ? [() => collector.poke([news], true)] : []), ...(quotas ? [() => quotas.poke(undefined, true)] : [])];
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
      watchers: this.store.hub.tended,
      sockets: this.store.hub.size - this.store.hub.tended,
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

  /** The cluster has work in cron's jobs of this rhythm. That of the minute is the store's own visit. */
  #noteBusy(rhythm: "minute" | "hour"): void {
    this.#ports.noteBusy(rhythm);
    if (rhythm === "minute") this.deliveries.spoke();
  }

  /** Resolves when the store has the limits that there are. Rejects where that is not known. */
  protected async limitsKnown(): Promise<void> {
    const { clock, peers } = this.#ports;
    const [held, source] = [this.#heldLimits(), peers.limitSource?.()];
    if (!held || !source) return;
    const isKnown = await withTimeout(clock, LIMITS_TIMEOUT_MS, source.limitsHeld([held]));
    if (isKnown === false) throw new Error("the limits of quotas could not be told");
  }

  #heldLimits(): HeldLimits | undefined {
    return this.#quotas && { resource: qualifiedResource(this.#ports.definition), ...this.#quotas.held };
  }

  /** The limits that refuse may be lifted: the store of ResourceQuotas, or this one, may have been brought back in time. */
  #tellLimits(): void {
    const { clock, peers } = this.#ports;
    const [held, now] = [this.#heldLimits(), clock.now()];
    if (!held || Math.abs(now - this.#limitsToldAt) < LIMITS_TOLD_MS) return;
    this.#limitsToldAt = now;
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
      if (peers.quotaController?.()) this.#noteBusy("minute");
    };
    const usageChanged = (): void => {
      const controller = peers.quotaController?.();
      if (controller) this.deliveries.send(() => controller.poke(undefined, true));
    };
    return limited({ clock, guard, usageChanged, noteBusy }, extension);
  }

  /** The representation that the client asked for. */
  #asked({ group, version, resource }: CollectionRequest): ResourceDefinition {
    return definitionIn(group, version, resource) ?? definitionOf(group, resource) ?? this.store.definition;
  }
}
