/**
 * v1beta1 <-> v1beta2 of claims and addresses as Cluster API converts them. The conditions of each version have a place of their own in the
 * other one, and never cross. A pool without an API group has the empty one in v1beta2.
 */
import type { KubeObject } from "../../meta/kubernetes";
import type { AddressClaim, EarlierClaim, PoolAddress, PoolReference } from "./ipam";

type Referring = KubeObject & { spec?: { poolRef?: PoolReference } };

/** v1beta1 -> v1beta2, which is stored */
export function toStoredClaim(object: KubeObject): AddressClaim {
  const { status, ...claim } = object as EarlierClaim;
  const { addressRef, conditions, v1beta2 } = status ?? {};
  const stored: AddressClaim["status"] = {
    // Go sends an empty reference where there is none.
    ...(addressRef?.name && { addressRef }),
    ...(v1beta2?.conditions?.length && { conditions: v1beta2.conditions }),
    ...(conditions?.length && { deprecated: { v1beta1: { conditions } } }),
  };
  return { ...toStoredReference(claim), ...(Object.keys(stored).length > 0 && { status: stored }) };
}

/** v1beta2 -> v1beta1 */
export function fromStoredClaim(object: KubeObject): EarlierClaim {
  const { status, ...claim } = object as AddressClaim;
  const { addressRef, conditions, deprecated } = status ?? {};
  const earlier = deprecated?.v1beta1?.conditions;
  const shown: EarlierClaim["status"] = {
    ...(addressRef && { addressRef }),
    ...(earlier?.length && { conditions: earlier }),
    ...(conditions?.length && { v1beta2: { conditions } }),
  };
  return { ...fromStoredReference(claim), ...(Object.keys(shown).length > 0 && { status: shown }) };
}

export function toStoredAddress(object: KubeObject): PoolAddress {
  return toStoredReference(object);
}

export function fromStoredAddress(object: KubeObject): PoolAddress {
  return fromStoredReference(object);
}

function toStoredReference<T extends Referring>(object: T): T {
  const { spec } = object;
  if (!spec?.poolRef) return object;
  return { ...object, spec: { ...spec, poolRef: { ...spec.poolRef, apiGroup: spec.poolRef.apiGroup ?? "" } } };
}

function fromStoredReference<T extends Referring>(object: T): T {
  const { spec } = object;
  if (!spec?.poolRef) return object;
  const { apiGroup, ...poolRef } = spec.poolRef;
  return { ...object, spec: { ...spec, poolRef: { ...(apiGroup ? { apiGroup } : {}), ...poolRef } } };
}
