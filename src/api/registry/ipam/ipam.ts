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
/** At a claim: a cluster begins with its range, or has begun. Nothing is taken back before that is gone (fleet/cluster-ranges.ts). */
export const CLUSTER_RANGE_FINALIZER = `${OWN_DOMAIN}/cluster-range`;
/** Where the claims of clusters are, and how their names begin: the cluster's follows. */
export const CLUSTER_CLAIMS_NAMESPACE = "kube-system";
export const CLUSTER_CLAIMS_PREFIX = "cluster-";
/** As which the controller of Clusters writes them. */
export const CLUSTERS_MANAGER = "clusters";

/** At a pool in use: its deletion is begun, and waits for the last address. */
export const SKIP_DELETE_CHECK = `${IPAM_GROUP}/skip-validate-delete-webhook`;
/** At a claim or a pool, with any value: nothing is given and nothing is taken back. */
const PAUSED_ANNOTATION = "cluster.x-k8s.io/paused";
export const CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name";
/** At a pool: `true` lets it shrink below what is used. What is outside then stays with its claim. */
export const KEEP_OUT_OF_RANGE = `${OWN_DOMAIN}/keep-out-of-range`;
/** At pools: those with different values may overlap. */
export const NAT_DOMAIN = `${OWN_DOMAIN}/nat-domain`;

/** At a claim for a prefix: the length that it is to have, where that is not the pool's own. */
export const PREFIX_LENGTH = `${OWN_DOMAIN}/prefix-length`;

/** The pools of this server. Claims may name pools of others, which nobody serves here. */
export type PoolKind = "InClusterIPPool" | "GlobalInClusterIPPool" | "InClusterPrefixPool" | "GlobalInClusterPrefixPool";

interface KindOfPool {
  readonly isNamespaced: boolean;
  /** It gives out prefixes. */
  readonly givesPrefixes: boolean;
}

const KINDS: Readonly<Record<PoolKind, KindOfPool>> = {
  InClusterIPPool: { isNamespaced: true, givesPrefixes: false },
  GlobalInClusterIPPool: { isNamespaced: false, givesPrefixes: false },
  InClusterPrefixPool: { isNamespaced: true, givesPrefixes: true },
  GlobalInClusterPrefixPool: { isNamespaced: false, givesPrefixes: true },
};

export const POOL_KINDS = Object.keys(KINDS) as readonly PoolKind[];

export function isNamespacedPool(kind: PoolKind): boolean {
  return KINDS[kind].isNamespaced;
}

export function isPrefixPool(kind: PoolKind): boolean {
  return KINDS[kind].givesPrefixes;
}

function isPoolKind(kind: string): kind is PoolKind {
  return Object.hasOwn(KINDS, kind);
}

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

/** Members of all kinds. */
export interface PoolSpec {
  gateway?: string;
  addressReuseGracePeriodSeconds?: number;
  addresses?: string[];
  prefix?: number;
  allocateReservedIPAddresses?: boolean;
  excludedAddresses?: string[];
  /** of pools of prefixes, as the members below */
  prefixes?: string[];
  allocationPrefixLength?: number;
  excludedPrefixes?: string[];
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
  if (apiGroup !== IPAM_GROUP || name === "" || !isPoolKind(kind)) return undefined;
  return `${kind}/${KINDS[kind].isNamespaced ? (namespace ?? "") : ""}/${name}`;
}

/** In place of a namespace: the pool is the root's, and the object that names it is in another cluster. No namespace has this name. */
const AT_ROOT = "*";

/** The key of the global pool of that name at the root, for objects of another cluster. */
export function keyAtRoot(pool: PoolKey): PoolKey {
  const { kind, name } = partsOfPoolKey(pool);
  return `${kind}/${AT_ROOT}/${name}`;
}

export function isAtRoot(pool: PoolKey): boolean {
  return pool.split("/")[1] === AT_ROOT;
}

/** Whether an address of the one pool is what a claim on the other one asks for. */
export function isOfClaimed(pool: PoolKey | undefined, claimed: PoolKey): boolean {
  return pool === claimed || (pool !== undefined && isAtRoot(pool) && pool === keyAtRoot(claimed));
}

export function isGlobalPool(pool: PoolKey): boolean {
  const { kind, namespace } = partsOfPoolKey(pool);
  return kind === "GlobalInClusterIPPool" && namespace === "";
}

/** The key of a pool that is at hand. */
export function keyOfPool(kind: PoolKind, { metadata }: KubeObject): PoolKey {
  return `${kind}/${KINDS[kind].isNamespaced ? (metadata?.namespace ?? "") : ""}/${metadata?.name ?? ""}`;
}

/** @param key of a pool of this server */
export function partsOfPoolKey(key: PoolKey): { kind: PoolKind; namespace: string; name: string } {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  return { kind: isPoolKind(kind) ? kind : "GlobalInClusterIPPool", namespace, name };
}

/** The length that a claim asks for; undefined = that of its pool. */
export function askedLength({ metadata }: KubeObject): number | undefined {
  const text = metadata?.annotations?.[PREFIX_LENGTH] ?? "";
  return PREFIX_LENGTH_TEXT.test(text) ? Number(text) : undefined;
}

/** 1 to 128, without leading zeros */
export const PREFIX_LENGTH_TEXT = /^([1-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$/;

/** As messages name a pool, also one of somebody else. */
export function poolText(key: PoolKey): string {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  if (namespace === AT_ROOT) return `${kind} ${JSON.stringify(name)} of the root`;
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
