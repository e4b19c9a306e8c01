/** The resources of ipam.cluster.x-k8s.io. They have no short names: `ip` and `ipaddresses` alone mean those of networking.k8s.io. */
import {
  GlobalInClusterIPPoolSchema,
  GlobalInClusterPrefixPoolSchema,
  InClusterIPPoolSchema,
  InClusterPrefixPoolSchema,
  IPAddressClaimSchema,
  PoolAddressSchema,
} from "../../schema/kinds/ipam";
import { AGE_COLUMN, ageOf, column, NAME_COLUMN, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { type Cell, type ColumnDefinition, defineResource, type ResourceDefinition } from "../resource";
import { addressStrategy } from "./address-strategy";
import { claimStrategy } from "./claim-strategy";
import {
  type AddressClaim,
  type AddressPool,
  CLAIM_VERSION,
  IPAM_GROUP,
  isNamespacedPool,
  isPrefixPool,
  type PoolAddress,
  POOL_VERSION,
  type PoolKind,
} from "./ipam";
import { poolStrategy } from "./pool-strategy";
import { prefixPoolStrategy } from "./prefix-pool-strategy";

const CATEGORIES = ["cluster-api"];
const POOL_NAME = column("Pool Name", "Name of the pool that the address is to come from.");
const POOL_KIND = column("Pool Kind", "Kind of this pool.");

/** What is the same in every version. */
export const CLAIMS = {
  ...COMMON,
  group: IPAM_GROUP,
  resource: "ipaddressclaims",
  singular: "ipaddressclaim",
  kind: "IPAddressClaim",
  categories: CATEGORIES,
  subresources: ["status"],
  columns: [NAME_COLUMN, POOL_NAME, POOL_KIND, AGE_COLUMN],
  cells: (claim: AddressClaim, now: number): Cell[] => {
    const { name = "", kind = "" } = claim.spec?.poolRef ?? {};
    return [nameOf(claim), name, kind, ageOf(claim, now)];
  },
  strategy: claimStrategy,
  returnsDeletedObject: true,
  generation: "spec",
} satisfies Partial<ResourceDefinition<AddressClaim>>;

/** As `CLAIMS`. */
export const POOL_ADDRESSES = {
  ...COMMON,
  group: IPAM_GROUP,
  resource: "ipaddresses",
  singular: "ipaddress",
  kind: "IPAddress",
  categories: CATEGORIES,
  columns: [NAME_COLUMN, column("Address", "The address."), POOL_NAME, POOL_KIND, AGE_COLUMN],
  cells: (address: PoolAddress, now: number): Cell[] => {
    const { address: text = "", poolRef } = address.spec ?? {};
    return [nameOf(address), text, poolRef?.name ?? "", poolRef?.kind ?? "", ageOf(address, now)];
  },
  strategy: addressStrategy,
  returnsDeletedObject: true,
  generation: "spec",
} satisfies Partial<ResourceDefinition<PoolAddress>>;

export const addressClaimsDefinition = defineResource<AddressClaim>({
  ...CLAIMS,
  versions: [CLAIM_VERSION],
  schema: IPAddressClaimSchema,
});

export const poolAddressesDefinition = defineResource<PoolAddress>({
  ...POOL_ADDRESSES,
  versions: [CLAIM_VERSION],
  schema: PoolAddressSchema,
});

const count = (name: string, description: string): ColumnDefinition => ({ name, type: "integer", format: "", description, priority: 0 });

function poolsDefinition(kind: PoolKind, schema: ResourceDefinition["schema"]): ResourceDefinition {
  const isOfPrefixes = isPrefixPool(kind);
  return defineResource<AddressPool>({
    ...COMMON,
    group: IPAM_GROUP,
    versions: [POOL_VERSION],
    resource: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    kind,
    categories: CATEGORIES,
    namespaced: isNamespacedPool(kind),
    subresources: ["status"],
    schema,
    columns: [
      NAME_COLUMN,
      isOfPrefixes ? column("Prefixes", "What the pool gives prefixes out of.") : column("Addresses", "The addresses of the pool."),
      count("Total", `How many ${isOfPrefixes ? "prefixes" : "addresses"} the pool gives out.`),
      count("Free", "How many of them nobody has."),
      count("Used", `How many ${isOfPrefixes ? "prefixes" : "addresses"} of the pool claims have.`),
      AGE_COLUMN,
    ],
    cells(pool, now) {
      const { total, free, used } = pool.status?.ipAddresses ?? {};
      const shown = (value: number | bigint | undefined): number | null => (value === undefined ? null : Number(value));
      const entries = JSON.stringify((isOfPrefixes ? pool.spec?.prefixes : pool.spec?.addresses) ?? []);
      return [nameOf(pool), entries, shown(total), shown(free), shown(used), ageOf(pool, now)];
    },
    strategy: isOfPrefixes ? prefixPoolStrategy : poolStrategy,
    returnsDeletedObject: true,
    generation: "spec",
  });
}

export const poolDefinitions: Readonly<Record<PoolKind, ResourceDefinition>> = {
  InClusterIPPool: poolsDefinition("InClusterIPPool", InClusterIPPoolSchema),
  GlobalInClusterIPPool: poolsDefinition("GlobalInClusterIPPool", GlobalInClusterIPPoolSchema),
  InClusterPrefixPool: poolsDefinition("InClusterPrefixPool", InClusterPrefixPoolSchema),
  GlobalInClusterPrefixPool: poolsDefinition("GlobalInClusterPrefixPool", GlobalInClusterPrefixPoolSchema),
};
