/**
 * The store of a resource that needs nothing but keeping: namespaces, nodes, pods, endpoints, events, ConfigMaps, leases and the like. What controllers
 * want of some of them is here.
 */
import type { CoreEvent } from "../api/meta/kubernetes";
import type { CollectionRequest, EventsStoreRpc, GetResult, ObjectKey } from "../api/rpc/store";
import { ClusterStore, type ClusterStorePorts, type StorePeers } from "../api/store/cluster-store";
import { matchingKeys } from "../api/store/matching-keys";
import type { StoreExtension } from "../api/store/extension";
import { type Followers, pokingFollowers } from "../api/store/follower-pokes";
import { namespaceRange } from "../api/store/keys";
import { observed } from "../api/store/observed";
import { type AdvertisedKeeper, advertisedKeeper } from "./advertised/advertised-keeper";
import { isExpired } from "./event-expiry";
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

/** Whom a plain store calls. Each function answers for one call. */
export interface PlainStorePeers extends StorePeers {
  followers: Followers;
  /** every store of the cluster */
  stores(): readonly ContentStore[];
  /** whether the cluster's own controller empties and ends namespaces */
  endsNamespaces(): boolean;
}

export interface PlainStorePorts extends ClusterStorePorts {
  peers: PlainStorePeers;
  /** some controller follows the resource, although it may be switched off now */
  isFollowed: boolean;
  /** canonical addresses at which clusters reach the API servers; may be none */
  advertiseAddresses: readonly string[];
  /** of the store of ResourceQuotas: how far the limits have been told, in the same database, and to whom they are told */
  quotaPushes?: { marks: QuotaMarks; stores(): readonly CountingStore[] };
}

export class PlainStore extends ClusterStore implements Omit<EventsStoreRpc, "fetch"> {
  readonly #advertised: AdvertisedKeeper | undefined;
  readonly #pushes: QuotaPushes | undefined;

  constructor(ports: PlainStorePorts) {
    const pushes = pushesOf(ports, () => this);
    const advertised = advertisedKeeper(ports.definition, ports.advertiseAddresses, ports);
    const extension = pushes?.extension(followedBy(ports)) ?? extensionOf(ports);
    super(ports, advertised ? observed(extension ?? {}, advertised) : extension);
    this.#pushes = pushes;
    this.#advertised = advertised;
    advertised?.begin({ read: (key) => this.store.get(key, ""), write: (request) => this.write(request) });
  }

  override async get(key: ObjectKey, resourceVersion: string): Promise<GetResult> {
    await this.#advertised?.ensure();
    return super.get(key, resourceVersion);
  }

  override async opened(request: CollectionRequest): Promise<void> {
    await this.#advertised?.ensure();
    return super.opened(request);
  }

  /** Tells the stores that missed the limits of quotas. */
  override async maintain(): Promise<void> {
    await this.#pushes?.push();
  }

  async expire(): Promise<number> {
    if (this.store.definition.resource !== "events") return 0;
    const now = this.store.clock.now();
    const keys = matchingKeys(this.store, { range: namespaceRange(""), matches: (event) => isExpired(event as CoreEvent, now) });
    await this.deletion.delete(keys);
    return keys.length;
  }
}

function followedBy({ clock, isFollowed, peers }: PlainStorePorts): StoreExtension<undefined> | undefined {
  if (!isFollowed) return undefined;
  return observed(
    {},
    pokingFollowers(clock, (createdOnly) => peers.followers(createdOnly)),
  );
}

/** The store of ResourceQuotas is one of those that count: it tells itself without a call. */
function pushesOf(
  { clock, recorder, quotaPushes, definition: { resource } }: PlainStorePorts,
  own: () => PlainStore,
): QuotaPushes | undefined {
  if (!quotaPushes) return undefined;
  const stores = (): CountingStore[] =>
    quotaPushes.stores().map((counting) => (counting.definition.resource === resource ? { ...counting, store: own } : counting));
  return new QuotaPushes({ clock, recorder, marks: quotaPushes.marks, quotas: () => own().store, stores });
}

function extensionOf(ports: PlainStorePorts): StoreExtension<undefined> | undefined {
  const { clock, recorder, definition, peers } = ports;
  const followed = followedBy(ports);
  if (definition.resource !== "namespaces") return followed;
  const content = (): NamespaceContent[] => namespaceContent(clock, peers.stores());
  const close = (namespace: TerminatingNamespace): Promise<unknown> => closeEverywhere(content(), namespace);
  const fence = (namespace: TerminatingNamespace): Promise<EmptyingProgress> => emptyEverywhere(content(), namespace);
  const closing = closingNamespaces({ clock, close }, followed);
  return fencingNamespaces({ clock, recorder, mustBeEmpty: () => !peers.endsNamespaces(), fence }, closing);
}
