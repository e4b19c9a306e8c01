/**
 * The shell around a ResourceStore brain: storage, alarm, RPC, streams. The plain stores, the services store and the ipaddresses store
 * are this class with another extension.
 */
import { DurableObject } from "cloudflare:workers";
import { LIST_COPY_LIFETIME_SECONDS, RPC_TIMEOUT_MS } from "../src/core/base/limits";
import { EarliestAlarm } from "../src/core/base/earliest-alarm";
import { throttled } from "../src/core/base/throttle";
import { withTimeout } from "../src/core/base/timeout";
import { type Config, parseConfig } from "../src/core/config/config";
import { definitionOf, representationsOf } from "../src/api/registry/all";
import type { Clock, Random, Recorder } from "../src/core/base/ports";
import type { ResourceDefinition } from "../src/api/registry/resource";
import type { Wipeable } from "../src/tenancy/rpc";
import type { FedChanges, FedPage, ObjectFeed } from "../src/api/rpc/object-feed";
import type { LinkChanges, LinkedStore, LinkPage, ObjectLinks, StoreCursor } from "../src/api/rpc/object-links";
import type {
  CollectionRequest,
  GetResult,
  MaintainedStore,
  NamespaceRemains,
  ObjectKey,
  StoreCounters,
  StoreRpc,
  WriteRequest,
  WriteResult,
} from "../src/api/rpc/store";
import { listPage, matchingKeys } from "../src/api/store/collection";
import { COLLECTION_HEADER, decodeCollection } from "../src/api/store/collection-header";
import type { StoreExtension } from "../src/api/store/extension";
import { type KeyRange, namespaceRange } from "../src/api/store/keys";
import { listCopies, listCopyKey, mayComeFromCopy, storeName } from "../src/api/store/list-copy";
import { ownerSource } from "../src/api/store/list-source";
import { NamespaceGuard } from "../src/api/store/namespace-guard";
import { ObjectFeedReader } from "../src/api/store/object-feed-reader";
import { changesLinks, ObjectLinksReader } from "../src/api/store/object-links-reader";
import { observed } from "../src/api/store/observed";
import type { Publisher } from "../src/api/store/publisher";
import { ResourceStore as Store } from "../src/api/store/resource-store";
import { listResponse, pageResponse, statusResponse, watchResponse } from "./collection-response";
import { noteBusy } from "./busy";
import type { Env } from "./env";
import { controller, namespacesStore } from "./peers";
import { isSocketRequest, watchSocketResponse } from "./watch-socket";
import { setAlarm, systemClock, systemDigest, systemRandom, systemRecorder } from "./ports";
import { publisher } from "./publisher";
import { IDENTITY_SCHEMA, objectName } from "./sql/identity-sql";
import { migrate, type Migration } from "./sql/migrate";
import { sqlNamespaceGuardStorage, sqlStoreStorage, STORE_SCHEMA } from "./sql/store-sql";
import { wipe } from "./wipe";

/** The first steps of every store's schema; a class with more tables appends its own. */
export const STORE_MIGRATIONS: readonly Migration[] = [{ id: 1, sql: IDENTITY_SCHEMA + STORE_SCHEMA }];

/** Objects deleted by one deletecollection turn: enough for one group commit, few enough to leave room for other writes. */
const DELETE_TOGETHER = 200;

/** Finalizers that the status of a namespace names, per resource: clients choose them, and the status must stay readable. */
const FINALIZERS_TOLD_MAX = 100;

/** Between two pokes of the garbage collector: a burst of deletions is one pass of it, not one per turn. */
const COLLECTOR_POKE_INTERVAL_MS = 250;

/** Between two pokes of repair: many changes by hand are one pass of it. */
const REPAIR_POKE_INTERVAL_MS = 500;

export interface ObjectIdentity {
  cluster: string;
  group: string;
  resource: string;
}

/** `default/services`, `default/leases.coordination.k8s.io` */
function parseStoreName(name: string): ObjectIdentity {
  const slash = name.indexOf("/");
  const [resource = "", ...group] = name.slice(slash + 1).split(".");
  return { cluster: name.slice(0, slash), group: group.join("."), resource };
}

