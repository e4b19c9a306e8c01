/** The source of a check inside the Worker: the stores and owners of a cluster. So gates of the API make no difference. */
import type { Env } from "../../../durable-objects/platform/env";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import { coordinator, ipAddressesStore, owner, repairStub, servicesStore, storeStub } from "../../../durable-objects/peers/peers";
import { systemClock } from "../../../durable-objects/platform/ports";
import type { CheckSource } from "../../tools/check/check-cluster";
import {
  type CheckedKind,
  isWhole,
  type Listed,
  observedIPAddress,
  type ObservedIPAddress,
  observedNode,
  type ObservedNode,
  observedService,
  type ObservedService,
  type ObservedServiceCIDR,
} from "../../tools/check/observed";
import { type OwnerPage, type OwnersView, readOwners } from "../../tools/check/read-owners";
import type { NodePortRow } from "../../addresses/rpc/repaired-node-ports";
import {
  observedClaim,
  observedPool,
  type ObservedPool,
  observedPoolAddress,
  type ObservedPools,
  POOL_ADDRESS,
} from "../../tools/check/pools";
import type { ListedEndpoints, SliceControllerView } from "../../tools/check/slices";
import { advertisedIn, type Surroundings } from "../../tools/check/surroundings";
import type { ServiceEndpoint } from "../../tools/check/wanted-endpoints";
import type { StoredResource } from "../../api/registry/all";
import { addressClaimsDefinition, poolAddressesDefinition, poolDefinitions } from "../../api/registry/ipam/definitions";
import { type AddressPool, POOL_KINDS } from "../../api/registry/ipam/ipam";
import { DEFAULT_NAME, DEFAULT_NAMESPACE } from "../../api/registry/default-objects";
import type { Endpoints, EndpointSlice, Pod } from "../../api/meta/kubernetes";
import { badRequest, qualifiedResource, type Status } from "../../api/meta/status";
import { type FedPage, type ObjectFeed, pagesOf } from "../../api/rpc/object-feed";
import type { StoreRpc } from "../../api/rpc/store";
import { UsedStores } from "../../controllers/followed/used-stores";
import { clusterName } from "../../tenancy/cluster-id";
import { configOf } from "../routing/config-guard";
import { lookAt } from "../routing/known-clusters";
import { CHECK_CALLS_MAX, CHECK_ENDPOINTS_MAX, CHECK_OBJECTS_MAX, CHECK_ROWS_MAX } from "../http/limits";
import { call } from "../routing/call";

/** Objects of one page: its turn in the store stays short. */
const PAGE = 500;
/** Rows of one page: about 1 MB. */
const ROWS_PAGE = 5_000;

/** Makes a stub for one call. */
type FeedStub = () => Pick<ObjectFeed, "objectsAfter">;

/** Why a check cannot be made. */
export class CheckRefused extends Error {
  constructor(readonly status: Status) {
    super(status.message);
  }
}

export class RpcSource implements CheckSource {
  #calls = 0;
  readonly #usedStores: UsedStores;
  /** a bound was crossed: the whole check is refused */
  #isTooLarge = false;
  /** more Pods or endpoints than may be held: only they are not compared */
  #hasTooManyEndpoints = false;

  constructor(
    private readonly env: Env,
    private readonly cluster: string,
  ) {
    this.#usedStores = new UsedStores(systemClock, () => repairStub(env, cluster).entered());
  }

  services(): Promise<Listed<ObservedService>> {
    return this.#all("Service", () => servicesStore(this.env, this.cluster), observedService);
  }

  ipAddresses(): Promise<Listed<ObservedIPAddress>> {
    return this.#all("IPAddress", () => ipAddressesStore(this.env, this.cluster), observedIPAddress);
  }

