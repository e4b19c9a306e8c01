/** What the store of the addresses of pools has for pools of the root: there the book of other clusters, elsewhere the addresses of its own claims. */
import { readObject } from "../../src/api/meta/read-object";
import type { Cluster } from "../../src/api/registry/clusters/cluster";
import { clustersDefinition } from "../../src/api/registry/clusters/definition";
import { qualifiedResource } from "../../src/api/meta/status";
import { poolAddressesDefinition, poolDefinitions } from "../../src/api/registry/ipam/definitions";
import type { AddressPool, PoolKey } from "../../src/api/registry/ipam/ipam";
import { ROOM_AT_ROOT } from "../../src/api/rpc/fleet-pools";
import type { ObjectFeed } from "../../src/api/rpc/object-feed";
import type { PlainStorePorts, StoreOfFleet } from "../../src/controllers/plain-store";
import { FleetAddressBook } from "../../src/pools/fleet-address-book";
import type { FleetAudit, FleetCluster } from "../../src/pools/fleet-clusters";
import type { PoolBook } from "../../src/pools/pool-book";
import { RootAddresses } from "../../src/pools/root-addresses";
import { clusterName, DEFAULT_CLUSTER, isRootCluster } from "../../src/tenancy/cluster-id";
import { clusterNames, clusterRecord, controller, poolBook, repairStub, storeStub } from "./peers";
import type { Env } from "../platform/env";

/** Rows beside the tables of the store of addresses, in its transactions. */
const CLUSTERS = "fleet/clusters/";
const COMPARING = "fleet/comparing";
const AUDIT = "fleet/audit";
const SESSION = "fleet/session";

/** The store that it is in. */
export type StoreOfPools = Pick<PlainStorePorts, "clock" | "random" | "recorder" | "storage"> & {
  cluster: string;
  setAlarm(atMs: number): void;
};

type Extended = Pick<FleetAddressBook, "around">;
type Balancers = NonNullable<PlainStorePorts["balancers"]>;

export interface PoolsOfFleet {
  readonly store: StoreOfFleet & Extended;
  /** Tells who waits for this pool that it may have room. */
  settled(pool: PoolKey): void;
  /** The book of addresses of Services, which gives nothing while this store does not. */
  heldBack(balancers: Balancers): Balancers;
}

export function poolsOfFleet(env: Env, setting: StoreOfPools, { kv, book }: { kv: SyncKvStorage; book: PoolBook }): PoolsOfFleet {
  const { cluster, clock, random, recorder, storage, setAlarm } = setting;
  if (isRootCluster(cluster)) return atRoot(env, setting, { kv, book });
  let root: string | undefined;
  const store = new RootAddresses({
    ...{ clock, random, recorder, cluster, storage, book },
    sessions: { load: () => kv.get<number>(SESSION) ?? 0, save: (session) => void kv.put(SESSION, session) },
    wakeAt: setAlarm,
    async root() {
      root ??= await rootId(env);
      return poolBook(env, root);
    },
  });
  return { store, settled: () => undefined, heldBack: (balancers) => balancers };
}

function atRoot(env: Env, setting: StoreOfPools, { kv, book }: { kv: SyncKvStorage; book: PoolBook }): PoolsOfFleet {
  const { cluster: root, clock, random, recorder, storage, setAlarm } = setting;
  const store = new FleetAddressBook({
    ...{ clock, random, recorder, storage, book },
    rows: {
      load: () => [...kv.list<FleetCluster>({ prefix: CLUSTERS })].map(([key, kept]) => [key.slice(CLUSTERS.length), kept]),
      save: (id, kept) => void (kept ? kv.put(CLUSTERS + id, kept) : kv.delete(CLUSTERS + id)),
      comparing: () => kv.get<string>(COMPARING),
      saveComparing: (after) => void (after === undefined ? kv.delete(COMPARING) : kv.put(COMPARING, after)),
      audit: () => kv.get<FleetAudit>(AUDIT) ?? { beganAt: 0 },
      saveAudit: (audit) => kv.put(AUDIT, audit),
    },
    async poolsNamed(names) {
      const keys = names.map((name) => ({ namespace: "", name }));
      const texts = await storeStub<ObjectFeed>(env, root, poolDefinitions.GlobalInClusterIPPool).objectsNamed(keys);
      return texts.map((text) => (text ? readObject<AddressPool>(text) : undefined));
    },
    async clusterNamed(name) {
      const [text] = await storeStub<ObjectFeed>(env, root, clustersDefinition).objectsNamed([{ namespace: "", name }]);
      return text ? readObject<Cluster>(text) : undefined;
    },
    storeOf: (id) => poolBook(env, id),
    async suspicious(ids) {
      const entries = await clusterNames(env).entries(ids.map(clusterName));
      return new Set(ids.filter((id, i) => entries[i] !== null && (entries[i] || undefined)?.facts?.id !== id));
    },
    async clustersBehind(name, limit) {
      const page = await clusterNames(env).page(name, limit);
      if (!page) throw new Error("the list of all clusters does not answer");
      const idOf = async (one: (typeof page.clusters)[number]): Promise<string | undefined> => {
        if (one.facts) return one.facts.id;
        const state = await clusterRecord(env, one.name).look();
        return state.phase === "absent" ? undefined : state.id;
      };
      const ids = (await Promise.all(page.clusters.map(idOf))).flatMap((id) => (id === undefined || isRootCluster(id) ? [] : [id]));
      const used = await Promise.all(ids.map((id) => usesPools(env, id)));
      const next = page.clusters.at(-1)?.name;
      return { ids: ids.filter((_, i) => used[i]), ...(!page.isLast && next !== undefined && { next }) };
    },
    wakeAt: setAlarm,
    wake(id) {
      void controller(env, id, "ip-pools")
        .poke([{ store: ROOM_AT_ROOT, incarnation: "", revision: 0 }])
        .catch(() => undefined);
    },
  });
  return {
    store,
    settled: (pool) => store.settled(pool),
    heldBack: (balancers) => ({
      attach: (own) => balancers.attach(own),
      askBalancers(question) {
        if (question.does === "take" && store.isComparing) return Promise.reject(new Error("pools are being compared with other clusters"));
        return balancers.askBalancers(question);
      },
    }),
  };
}

/** Whether the cluster may ever have had an address of a pool: a store that nobody used is not made by a question. */
async function usesPools(env: Env, id: string): Promise<boolean> {
  const entered = await repairStub(env, id)
    .entered()
    .catch(() => null);
  return entered?.includes(qualifiedResource(poolAddressesDefinition)) ?? true;
}

/** The id of the root, which never ends. */
async function rootId(env: Env): Promise<string> {
  const [told] = await clusterNames(env).areMade([DEFAULT_CLUSTER], true);
  if (typeof told === "string") return told;
  // Its record has not told the id of its life, or nobody has made it, or needs to: then it has the id of the first.
  const state = told === true ? await clusterRecord(env, DEFAULT_CLUSTER).look() : undefined;
  if (told === null) throw new Error("the list of all clusters does not answer");
  return state === undefined || state.phase === "absent" ? DEFAULT_CLUSTER : state.id;
}