/** Variables are checked by the Worker before any object is called; an object that finds them broken all the same must not run. */
export function configOf(env: Env): Config {
  const config = parseConfig(env as unknown as Record<string, string | undefined>);
  if (!config.ok) throw new Error(config.error.join("; "));
  return config.value;
}

/** What a store's object is before it has a brain: its tables, its name, its ports. */
export interface StoreSetting extends ObjectIdentity {
  name: string;
  config: Config;
  definition: ResourceDefinition;
  clock: Clock;
  random: Random;
  recorder: Recorder;
  /** set in the turn of the caller, so that it is durable with the rows that it is for */
  alarm: EarliestAlarm;
}

/** Opens the tables and finds out which store this is. `identify` reads the object's name where it does not name the resource. */
export function openStore(
  ctx: DurableObjectState,
  env: Env,
  migrations: readonly Migration[],
  identify: (name: string) => ObjectIdentity = parseStoreName,
): StoreSetting {
  migrate(ctx.storage, migrations, systemClock.now());
  const name = objectName(ctx);
  const identity = identify(name);
  const definition = definitionOf(identity.group, identity.resource);
  if (!definition) throw new Error(`no resource ${identity.resource} in group ${identity.group}`);
  return {
    ...identity,
    name,
    definition,
    config: configOf(env),
    clock: systemClock,
    random: systemRandom(),
    recorder: systemRecorder({ object: name }),
    alarm: new EarliestAlarm(systemClock, (atMs) => setAlarm(ctx.storage, atMs)),
  };
}