  /** The old allocator ignores ServiceCIDR objects. */
  async serviceCIDRs(): Promise<Listed<ObservedServiceCIDR> | undefined> {
    if (this.#onlyRanges()) return undefined;
    return this.#all<ObservedServiceCIDR>(
      "ServiceCIDR",
      () => coordinator(this.env, this.cluster),
      (object) => object,
    );
  }

  ranges(): Promise<string[] | undefined> {
    return Promise.resolve(this.#onlyRanges());
  }

  async surroundings(): Promise<Surroundings> {
    const { objects: nodes } = await this.#all<ObservedNode>("Node", await this.#used("", "nodes"), observedNode);
    const config = configOf(this.env);
    return {
      nodes,
      isUnreachable: config.ok && config.value.advertiseAddresses.length === 0 && !config.value.loopbackOnly,
      advertised: advertisedIn(
        await this.#kubernetes<Endpoints>("", "endpoints"),
        await this.#kubernetes<EndpointSlice>("discovery.k8s.io", "endpointslices"),
      ),
    };
  }

  async owners(): ReturnType<CheckSource["owners"]> {
    let rows = 0;
    const observed = await readOwners({
      view: () => this.view(),
      page: async (uid, after) => {
        if (rows > CHECK_ROWS_MAX) throw this.#tooLarge();
        const page = await this.page(uid, after);
        rows += page.rows.length;
        return page;
      },
    });
    // Other problems concern one owner alone; this one concerns the whole check.
    if (this.#isTooLarge || rows > CHECK_ROWS_MAX) throw this.#tooLarge();
    return observed;
  }

  nodePortRows(): Promise<NodePortRow[]> {
    return this.#call("services.nodePortRows", () => servicesStore(this.env, this.cluster).nodePortRows());
  }

  async pools(): Promise<ObservedPools> {
    const of = async <T, U>(kind: CheckedKind, definition: StoredResource, observed: (object: T) => U): Promise<Listed<U>> =>
      this.#all(kind, await this.#used(definition.group, definition.resource), observed);
    // Pools come before what is taken from them, and addresses are told to their claims.
    const pools: Listed<ObservedPool>[] = [];
    for (const kind of POOL_KINDS) pools.push(await of(kind, poolDefinitions[kind], (pool: AddressPool) => observedPool(kind, pool)));
    const claims = await of("IPAddressClaim", addressClaimsDefinition, observedClaim);
    const addresses = await of(POOL_ADDRESS, poolAddressesDefinition, observedPoolAddress);
    return {
      pools: pools.flatMap(({ objects }) => objects),
      claims: claims.objects,
      addresses: addresses.objects,
      unreadable: [...pools, claims, addresses].flatMap(({ unreadable }) => unreadable),
    };
  }

  /** The list of the cluster counts, or that of the variable. */
  async sliceController(): Promise<SliceControllerView> {
    const state = await lookAt(this.env, clusterName(this.cluster));
    if (!state.ok) throw new CheckRefused(state.error);
    const config = configOf(this.env);
    if (!config.ok) throw new CheckRefused(config.error);
    const own = state.value.phase === "active" ? state.value.controllers : null;
    const running = CONTROLLERS.running(own ?? config.value.controllers, config.value).includes("endpointslice-controller");
    return { running, batchMs: config.value.endpointsBatchMs };
  }

  pods(kept: (pod: Pod) => ServiceEndpoint[]): Promise<ListedEndpoints> {
    return this.#endpoints(async () => this.#each("Pod", await this.#used("", "pods"), kept));
  }

  endpointSlices(kept: (slice: EndpointSlice) => ServiceEndpoint[]): Promise<ListedEndpoints> {
    return this.#endpoints(async () => this.#each("EndpointSlice", await this.#used("discovery.k8s.io", "endpointslices"), kept));
  }

  /** Where there are too many once, no later look reads them again. */
  async #endpoints(read: () => Promise<Listed<ServiceEndpoint> | "tooMany">): Promise<ListedEndpoints> {
    const listed = this.#hasTooManyEndpoints ? "tooMany" : await read();
    this.#hasTooManyEndpoints = listed === "tooMany";
    return listed;
  }

  async view(): Promise<OwnersView> {
    const { epoch, claims } = await this.#call("coordinator.topology", () => coordinator(this.env, this.cluster).topology());
    return { epoch, claims };
  }

  async page(uid: string, after: number): Promise<OwnerPage> {
    const { rows, differs } = await this.#call("owner.inspect", () => owner(this.env, this.cluster, uid).inspect(after, ROWS_PAGE));
    return {
      rows: rows.map(({ address, holder }) => ({ address, holder })),
      differs,
      next: rows.length < ROWS_PAGE ? 0 : (rows.at(-1)?.position ?? 0),
    };
  }

  #store(group: string, resource: string): ReturnType<typeof storeStub<StoreRpc & ObjectFeed>> {
    return storeStub<StoreRpc & ObjectFeed>(this.env, this.cluster, { group, resource });
  }

