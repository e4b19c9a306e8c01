/** What the stores of pools, of their addresses, and of ServiceCIDRs have besides: that of addresses knows all pools, the others ask it before they change. */
import { type AddressClaim, type AddressPool, type PoolKey, partsOfPoolKey, POOL_KINDS } from "../src/api/registry/ipam/ipam";
import { addressClaimsDefinition, poolAddressesDefinition, poolDefinitions } from "../src/api/registry/ipam/definitions";
import { readObject } from "../src/api/meta/read-object";
import { qualifiedResource } from "../src/api/meta/status";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import type { StoredPool } from "../src/api/rpc/pool-book";
import { UsedStores } from "../src/controllers/followed/used-stores";
import type { PlainStorePorts } from "../src/controllers/plain-store";
import { GuardedPools } from "../src/pools/guarded-pools";
import { GuardedRanges } from "../src/pools/guarded-ranges";
import { storedPool } from "../src/pools/pool-facts";
import { PoolBook, type PoolRow } from "../src/pools/pool-book";
import { ServiceAddressBook } from "../src/pools/service-address-book";
import { coordinator, poolBook, repairStub, servicesStore, storeStub } from "./peers/peers";
import { poolsOfFleet } from "./peers/pools-of-fleet";
import type { Env } from "./platform/env";
import type { StoreSetting } from "./store-ports";

/** Rows beside the tables of the store of addresses, in its transactions. */
const POOLS = "pools/";
/** The last life of the store of Services that spoke. */
const SESSION = "balancers/session";
const HOLDERS = [poolAddressesDefinition, ...Object.values(poolDefinitions)].map((one) => qualifiedResource(one));
const TOO_LARGE = /SQLITE_TOOBIG|too big|too large/i;

export function poolPorts(
  env: Env,
  setting: StoreSetting,
  { kv }: DurableObjectStorage,
): Pick<PlainStorePorts, "balancers" | "extended" | "fleet" | "pools"> {
  const { cluster, clock, definition, random, storage } = setting;
  if (definition === poolAddressesDefinition) {
    // A lost message is made up for by cron's visit of the store of Services.
    const tellRoom = (pools: readonly PoolKey[]): void =>
      void servicesStore(env, cluster)
        .roomInPools([...pools])
        .catch(() => undefined);
    const book = new PoolBook({
      ...{ clock, storage },
      async claimOf(key) {
        const [text] = await storeStub<ObjectFeed>(env, cluster, addressClaimsDefinition).objectsNamed([key]);
        return text ? readObject<AddressClaim>(text) : undefined;
      },
      poolOf: (pool) => poolOf(env, cluster, pool),
      serviceRanges: () => coordinator(env, cluster).serviceRanges(),
      settled(pool, { loadBalancer }) {
        // Which Services it serves may have changed, too.
        if (loadBalancer) tellRoom([]);
        fleet.settled(pool);
      },
      rows: {
        load: () => [...kv.list<PoolRow>({ prefix: POOLS })].map(([key, row]) => [key.slice(POOLS.length), row]),
        save: (pool, row) => isKept(() => kv.put(POOLS + pool, row)),
        remove: (pool) => void kv.delete(POOLS + pool),
      },
    });
    const balancers = new ServiceAddressBook({
      ...{ clock, random, storage, book },
      sessions: { load: () => kv.get<number>(SESSION) ?? 0, save: (session) => void kv.put(SESSION, session) },
      tellRoom: (pools) => tellRoom(pools),
    });
    const fleet = poolsOfFleet(env, setting, { kv, book });
    return {
      pools: book,
      balancers: fleet.heldBack(balancers),
      fleet: fleet.store,
      extended: (inner) => fleet.store.around(balancers.around(inner)),
    };
  }
  const kind = POOL_KINDS.find((one) => definition === poolDefinitions[one]);
  if (!kind) return {};
  const guarded = new GuardedPools({
    ...{ clock, random, definition, kind },
    book: () => poolBook(env, cluster),
    serviceRanges: () => coordinator(env, cluster).serviceRanges(),
    expectBalancerPools: () => servicesStore(env, cluster).expectBalancerPools(),
  });
  return { extended: (inner) => guarded.around(inner) };
}

/** Of the store of ServiceCIDRs. */
export function poolsBeside(env: Env, { cluster, clock }: StoreSetting): GuardedRanges {
  const used = new UsedStores(clock, () => repairStub(env, cluster).entered());
  return new GuardedRanges({
    clock,
    hasPools: async () => (await Promise.all(HOLDERS.map((name) => used.isUnused(name)))).includes(false),
    book: () => poolBook(env, cluster),
  });
}

/** False: the value was too large for the platform. */
function isKept(put: () => void): boolean {
  try {
    put();
    return true;
  } catch (error) {
    if (!(error instanceof Error) || !TOO_LARGE.test(error.message)) throw error;
    return false;
  }
}

async function poolOf(env: Env, cluster: string, pool: PoolKey): Promise<StoredPool | undefined> {
  const { kind, namespace, name } = partsOfPoolKey(pool);
  const [text] = await storeStub<ObjectFeed>(env, cluster, poolDefinitions[kind]).objectsNamed([{ namespace, name }]);
  const object = text ? readObject<AddressPool>(text) : undefined;
  return object && storedPool(object);
}