export abstract class StoreObject<Supply>
  extends DurableObject<Env>
  implements StoreRpc, MaintainedStore, LinkedStore, ObjectFeed, Wipeable
{
  protected readonly store: Store<Supply>;
  readonly #links: ObjectLinksReader;
  readonly #feed: ObjectFeedReader;
  readonly #namespaces: NamespaceGuard;
  readonly #listCopies: Publisher;

  protected constructor(ctx: DurableObjectState, env: Env, setting: StoreSetting, extension?: StoreExtension<Supply>) {
    super(ctx, env);
    const { definition, cluster, clock, random, recorder, config } = setting;
    this.#namespaces = new NamespaceGuard(sqlNamespaceGuardStorage(ctx.storage), (namespace) =>
      withTimeout(clock, RPC_TIMEOUT_MS, namespacesStore(env, cluster).get({ namespace: "", name: namespace }, "")),
    );
    this.store = new Store<Supply>({
      definition,
      representations: representationsOf(definition),
      storage: sqlStoreStorage(ctx.storage),
      clock,
      random,
      recorder,
      context: () => ({ now: clock.now(), serviceFamilies: config.serviceFamilies }),
      extension: this.#followed(extension, setting),
      ...(definition.namespaced ? { namespaces: this.#namespaces } : {}),
    });
    this.#links = new ObjectLinksReader(this.store);
    this.#feed = new ObjectFeedReader(this.store);
    const name = storeName(cluster, definition);
    this.#listCopies = publisher(
      { ctx, env, setting, key: listCopyKey(name), lifetimeSeconds: LIST_COPY_LIFETIME_SECONDS },
      listCopies(this.store, name, systemDigest),
    );
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.store.write(request);
  }

  get(key: ObjectKey, resourceVersion: string): Promise<GetResult> {
    return Promise.resolve(this.store.get(key, resourceVersion));
  }

  /** Lists, watches and deletecollection: the CollectionRequest comes in a header, the body goes out in its final form. */
  override async fetch(request: Request): Promise<Response> {
    const collection = decodeCollection(request.headers.get(COLLECTION_HEADER) ?? "");
    const definition = definitionOf(collection.group, collection.resource) ?? this.store.definition;
    switch (collection.verb) {
      case "list":
        if (mayComeFromCopy(collection)) this.#listCopies.demand();
        return listResponse(this.store, collection, definition);
      case "watch":
        if (isSocketRequest(request)) {
          return watchSocketResponse(this.store, collection, definition, request.headers.get("Sec-WebSocket-Protocol") ?? "");
        }
        return watchResponse(this.store, collection, definition, request.signal);
      case "deletecollection":
        return this.#deleteCollection(collection, definition);
    }
  }

  /**
   * Asks for the namespace first: a store that has just started would not know that a successor has the name, whose objects must stay.
   * Throws when nobody can tell; the next pass closes.
   */
  async closeNamespace(name: string, uid: string): Promise<void> {
    if (!(await this.#namespaces.learn(name))) throw new Error(`the namespaces store did not answer: whose name ${name} is now is unknown`);
    await this.store.internally(() => this.#namespaces.close(name, uid));
  }

  /** Asks before each step: a call that comes late must not touch the namespace that has the name by then. */
  async emptyNamespace(name: string, uid: string): Promise<NamespaceRemains | "notClosed"> {
    const { from, to } = namespaceRange(name);
    const isClosed = (): boolean => this.#namespaces.isClosed(name, uid);
    const keys = isClosed() ? matchingKeys(this.store, { range: { from, to } }) : [];
    for (let at = 0; at < keys.length && isClosed(); at += DELETE_TOGETHER) await this.deleteKeys(keys.slice(at, at + DELETE_TOGETHER));
    return isClosed() ? this.#remains({ from, to }) : "notClosed";
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

  async maintain(): Promise<void> {
    // A plain store has nothing that could be left half done.
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
    return Promise.resolve({ drains, operations, watchers: this.store.hub.size, revision: this.store.revision });
  }

  wipe(_listed: string[]): Promise<string[]> {
    this.store.hub.endAll();
    return wipe(this.ctx);
  }

  /**
   * The garbage collector is poked after turns that it may have to act upon; a lost poke is made up for by cron, which hears of clusters that had
   * writes. A store without an extension leaves nothing half done.
   */
  #followed(extension: StoreExtension<Supply> | undefined, { cluster, clock }: StoreSetting): StoreExtension<Supply> {
    const poke = throttled(clock, COLLECTOR_POKE_INTERVAL_MS, () => {
      void controller(this.env, cluster, "garbage-collection")
        .poke()
        .catch(() => undefined);
    });
    const leavesWork = extension !== undefined;
    let changed = false;
    let relevant = false;
    return observed(extension ?? {}, {
      committed: (change) => {
        changed = true;
        if (!changesLinks(change)) return;
        relevant = true;
        this.#links.noteRelevant(change.revision);
      },
      turnCommitted: () => {
        if (changed) noteBusy(this.env, cluster, "hour");
        if (relevant || (changed && leavesWork)) noteBusy(this.env, cluster, "minute");
        if (relevant) poke();
        changed = relevant = false;
      },
      turnLost: () => {
        changed = relevant = false;
      },
    });
  }

  async #deleteCollection(request: CollectionRequest, definition: ResourceDefinition): Promise<Response> {
    const page = listPage(this.store, request, definition);
    if (!page.ok) return statusResponse(page.error);
    const failure = await this.deleteKeys(page.value.keys, request.deleteOptions);
    return failure ?? pageResponse(page.value, ownerSource(this.store));
  }

  /** Deletes by key; what is gone already counts as deleted. Answers the first other refusal. */
  protected async deleteKeys(keys: readonly string[], options?: CollectionRequest["deleteOptions"]): Promise<Response | undefined> {
    const deleteOptions = options ?? { dryRun: false, preconditions: {}, propagationPolicy: "" as const, gracePeriodSeconds: undefined };
    for (let at = 0; at < keys.length; at += DELETE_TOGETHER) {
      const results = await Promise.all(
        keys.slice(at, at + DELETE_TOGETHER).map((key) => this.write({ verb: "delete", key: splitKey(key), options: deleteOptions })),
      );
      for (const result of results) if (!result.ok && result.status.code !== 404) return statusResponse(result.status);
    }
    return undefined;
  }
}

/** Asks the repair controller for a pass soon; a lost poke is made up for by cron. */
export function repairPoke(env: Env, { cluster, clock }: StoreSetting): () => void {
  return throttled(clock, REPAIR_POKE_INTERVAL_MS, () => {
    void controller(env, cluster, "repair")
      .poke()
      .catch(() => undefined);
  });
}

function splitKey(key: string): ObjectKey {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