  /** `default/kubernetes` of a resource; undefined: there is none. */
  async #kubernetes<T>(group: string, resource: string): Promise<T | undefined> {
    const key = { namespace: DEFAULT_NAMESPACE, name: DEFAULT_NAME };
    const config = configOf(this.env);
    // With addresses the store makes the object, at its first read at the latest.
    const isMade = config.ok && config.value.advertiseAddresses.length > 0;
    if (!isMade && !(await this.#used(group, resource))) return undefined;
    const answer = await this.#call("store.get", () => this.#store(group, resource).get(key, ""));
    return answer.ok ? (parsed(answer.object) as T) : undefined;
  }

  #onlyRanges(): string[] | undefined {
    const config = configOf(this.env);
    return config.ok ? config.value.onlyRanges && [...config.value.onlyRanges] : undefined;
  }

  async #all<T, U = T>(kind: CheckedKind, store: FeedStub | undefined, observed: (object: T) => U): Promise<Listed<U>> {
    const listed = await this.#each<T, U>(kind, store, (object) => [observed(object)]);
    if (listed === "tooMany") throw this.#tooLarge();
    return listed;
  }

  /** undefined = nobody ever used the store of this resource: it has no object, and nothing is in it. */
  async #used(group: string, resource: string): Promise<FeedStub | undefined> {
    return (await this.#usedStores.isUnused(qualifiedResource({ group, resource }))) ? undefined : () => this.#store(group, resource);
  }

  async #each<T, U>(kind: CheckedKind, store: FeedStub | undefined, kept: (object: T) => U[]): Promise<Listed<U> | "tooMany"> {
    const listed: Listed<U> = { objects: [], unreadable: [] };
    if (!store) return listed;
    let read = 0;
    const page = (after: string): Promise<FedPage> => this.#call("store.objectsAfter", () => store().objectsAfter(after, PAGE));
    for await (const { objects, keys } of pagesOf(page)) {
      for (const [i, text] of objects.entries()) {
        const value = parsed(text);
        if (isWhole(kind, value)) listed.objects.push(...kept(value as T));
        else listed.unreadable.push(`${kind} ${keys?.[i] ?? "of an unknown name"}`);
      }
      read += objects.length;
      if (read > CHECK_OBJECTS_MAX || listed.objects.length > CHECK_ENDPOINTS_MAX) return "tooMany";
    }
    return listed;
  }

  async #call<T>(what: string, attempt: () => Promise<T>): Promise<T> {
    if (++this.#calls > CHECK_CALLS_MAX) throw this.#tooLarge();
    const answer = await call(attempt, { what, repeatable: true });
    if (!answer.ok) throw new CheckRefused(answer.error);
    return answer.value;
  }

  #tooLarge(): CheckRefused {
    this.#isTooLarge = true;
    return new CheckRefused(badRequest("the cluster is too large to be checked by one request: npm run check reads it page by page"));
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
