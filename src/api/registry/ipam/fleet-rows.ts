/**
 * Addresses of pools of the root that other clusters have. At the root the row is an IPAddress object, which the server alone makes and removes. In the other
 * cluster the IPAddress of the claim names that row, in an annotation that no client can write.
 */
import { type FieldError, invalidValue } from "../../meta/field-errors";
import type { KubeObject } from "../../meta/kubernetes";
import { OWN_DOMAIN, type RowHolder } from "../../meta/own-annotation";
import { parseLabelSelector } from "../../meta/selector";
import { holdWith, IPAM_GROUP, type PoolAddress } from "./ipam";
import { SERVICE_FINALIZER } from "./service-row";

/** At a global pool of the root: the clusters that it serves, as a selector over the labels of the Clusters. Absent = all. */
export const SERVED_CLUSTERS = `${OWN_DOMAIN}/clusters`;

/** At an IPAddress of another cluster than the root: the name of its row there. */
const ROOT_ROW = `${OWN_DOMAIN}/root-row`;

/** Where the rows of clusters are, at the root. Nobody can delete it. */
export const ROW_NAMESPACE = "kube-system";
/** At a row: it stays as long as its cluster has the address. */
const ROW_FINALIZER = `${OWN_DOMAIN}/cluster-claim`;
const ROW_CLUSTER = `${OWN_DOMAIN}/cluster-id`;
const ROW_CLAIM = `${OWN_DOMAIN}/claim`;
const ROW_UID = `${OWN_DOMAIN}/claim-uid`;

/** Whose row the object is; undefined = it is none. No client can make one: it names another claim than that of its own name. */
export function rowHolder({ metadata, spec }: PoolAddress): RowHolder | undefined {
  const { namespace, finalizers = [] } = metadata ?? {};
  if (namespace !== ROW_NAMESPACE || spec?.claimRef?.name === metadata?.name) return undefined;
  if (spec?.poolRef?.apiGroup !== IPAM_GROUP || spec.poolRef.kind !== "GlobalInClusterIPPool") return undefined;
  if (!finalizers.includes(ROW_FINALIZER) || finalizers.includes(SERVICE_FINALIZER)) return undefined;
  const { [ROW_CLUSTER]: cluster, [ROW_CLAIM]: claim, [ROW_UID]: uid } = metadata?.annotations ?? {};
  return cluster === undefined || claim === undefined || uid === undefined ? undefined : { cluster, claim, uid };
}

/** The metadata of a row besides its name. */
export function rowMetadata({ cluster, claim, uid }: RowHolder): Pick<NonNullable<KubeObject["metadata"]>, "annotations" | "finalizers"> {
  return { annotations: { [ROW_CLUSTER]: cluster, [ROW_CLAIM]: claim, [ROW_UID]: uid }, finalizers: [ROW_FINALIZER] };
}

/** A row whose cluster has given the address back, as an address that waits for its grace. */
export function withoutHolder(row: PoolAddress, deletedAt: string, finalizer: string): PoolAddress {
  const { annotations, ...metadata } = row.metadata ?? {};
  const { [ROW_CLUSTER]: _, [ROW_CLAIM]: __, [ROW_UID]: ___, ...others } = annotations ?? {};
  const rest = Object.keys(others).length > 0 && { annotations: others };
  return { ...row, metadata: { ...metadata, ...rest, finalizers: [finalizer], deletionTimestamp: deletedAt } };
}

/** The row that an IPAddress of another cluster has at the root; undefined = it is of no pool of the root. */
export function rootRowOf({ metadata }: Pick<KubeObject, "metadata">): string | undefined {
  return metadata?.annotations?.[ROOT_ROW];
}

/** Names the row, or none. */
export function setRootRow(object: KubeObject, row: string | undefined): void {
  if (!object.metadata || rootRowOf(object) === row) return;
  const { [ROOT_ROW]: _, ...others } = object.metadata.annotations ?? {};
  const annotations = row === undefined ? others : { ...others, [ROOT_ROW]: row };
  if (Object.keys(annotations).length > 0) object.metadata.annotations = annotations;
  else delete object.metadata.annotations;
}

/** A row stays a row, and an address of the root's pool stays one, whatever a client wrote, or deleted. */
export function holdForFleet(after: PoolAddress, before: PoolAddress): void {
  setRootRow(after, rootRowOf(before));
  const holder = rowHolder(before);
  if (!after.metadata) return;
  // A row of one kind becomes none of the other.
  const other = holder ? SERVICE_FINALIZER : ROW_FINALIZER;
  if (after.metadata.finalizers?.includes(other)) after.metadata.finalizers = after.metadata.finalizers.filter((one) => one !== other);
  if (!holder) return;
  holdWith(after, ROW_FINALIZER);
  after.metadata.annotations = { ...after.metadata.annotations, ...rowMetadata(holder).annotations };
}

/** The errors of the selector, where the write changes it. An empty one would mean everybody to some, and nobody to others. */
export function servedClustersErrors(after: Pick<KubeObject, "metadata">, before: Pick<KubeObject, "metadata"> | undefined): FieldError[] {
  const text = after.metadata?.annotations?.[SERVED_CLUSTERS];
  if (text === undefined || text === before?.metadata?.annotations?.[SERVED_CLUSTERS]) return [];
  const field = `metadata.annotations[${SERVED_CLUSTERS}]`;
  const parsed = parseLabelSelector(text);
  if (!parsed.ok) return [invalidValue(field, text, parsed.error)];
  return parsed.value.empty
    ? [invalidValue(field, text, "must have a requirement; a pool without the annotation serves all clusters")]
    : [];
}
