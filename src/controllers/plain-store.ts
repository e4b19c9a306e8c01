/**
 * The store of a resource that needs nothing but keeping: namespaces, nodes, pods, endpoints, events, ConfigMaps, leases and the like. What controllers
 * want of some of them is here.
 */
import type { CollectionRequest, Expiry, ExpiringStoreRpc, GetResult, ObjectKey, StoreCounters } from "../api/rpc/store";
import type { StoreCursor } from "../api/rpc/object-links";
import type { ObjectValues, ValuedStore, ValuesQuestion } from "../api/rpc/object-values";
import type { HeldLimits, LimitSource } from "../api/rpc/quota";
import { ClusterStore, type ClusterStorePorts, type StorePeers } from "../api/store/cluster-store";
import type { StoreExtension } from "../api/store/state/extension";
import type { StoreObserver } from "../api/store/state/observer";
import { type ChangeFilter, type Followers, pokingFollowers } from "../api/store/feeds/follower-pokes";
import { objectValuesSince } from "../api/store/feeds/object-values-reader";
import { type AdvertisedKeeper, advertisedKeeper } from "./advertised/advertised-keeper";
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
import { type ExpiryRule, ObjectExpiry } from "./object-expiry";

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
  /** of the controllers that do not ask for every change */
  filters?: readonly ChangeFilter[];
  /** canonical addresses at which clusters reach the API servers; may be none */
  advertiseAddresses: readonly string[];
  /** of the store of ResourceQuotas: how far the limits have been told, in the same database, and to whom they are told */
  quotaPushes?: { marks: QuotaMarks; stores(): readonly CountingStore[] };
  /** when objects of the store end; absent = never */
  expiry?: ExpiryRule;
}

export class PlainStore extends ClusterStore implements Omit<ExpiringStoreRpc, "fetch">, LimitSource, ValuedStore {
  readonly #advertised: AdvertisedKeeper | undefined;
  readonly #pushes: QuotaPushes | undefined;
  readonly #expiry: ObjectExpiry | undefined;
  readonly #noteBusy: () => void;

  constructor(ports: PlainStorePorts) {
    const pushes = pushesOf(ports, () => this);
    const advertised = advertisedKeeper(ports.definition, ports.advertiseAddresses, ports);
    super(ports, pushes?.extension() ?? extensionOf(ports), [...followedBy(ports), ...(advertised ? [advertised] : [])]);
    this.#pushes = pushes;
    const { clock, expiry: rule } = ports;
    const ends = (of: ExpiryRule): ObjectExpiry =>
      new ObjectExpiry({ rule: of, clock, storage: () => this.store.storage, write: (request) => this.write(request) });
    this.#expiry = rule && ends(rule);
    this.#noteBusy = () => ports.noteBusy("hour");
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

  /** See LimitSource; of other stores nobody asks it. */
  async limitsHeld(held: HeldLimits[]): Promise<void> {
    await this.#pushes?.compare(held);
  }

  valuesSince(question: ValuesQuestion, cursor: StoreCursor | undefined): Promise<ObjectValues> {
    return objectValuesSince(this.store, this.store.clock, question, cursor);
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
}

function followedBy({ clock, isFollowed, filters, peers }: PlainStorePorts): StoreObserver[] {
  return isFollowed ? [pokingFollowers(clock, (createdOnly, met) => peers.followers(createdOnly, met), filters)] : [];
}

/** The store of ResourceQuotas is one of those that count: it tells itself without a call. */
function pushesOf(
  { clock, random, recorder, quotaPushes, definition: { resource } }: PlainStorePorts,
  own: () => PlainStore,
): QuotaPushes | undefined {
  if (!quotaPushes) return undefined;
  const stores = (): CountingStore[] =>
    quotaPushes.stores().map((counting) => (counting.definition.resource === resource ? { ...counting, store: own } : counting));
  return new QuotaPushes({ clock, random, recorder, marks: quotaPushes.marks, quotas: () => own().store, stores });
}

function extensionOf(ports: PlainStorePorts): StoreExtension<undefined> | undefined {
  const { clock, recorder, definition, peers } = ports;
  if (definition.resource !== "namespaces") return undefined;
  const content = (): NamespaceContent[] => namespaceContent(clock, peers.stores());
  const close = (namespace: TerminatingNamespace): Promise<unknown> => closeEverywhere(content(), namespace);
  const fence = (namespace: TerminatingNamespace): Promise<EmptyingProgress> => emptyEverywhere(content(), namespace);
  return {
    ...closingNamespaces({ clock, close }),
    ...fencingNamespaces({ clock, recorder, mustBeEmpty: () => !peers.endsNamespaces(), fence }),
  };
}
