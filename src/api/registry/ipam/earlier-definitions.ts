/** Claims and addresses in v1beta1: the same objects in the form that Cluster API had before 1.11. */
import { EarlierIPAddressClaimSchema, EarlierPoolAddressSchema } from "../../schema/kinds/ipam";
import { defineResource } from "../resource";
import { CLAIMS, POOL_ADDRESSES } from "./definitions";
import { fromStoredAddress, fromStoredClaim, toStoredAddress, toStoredClaim } from "./earlier-forms";
import { type AddressClaim, CLAIM_VERSION, EARLIER_CLAIM_VERSION, IPAM_GROUP, type PoolAddress } from "./ipam";

/** The text of a CRD that says no other one (upstream: apiextensions). */
function deprecated(kind: string): Record<string, string> {
  return {
    [EARLIER_CLAIM_VERSION]: `${IPAM_GROUP}/${EARLIER_CLAIM_VERSION} ${kind} is deprecated; use ${IPAM_GROUP}/${CLAIM_VERSION} ${kind}`,
  };
}

export const earlierClaimsDefinition = defineResource<AddressClaim>({
  ...CLAIMS,
  versions: [EARLIER_CLAIM_VERSION],
  deprecations: deprecated(CLAIMS.kind),
  schema: EarlierIPAddressClaimSchema,
  representationOf: { group: IPAM_GROUP, resource: CLAIMS.resource, toStored: toStoredClaim, fromStored: fromStoredClaim },
});

export const earlierPoolAddressesDefinition = defineResource<PoolAddress>({
  ...POOL_ADDRESSES,
  versions: [EARLIER_CLAIM_VERSION],
  deprecations: deprecated(POOL_ADDRESSES.kind),
  schema: EarlierPoolAddressSchema,
  representationOf: { group: IPAM_GROUP, resource: POOL_ADDRESSES.resource, toStored: toStoredAddress, fromStored: fromStoredAddress },
});
