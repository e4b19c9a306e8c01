/** A cluster as clients read it: what GET /clusters/{name} and GET /clusters have in common. */
import { OWN_DOMAIN } from "../../../api/meta/own-annotation";
import { CLUSTERS_GROUP, CLUSTERS_VERSION } from "../../../api/registry/clusters/cluster";
import { rfc3339Seconds } from "../../../api/meta/time";
import type { Config } from "../../../core/config/config";
import type { Location } from "../../../core/config/location";
import { originOf } from "../../http/read/authority";

/** The kind Cluster of `/apis`, with members beside its own that earlier releases show, too. Those said `servicenet.dev/v1`. */
export const CLUSTER_API_VERSION = `${CLUSTERS_GROUP}/${CLUSTERS_VERSION}`;

/** The resource, as rules name it. */
export const CLUSTERS = `clusters.${OWN_DOMAIN}`;

/** `Unknown`: its record does not answer. */
export type ClusterPhase = "Active" | "Terminating" | "Unknown";

/** Times in milliseconds since the epoch. `createdAt`: absent = nobody knows, as of a cluster that is taken as made. `deletedAt`: absent or 0 = nobody deletes it. */
export interface ShownCluster {
  readonly name: string;
  readonly phase: ClusterPhase;
  readonly createdAt?: number;
  readonly deletedAt?: number;
  /** undefined = wherever its objects were called first */
  readonly location: Location | undefined;
  readonly url: string;
}

export interface ClusterMetadata {
  name: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
}

export function clusterMetadata({
  name,
  createdAt,
  deletedAt = 0,
}: Pick<ShownCluster, "name" | "createdAt" | "deletedAt">): ClusterMetadata {
  return {
    name,
    ...(createdAt !== undefined ? { creationTimestamp: rfc3339Seconds(createdAt) } : {}),
    ...(deletedAt > 0 ? { deletionTimestamp: rfc3339Seconds(deletedAt) } : {}),
  };
}

/** Where the cluster's server is for whoever asks: under the scheme and the host of his own request. A client without a Host header reads the path alone. */
export function clusterUrls(request: Request, config: Pick<Config, "rootCertificates">): (name: string) => string {
  const origin = originOf(request, config);
  return (name) => `${origin}/clusters/${name}`;
}
