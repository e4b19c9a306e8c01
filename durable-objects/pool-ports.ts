/** What the stores of pools and of their addresses have besides: that of addresses knows all pools, those of pools ask it before they change. */
import { type AddressClaim, type AddressPool, type PoolKey, partsOfPoolKey } from "../src/api/registry/ipam/ipam";
import { addressClaimsDefinition, poolAddressesDefinition, poolDefinitions } from "../src/api/registry/ipam/definitions";
import { serviceCIDRsDefinition } from "../src/api/registry/service-cidrs/definition";
import { readObject } from "../src/api/meta/read-object";
import type { ServiceCIDR } from "../src/api/meta/kubernetes";
import { type ObjectFeed, pagesOf } from "../src/api/rpc/object-feed";
import type { StoredPool } from "../src/api/rpc/pool-book";
import { prefixesIn } from "../src/core/net/prefix";
import type { PlainStorePorts } from "../src/controllers/plain-store";
import { GuardedPools, natDomainOf, type RangeOfServices } from "../src/pools/guarded-pools";
import { storedPool } from "../src/pools/pool-facts";
import { PoolBook, type PoolRow } from "../src/pools/pool-book";
import { poolBook, storeStub } from "./peers/peers";
import type { Env } from "./platform/env";
import type { StoreSetting } from "./store-ports";

/** Rows beside the tables of the store of addresses, in its transactions. */
const POOLS = "pools/";
const PAGE = 500;
const TOO_LARGE = /SQLITE_TOOBIG|too big|too large/i;

export function poolPorts(env: Env, setting: StoreSetting, { kv }: DurableObjectStorage): Pick<PlainStorePorts, "extended" | "pools"> {
  const { cluster, clock, definition, random, storage } = setting;
  if (definition === poolAddressesDefinition) {
    const book = new PoolBook({
      ...{ clock, storage },
      async claimOf(key) {
        const [text] = await storeStub<ObjectFeed>(env, cluster, addressClaimsDefinition).objectsNamed([key]);
        return text ? readObject<AddressClaim>(text) : undefined;
      },
      poolOf: (pool) => poolOf(env, cluster, pool),
      rows: {
        load: () => [...kv.list<PoolRow>({ prefix: POOLS })].map(([key, row]) => [key.slice(POOLS.length), row]),
        save: (pool, row) => isKept(() => kv.put(POOLS + pool, row)),
        remove: (pool) => void kv.delete(POOLS + pool),
      },
    });
    return { pools: book, extended: (inner) => book.around(inner) };
  }
  const kind = definition === poolDefinitions.InClusterIPPool ? "InClusterIPPool" : "GlobalInClusterIPPool";
  if (definition !== poolDefinitions[kind]) return {};
  const guarded = new GuardedPools({
    ...{ clock, random, definition, kind },
    book: () => poolBook(env, cluster),
    serviceRanges: () => serviceRanges(env, cluster),
  });
  return { extended: (inner) => guarded.around(inner) };
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

async function serviceRanges(env: Env, cluster: string): Promise<RangeOfServices[]> {
  const ranges: RangeOfServices[] = [];
  const feed = (after: string): ReturnType<ObjectFeed["objectsAfter"]> =>
    storeStub<ObjectFeed>(env, cluster, serviceCIDRsDefinition).objectsAfter(after, PAGE);
  for await (const { objects } of pagesOf(feed)) {
    for (const text of objects) {
      const object = JSON.parse(text) as ServiceCIDR;
      ranges.push({ name: object.metadata?.name ?? "", natDomain: natDomainOf(object), prefixes: prefixesIn(object.spec?.cidrs ?? []) });
    }
  }
  return ranges;
}

async function poolOf(env: Env, cluster: string, pool: PoolKey): Promise<StoredPool | undefined> {
  const { kind, namespace, name } = partsOfPoolKey(pool);
  const [text] = await storeStub<ObjectFeed>(env, cluster, poolDefinitions[kind]).objectsNamed([{ namespace, name }]);
  const object = text ? readObject<AddressPool>(text) : undefined;
  return object && storedPool(object);
}
