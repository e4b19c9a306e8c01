/**
 * One store of a cluster: a StoreEngine and what peers, cron and clients ask of it besides writes of single objects. The services store, the
 * ipaddresses store, the Coordinator's store and the plain stores are this class with another extension.
 */
import { LIST_COPY_LIFETIME_SECONDS } from "./limits";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Digest, Random, Recorder } from "../../core/base/ports";
import { ok, type Result } from "../../core/base/result";
import { throttled } from "../../core/base/throttle";
import { withTimeout } from "../../core/base/timeout";
import type { Status } from "../meta/status";
import { definitionOf, representationsOf } from "../registry/all";
import type { ResourceDefinition, StrategyContext } from "../registry/resource";
import type { FedChanges, FedPage, ObjectFeed } from "../rpc/object-feed";
import type { LinkChanges, LinkedStore, LinkPage, ObjectLinks, StoreCursor } from "../rpc/object-links";
import type {
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
import { type ListBody, listPage, matchingKeys, startWatch, type WatchStart } from "./collection";
import type { StoreExtension } from "./extension";
import { type KeyRange, namespaceRange, objectKey } from "./keys";
import { listCopies, listCopyKey, mayComeFromCopy, storeName } from "./list-copy";
import { ownerSource } from "./list-source";
import { NamespaceGuard, type NamespaceGuardStorage } from "./namespace-guard";
import { ObjectFeedReader } from "./object-feed-reader";
import { changesLinks, ObjectLinksReader } from "./object-links-reader";
import { observed } from "./observed";
import { type Publications, type Publisher, publisherAt } from "./publisher";
import { StoreEngine } from "./store-engine";
import type { StoreStorage } from "./store-storage";
import type { WatchSink } from "./watch-hub";

/** Objects deleted together: enough for one group commit, few enough to leave room for other writes. */
const DELETED_TOGETHER = 200;

/** Finalizers that the status of a namespace names, per resource: clients choose them, and the status must stay readable. */
const FINALIZERS_TOLD_MAX = 100;

/** Between two pokes of the garbage collector: a burst of deletions is one pass of it, not one per turn. */
const COLLECTOR_POKE_INTERVAL_MS = 250;

/** Whom every store calls. Each function answers for one call. */
export interface StorePeers {
  /** the Namespace object of this name, from its store */
  namespace(name: string): Promise<GetResult>;
  garbageCollector(): ControllerRpc;
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
  storage: StoreStorage;
  /** in the same database */
  closedNamespaces: NamespaceGuardStorage;
  publications: Publications;
  peers: StorePeers;
  /** Tells cron that the cluster has work in its jobs of this rhythm. May be lost. */
  noteBusy(rhythm: "minute" | "hour"): void;
  /** Removes everything that the object holds, for ever; rejects when that is done. */
  end(): Promise<never>;
  /** objects deleted together; default DELETED_TOGETHER */
  deletedTogether?: number;
  /** what stands around the extension, for whoever looks at every write */
  extended?<Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply>;
}

export class ClusterStore<Supply = undefined> implements MaintainedStore, LinkedStore, ObjectFeed {
  readonly store: StoreEngine<Supply>;
  readonly #ports: ClusterStorePorts;
  readonly #links: ObjectLinksReader;
  readonly #feed: ObjectFeedReader;
  readonly #namespaces: NamespaceGuard;
  readonly #listCopies: Publisher;

  constructor(ports: ClusterStorePorts, extension?: StoreExtension<Supply>) {
    const { cluster, definition, clock, random, recorder, storage, peers, serviceFamilies } = ports;
    this.#ports = ports;
    this.#namespaces = new NamespaceGuard(ports.closedNamespaces, (name) => withTimeout(clock, RPC_TIMEOUT_MS, peers.namespace(name)));
    this.store = new StoreEngine<Supply>({
      definition,
      representations: representationsOf(definition),
      storage,
      clock,
      random,
      recorder,
      context: () => ({ now: clock.now(), serviceFamilies }),
      extension: this.#followed(extension),
      ...(definition.namespaced ? { namespaces: this.#namespaces } : {}),
    });
    this.#links = new ObjectLinksReader(this.store);
    this.#feed = new ObjectFeedReader(this.store);
    const name = storeName(cluster, definition);
    const publication = { key: listCopyKey(name), lifetimeSeconds: LIST_COPY_LIFETIME_SECONDS };
    this.#listCopies = publisherAt(ports, publication, listCopies(this.store, name, ports.digest));
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.store.write(request);
  }

  get(key: ObjectKey, resourceVersion: string): Promise<GetResult> {
    return Promise.resolve(this.store.get(key, resourceVersion));
  }

  /** Resolves when collections may be read and watched. */
  opened(): Promise<void> {
    return Promise.resolve();
  }

  /** What the header of every list and watch says of this store (list-source.ts). */
  get source(): string {
    return ownerSource(this.store);
  }

  list(request: CollectionRequest): Result<ListBody, Status> {
    if (mayComeFromCopy(request)) this.#listCopies.demand();
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
    const error = await this.deleteKeys(page.value.keys, request.deleteOptions);
    return error ? { ok: false, error } : ok(page.value);
  }

  /**
   * Asks for the namespace first: a store that has just started does not know of a successor of that name, whose objects must stay.
   * Throws without an answer of the namespaces store; the next pass closes.
   */
  async closeNamespace(name: string, uid: string): Promise<void> {
    if (!(await this.#namespaces.learn(name))) throw new Error(`the namespaces store did not answer: whose name ${name} is now is unknown`);
    await this.store.internally(() => this.#namespaces.close(name, uid));
  }

  /** Looks before each batch whether the namespace is still closed: a late call must not touch a successor of the same name. */
  async emptyNamespace(name: string, uid: string): Promise<NamespaceRemains | "notClosed"> {
    const range = namespaceRange(name);
    const isClosed = (): boolean => this.#namespaces.isClosed(name, uid);
    const keys = isClosed() ? matchingKeys(this.store, { range }) : [];
    for (const batch of this.#batches(keys)) {
      if (!isClosed()) break;
      await this.deleteKeys(batch);
    }
    return isClosed() ? this.#remains(range) : "notClosed";
  }

  #remains(range: KeyRange): NamespaceRemains {
    const objects = this.store.storage.objectCount(range.from, range.to);
    if (objects === 0) return { objects, finalizers: [] };
    const finalizers = new Map<string, number>();
    matchingKeys(this.store, {
      range,
      matches({ metadata }) {
        for (const finalizer of new Set(metadata?.finalizers)) {
          const count = finalizers.get(finalizer) ?? 0;
          if (count > 0 || finalizers.size < FINALIZERS_TOLD_MAX) finalizers.set(finalizer, count + 1);
        }
        return false;
      },
    });
    return { objects, finalizers: [...finalizers] };
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

  compact(): Promise<void> {
    this.store.compact();
    return Promise.resolve();
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

  /** The end of the store with its cluster: see Wipeable in tenancy/rpc. */
  wipe(_listed: string[]): Promise<string[]> {
    this.store.hub.endAll();
    return this.#ports.end();
  }

  /** Deletes by storage key, in batches; an object that is gone already counts as deleted. Answers the first other refusal. */
  protected async deleteKeys(keys: readonly string[], options?: CollectionRequest["deleteOptions"]): Promise<Status | undefined> {
    const deleteOptions = options ?? { dryRun: false, preconditions: {}, propagationPolicy: "" as const, gracePeriodSeconds: undefined };
    for (const batch of this.#batches(keys)) {
      const results = await Promise.all(batch.map((key) => this.write({ verb: "delete", key: objectKey(key), options: deleteOptions })));
      for (const result of results) if (!result.ok && result.status.code !== 404) return result.status;
    }
    return undefined;
  }

  *#batches(keys: readonly string[]): Generator<readonly string[]> {
    const size = this.#ports.deletedTogether ?? DELETED_TOGETHER;
    for (let at = 0; at < keys.length; at += size) yield keys.slice(at, at + size);
  }

  /** The representation that the client asked for. */
  #asked({ group, resource }: CollectionRequest): ResourceDefinition {
    return definitionOf(group, resource) ?? this.store.definition;
  }

  /**
   * The garbage collector is poked after turns that concern it. Cron makes up for a lost poke: it hears of every cluster that had writes. A store
   * without an extension leaves nothing half done.
   */
  #followed(extension: StoreExtension<Supply> | undefined): StoreExtension<Supply> {
    const { clock, extended, noteBusy, peers } = this.#ports;
    const poke = throttled(clock, COLLECTOR_POKE_INTERVAL_MS, () => {
      void peers
        .garbageCollector()
        .poke()
        .catch(() => undefined);
    });
    const leavesWork = extension !== undefined;
    let changed = false;
    let relevant = false;
    return observed(extended?.(extension ?? {}) ?? extension ?? {}, {
      committed: (change) => {
        changed = true;
        if (!changesLinks(change)) return;
        relevant = true;
        this.#links.noteRelevant(change.revision);
      },
      turnCommitted: () => {
        if (changed) noteBusy("hour");
        if (relevant || (changed && leavesWork)) noteBusy("minute");
        if (relevant) poke();
        changed = relevant = false;
      },
      turnLost: () => {
        changed = relevant = false;
      },
    });
  }
}
