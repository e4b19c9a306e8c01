/**
 * The ranges of clusters that come out of a pool (spec.pool): a claim for each, in the namespace kube-system of the cluster `default`. It belongs to the
 * Cluster object. As long as the cluster may be there, a finalizer of the claim keeps the range: the controller of pools takes nothing back before it is gone.
 *
 *   dies behind            what there is                             what the next pass does
 *   the claim              a claim without a range                   waits for that
 *   the finalizer          a claim that is kept, and no cluster      begins the cluster with the range
 *   the beginning          the cluster, which its status lacks       begins it again with the same range, which changes nothing
 *   the claim's deletion   a claim that its finalizer keeps          takes that away; the cluster is gone
 *   the finalizer's end    a Cluster object without a claim          lets the object go
 *
 * A claim that comes late has no finalizer, and its owner is gone: the garbage collector takes it. One that the finalizer would come to late has been
 * deleted since, and the write meets another version. A cluster that would begin late meets a record that knows the end of its object.
 */
import type { OwnerReference } from "../api/meta/kubernetes";
import { semanticEqual } from "../api/meta/equality";
import { readObject } from "../api/meta/read-object";
import { type Cluster, CLUSTERS_GROUP, CLUSTERS_VERSION } from "../api/registry/clusters/cluster";
import { validateFirstRanges } from "../api/registry/clusters/ranges";
import {
  type AddressClaim,
  CLAIM_VERSION,
  CLUSTER_CLAIMS_NAMESPACE,
  CLUSTER_CLAIMS_PREFIX,
  CLUSTER_RANGE_FINALIZER,
  CLUSTERS_MANAGER,
  holdWith,
  IPAM_GROUP,
  type PoolAddress,
  PREFIX_LENGTH,
} from "../api/registry/ipam/ipam";
import type { WrittenStore } from "../controllers/followed/called-store";
import { createRequest, deleteRequest, updateRequest, type Writer } from "../controllers/followed/write-requests";
import { type Outcome, outcomeOf } from "../controllers/frame/round";

export interface RangeStores {
  claims: WrittenStore;
  addresses: Pick<WrittenStore, "objectsNamed">;
}

/**
 * - `range`: the claim has it, and keeps it
 * - `waits`: there is none yet. `because`: what the status of the Cluster is to say
 * - `earlier`: the claim is that of another object of the name, whose cluster may be there
 */
export type RangeAnswer =
  | { readonly kind: "range"; readonly range: string }
  | { readonly kind: "waits"; readonly because: string }
  | { readonly kind: "earlier" }
  | { readonly kind: "later"; readonly outcome: Outcome };

const CLUSTER_VERSION = `${CLUSTERS_GROUP}/${CLUSTERS_VERSION}`;
const POOL_KIND = "GlobalInClusterPrefixPool";
const WRITER: Writer = { manager: CLUSTERS_MANAGER, group: IPAM_GROUP, version: CLAIM_VERSION };

export class ClusterRanges {
  constructor(private readonly stores: RangeStores) {}

  /** The range of a cluster whose spec names a pool. It claims one where there is no claim. */
  async rangeFor(object: Cluster): Promise<RangeAnswer> {
    const claim = await this.#claimOf(object);
    if (!claim) {
      const answer = await this.stores.claims.write(createRequest(claimFor(object), WRITER));
      if (answer.ok) return { kind: "waits", because: "the range has been claimed" };
      const outcome = outcomeOf(answer);
      return typeof outcome === "object"
        ? { kind: "waits", because: `the range cannot be claimed: ${answer.status.message ?? ""}` }
        : { kind: "later", outcome: outcome === "none" ? "later" : outcome };
    }
    if (isOfEarlier(claim, object)) return { kind: "earlier" };
    if (!isOf(claim, object)) return { kind: "waits", because: `${textOf(claim)} is somebody else's` };
    // Somebody has deleted it before the cluster began: another one comes in its place.
    if (claim.metadata?.deletionTimestamp && !isKept(claim)) return { kind: "waits", because: `${textOf(claim)} is being deleted` };
    const range = await this.#rangeOf(claim);
    if (range === undefined) return { kind: "waits", because: `${textOf(claim)} waits: ${reasonOf(claim)}` };
    const [error] = validateFirstRanges([range], "");
    if (error) return { kind: "waits", because: `the pool has given ${range}: ${error.body}` };
    if (isKept(claim)) return { kind: "range", range };
    const kept: AddressClaim = { ...claim, metadata: { ...claim.metadata } };
    holdWith(kept, CLUSTER_RANGE_FINALIZER);
    const outcome = outcomeOf(await this.stores.claims.write(updateRequest(kept, WRITER)));
    return outcome === "done" ? { kind: "range", range } : { kind: "later", outcome: outcome === "none" ? "later" : outcome };
  }

  /** The range of a cluster that has begun; undefined = its claim is not there, or is not its own. */
  async knownRange(object: Cluster): Promise<string | undefined> {
    const claim = await this.#claimOf(object);
    return claim && isOf(claim, object) ? this.#rangeOf(claim) : undefined;
  }

