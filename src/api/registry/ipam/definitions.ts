/** The resources of ipam.cluster.x-k8s.io. They have no short names: `ip` and `ipaddresses` alone mean those of networking.k8s.io. */
import { GlobalInClusterIPPoolSchema, InClusterIPPoolSchema, IPAddressClaimSchema, PoolAddressSchema } from "../../schema/kinds/ipam";
import { AGE_COLUMN, ageOf, column, NAME_COLUMN, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { type ColumnDefinition, defineResource, type ResourceDefinition } from "../resource";
import { addressStrategy } from "./address-strategy";
import { claimStrategy } from "./claim-strategy";
import { type AddressClaim, type AddressPool, CLAIM_VERSION, IPAM_GROUP, type PoolAddress, POOL_VERSION, type PoolKind } from "./ipam";
import { poolStrategy } from "./pool-strategy";

/** Served until Cluster API 1.16. Its conditions have the same members, and a severity besides. */
const EARLIER_CLAIM_VERSION = "v1beta1";

/** The text of a CRD that says no other one (upstream: apiextensions). */
function deprecated(kind: string): Record<string, string> {
  return {
    [EARLIER_CLAIM_VERSION]: `${IPAM_GROUP}/${EARLIER_CLAIM_VERSION} ${kind} is deprecated; use ${IPAM_GROUP}/${CLAIM_VERSION} ${kind}`,
  };
}

const CATEGORIES = ["cluster-api"];
const POOL_NAME = column("Pool Name", "Name of the pool that the address is to come from.");
const POOL_KIND = column("Pool Kind", "Kind of this pool.");

export const addressClaimsDefinition = defineResource<AddressClaim>({
  ...COMMON,
  group: IPAM_GROUP,
  versions: [CLAIM_VERSION, EARLIER_CLAIM_VERSION],
  deprecations: deprecated("IPAddressClaim"),
  resource: "ipaddressclaims",
  singular: "ipaddressclaim",
  kind: "IPAddressClaim",
  categories: CATEGORIES,
  subresources: ["status"],
  schema: IPAddressClaimSchema,
  columns: [NAME_COLUMN, POOL_NAME, POOL_KIND, AGE_COLUMN],
  cells: (claim, now) => [nameOf(claim), claim.spec?.poolRef?.name ?? "", claim.spec?.poolRef?.kind ?? "", ageOf(claim, now)],
  strategy: claimStrategy,
  returnsDeletedObject: true,
  generation: "spec",
});

export const poolAddressesDefinition = defineResource<PoolAddress>({
  ...COMMON,
  group: IPAM_GROUP,
  versions: [CLAIM_VERSION, EARLIER_CLAIM_VERSION],
  deprecations: deprecated("IPAddress"),
  resource: "ipaddresses",
  singular: "ipaddress",
  kind: "IPAddress",
  categories: CATEGORIES,
  schema: PoolAddressSchema,
  columns: [NAME_COLUMN, column("Address", "The address."), POOL_NAME, POOL_KIND, AGE_COLUMN],
  cells: (address, now) => {
    const { address: text = "", poolRef } = address.spec ?? {};
    return [nameOf(address), text, poolRef?.name ?? "", poolRef?.kind ?? "", ageOf(address, now)];
  },
  strategy: addressStrategy,
  returnsDeletedObject: true,
  generation: "spec",
});

const count = (name: string, description: string): ColumnDefinition => ({ name, type: "integer", format: "", description, priority: 0 });

function poolsDefinition(kind: PoolKind, schema: ResourceDefinition["schema"]): ResourceDefinition {
  return defineResource<AddressPool>({
    ...COMMON,
    group: IPAM_GROUP,
    versions: [POOL_VERSION],
    resource: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    kind,
    categories: CATEGORIES,
    namespaced: kind === "InClusterIPPool",
    subresources: ["status"],
    schema,
    columns: [
      NAME_COLUMN,
      column("Addresses", "The addresses of the pool."),
      count("Total", "How many addresses the pool gives out."),
      count("Free", "How many of them nobody has."),
      count("Used", "How many addresses of the pool claims have."),
      AGE_COLUMN,
    ],
    cells(pool, now) {
      const { total, free, used } = pool.status?.ipAddresses ?? {};
      const shown = (value: number | bigint | undefined): number | null => (value === undefined ? null : Number(value));
      const addresses = JSON.stringify(pool.spec?.addresses ?? []);
      return [nameOf(pool), addresses, shown(total), shown(free), shown(used), ageOf(pool, now)];
    },
    strategy: poolStrategy,
    returnsDeletedObject: true,
    generation: "spec",
  });
}

export const poolDefinitions: Readonly<Record<PoolKind, ResourceDefinition>> = {
  InClusterIPPool: poolsDefinition("InClusterIPPool", InClusterIPPoolSchema),
  GlobalInClusterIPPool: poolsDefinition("GlobalInClusterIPPool", GlobalInClusterIPPoolSchema),
};
