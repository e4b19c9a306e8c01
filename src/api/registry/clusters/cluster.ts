/** A cluster of this server as an object: servicenet.dev/v1alpha1 Cluster. */
import type { Condition, KubeObject } from "../../meta/kubernetes";
import { OWN_DOMAIN } from "../../meta/own-annotation";

/** It is where the kinds of the fleet are served. It cannot be deleted. */
export const ROOT_CLUSTER = "default";

export const CLUSTERS_GROUP = OWN_DOMAIN;
export const CLUSTERS_VERSION = "v1alpha1";

/** In metadata.finalizers: holds the object until the cluster behind it is gone. */
export const CLUSTER_FINALIZER = `${OWN_DOMAIN}/cluster`;

/** On the object that was made for a cluster that is there: the id of its life. It goes when the status has that. */
export const ADOPTED_ANNOTATION = `${OWN_DOMAIN}/adopted`;

export type ClusterObjectPhase = "Pending" | "Active" | "Terminating";

export interface ClusterObjectSpec {
  location?: string;
  controllers?: string[];
  serviceCIDRs?: string[];
  quotas?: Record<string, string>;
  pool?: ClusterPool;
}

/** Out of which pool of prefixes of the cluster `default` the range of a cluster comes. */
export interface ClusterPool {
  name?: string;
  /** absent = the pool's own */
  servicePrefixLength?: number;
}

export interface ClusterObjectStatus {
  phase?: ClusterObjectPhase;
  /** of the life of the name that the object stands for (tenancy/cluster-id) */
  id?: string;
  /** path of its server */
  url?: string;
  location?: string;
  /** with which the cluster began; absent = not known */
  serviceCIDRs?: string[];
  observedGeneration?: number;
  objects?: number;
  wiped?: number;
  conditions?: Condition[];
}

export interface Cluster extends KubeObject {
  spec?: ClusterObjectSpec;
  status?: ClusterObjectStatus;
}

/** The path of the cluster's server below the server's address. */
export function pathOfCluster(name: string): string {
  return name === ROOT_CLUSTER ? "/" : `/clusters/${name}`;
}
