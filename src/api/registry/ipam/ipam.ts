/** The kinds of ipam.cluster.x-k8s.io as Cluster API and its in-cluster provider have them (docs/address-plan.md). */
import type { Int64 } from "../../../core/encoding/exact-json";
import type { Condition, KubeObject } from "../../meta/kubernetes";
import { OWN_DOMAIN } from "../../meta/own-annotation";

export const IPAM_GROUP = "ipam.cluster.x-k8s.io";
/** Of claims and addresses; the preferred one of the group. */
export const CLAIM_VERSION = "v1beta2";
/** Of claims and addresses, too; served until Cluster API 1.16. */
export const EARLIER_CLAIM_VERSION = "v1beta1";
export const POOL_VERSION = "v1alpha2";

export const CLAIM_FINALIZER = `${IPAM_GROUP}/ReleaseAddress`;
export const ADDRESS_FINALIZER = `${IPAM_GROUP}/ProtectAddress`;
export const POOL_FINALIZER = `${IPAM_GROUP}/ProtectPool`;

/** At a pool in use: its deletion is begun, and waits for the last address. */
export const SKIP_DELETE_CHECK = `${IPAM_GROUP}/skip-validate-delete-webhook`;
/** At a claim or a pool, with any value: nothing is given and nothing is taken back. */
const PAUSED_ANNOTATION = "cluster.x-k8s.io/paused";
export const CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name";
/** At a pool: `true` lets it shrink below what is used. What is outside then stays with its claim. */
export const KEEP_OUT_OF_RANGE = `${OWN_DOMAIN}/keep-out-of-range`;
/** At pools: those with different values may overlap. */
export const NAT_DOMAIN = `${OWN_DOMAIN}/nat-domain`;

/** The pools of this server. The provider upstream has other kinds as well, which claims may name and nobody serves here. */
export type PoolKind = "InClusterIPPool" | "GlobalInClusterIPPool";

/** Who writes addresses for claims. */
export const POOLS_MANAGER = "ip-pools";

export interface PoolReference {
  name?: string;
  kind?: string;
  apiGroup?: string;
}

/** A condition as Cluster API had them before; its reason and message are absent where it is True. */
export interface EarlierCondition {
  type: string;
  status: string;
  severity?: string;
  lastTransitionTime: string;
  reason?: string;
  message?: string;
}

export interface AddressClaim extends KubeObject {
  spec?: { clusterName?: string; poolRef?: PoolReference };
  status?: {
    addressRef?: { name?: string };
    conditions?: Condition[];
    /** what clients of v1beta1 read */
    deprecated?: { v1beta1?: { conditions?: EarlierCondition[] } };
  };
}

/** A claim in v1beta1. */
export interface EarlierClaim extends KubeObject {
  spec?: AddressClaim["spec"];
  status?: { addressRef?: { name?: string }; conditions?: EarlierCondition[]; v1beta2?: { conditions?: Condition[] } };
}

export interface PoolAddress extends KubeObject {
  spec?: { claimRef?: { name?: string }; poolRef?: PoolReference; address?: string; prefix?: number; gateway?: string };
}

export interface PoolSpec {
  addresses?: string[];
  prefix?: number;
  gateway?: string;
  allocateReservedIPAddresses?: boolean;
  excludedAddresses?: string[];
  addressReuseGracePeriodSeconds?: number;
}

export interface PoolCounts {
  total: Int64;
  used: Int64;
  free: Int64;
  outOfRange: Int64;
}

export interface AddressPool extends KubeObject {
  spec?: PoolSpec;
  status?: { ipAddresses?: PoolCounts };
}

/** `kind/namespace/name` of a pool; the namespace of a global one is empty. */
export type PoolKey = string;

/** The pool of this server that the reference of an object in `namespace` names; undefined = it names one of somebody else. */
export function poolKeyOf(reference: PoolReference | undefined, namespace: string | undefined): PoolKey | undefined {
  const { name = "", kind = "", apiGroup = "" } = reference ?? {};
  if (apiGroup !== IPAM_GROUP || name === "") return undefined;
  if (kind === "GlobalInClusterIPPool") return `${kind}//${name}`;
  return kind === "InClusterIPPool" ? `${kind}/${namespace ?? ""}/${name}` : undefined;
}

/** The key of a pool that is at hand. */
export function keyOfPool(kind: PoolKind, { metadata }: KubeObject): PoolKey {
  return `${kind}/${kind === "InClusterIPPool" ? (metadata?.namespace ?? "") : ""}/${metadata?.name ?? ""}`;
}

export function partsOfPoolKey(key: PoolKey): { kind: PoolKind; namespace: string; name: string } {
  const [kind, namespace = "", name = ""] = key.split("/");
  return { kind: kind === "InClusterIPPool" ? kind : "GlobalInClusterIPPool", namespace, name };
}

/** As messages name a pool, also one of somebody else. */
export function poolText(key: PoolKey): string {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  return `${kind} "${namespace === "" ? name : `${namespace}/${name}`}"`;
}

export function isPaused({ metadata }: KubeObject): boolean {
  return metadata?.annotations?.[PAUSED_ANNOTATION] !== undefined;
}

/** The NAT domain that an object is in; "" = none. */
export function natDomainOf({ metadata }: KubeObject): string {
  return metadata?.annotations?.[NAT_DOMAIN] ?? "";
}

/** The object has the finalizer, whatever a client wrote. */
export function holdWith(object: KubeObject, finalizer: string): void {
  if (!object.metadata) return;
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer];
}