  /**
   * Gives back what the cluster had, once that is gone: also what an earlier object of the name, which somebody took away by force, has left.
   * `done` or `none`: the claim goes by itself.
   */
  async release(object: Cluster): Promise<Outcome> {
    const { claims } = this.stores;
    if (!object.spec?.pool && (await claims.isUnused?.())) return "none";
    const claim = await this.#claimOf(object);
    if (!claim || !(isOf(claim, object) || isOfEarlier(claim, object))) return "none";
    let going = claim;
    if (!claim.metadata?.deletionTimestamp) {
      const answer = await claims.write(deleteRequest(claim));
      if (!answer.ok || answer.gone) return outcomeOf(answer);
      going = readObject<AddressClaim>(answer.object) ?? claim;
    }
    if (!isKept(going)) return "done";
    const finalizers = going.metadata?.finalizers?.filter((one) => one !== CLUSTER_RANGE_FINALIZER) ?? [];
    const { finalizers: _, ...metadata } = going.metadata ?? {};
    const freed = { ...going, metadata: { ...metadata, ...(finalizers.length > 0 && { finalizers }) } };
    return outcomeOf(await claims.write(updateRequest(freed, WRITER)));
  }

  async #claimOf({ metadata }: Cluster): Promise<AddressClaim | undefined> {
    const [text] = await this.stores.claims.objectsNamed([{ namespace: CLUSTER_CLAIMS_NAMESPACE, name: claimName(metadata?.name ?? "") }]);
    return text ? readObject<AddressClaim>(text) : undefined;
  }

  /** undefined = the claim has none. */
  async #rangeOf({ metadata, spec, status }: AddressClaim): Promise<string | undefined> {
    const { name = "" } = metadata ?? {};
    // Its status and the owners of addresses are what clients may write, too.
    if (status?.addressRef?.name !== name) return undefined;
    const [text] = await this.stores.addresses.objectsNamed([{ namespace: CLUSTER_CLAIMS_NAMESPACE, name }]);
    const address = text ? readObject<PoolAddress>(text) : undefined;
    const owner = address?.metadata?.ownerReferences?.find(({ controller }) => controller);
    const isOwn = owner?.kind === "IPAddressClaim" && owner.uid === metadata?.uid && semanticEqual(address?.spec?.poolRef, spec?.poolRef);
    return isOwn ? `${address?.spec?.address ?? ""}/${address?.spec?.prefix ?? ""}` : undefined;
  }
}

function claimName(cluster: string): string {
  return CLUSTER_CLAIMS_PREFIX + cluster;
}

function claimFor({ metadata, spec }: Cluster): AddressClaim {
  const { name = "", uid = "" } = metadata ?? {};
  const { name: pool = "", servicePrefixLength } = spec?.pool ?? {};
  const owner = { apiVersion: CLUSTER_VERSION, kind: "Cluster", name, uid, controller: true, blockOwnerDeletion: true };
  return {
    metadata: {
      namespace: CLUSTER_CLAIMS_NAMESPACE,
      name: claimName(name),
      ownerReferences: [owner],
      ...(servicePrefixLength && { annotations: { [PREFIX_LENGTH]: String(servicePrefixLength) } }),
    },
    spec: { clusterName: name, poolRef: { apiGroup: IPAM_GROUP, kind: POOL_KIND, name: pool } },
  };
}

/** Whether it is the claim that the object makes: a client may have made another one with its owner. */
function isOf(claim: AddressClaim, object: Cluster): boolean {
  const own = claimFor(object);
  const owner = claim.metadata?.ownerReferences?.find(({ controller }) => controller);
  return (
    owner !== undefined &&
    isCluster(owner) &&
    owner.uid === object.metadata?.uid &&
    semanticEqual(claim.spec, own.spec) &&
    claim.metadata?.annotations?.[PREFIX_LENGTH] === own.metadata?.annotations?.[PREFIX_LENGTH]
  );
}

/**
 * Whether it was claimed for this name by somebody whom the object is not: an earlier one, or a client with its owner. One with the finalizer may have lost
 * its owner by a restore.
 */
function isOfEarlier(claim: AddressClaim, object: Cluster): boolean {
  const name = object.metadata?.name;
  return (
    !isOf(claim, object) &&
    ((isKept(claim) && claim.spec?.clusterName === name) ||
      (claim.metadata?.ownerReferences?.some((one) => isCluster(one) && one.name === name) ?? false))
  );
}

function isCluster({ kind, apiVersion }: OwnerReference): boolean {
  return kind === "Cluster" && apiVersion === CLUSTER_VERSION;
}

function isKept({ metadata }: AddressClaim): boolean {
  return metadata?.finalizers?.includes(CLUSTER_RANGE_FINALIZER) ?? false;
}

function textOf({ metadata }: AddressClaim): string {
  return `IPAddressClaim ${JSON.stringify(`${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`)}`;
}

function reasonOf({ status }: AddressClaim): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return ready && ready.status !== "True" ? `${ready.reason}, ${ready.message}` : "it has no range yet";
}
