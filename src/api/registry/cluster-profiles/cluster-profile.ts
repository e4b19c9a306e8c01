/**
 * A Cluster as the Cluster Inventory API shows it: multicluster.x-k8s.io/v1alpha1 ClusterProfile. It is another representation of the same object, so it is
 * made, changed and deleted with the Cluster, and nothing can lie between the two. Source: kubernetes-sigs/cluster-inventory-api apis/v1alpha1.
 */
import type { Condition, KubeObject } from "../../meta/kubernetes";
import { OWN_DOMAIN } from "../../meta/own-annotation";
import type { ServedAt } from "../../../core/net/served-at";
import { GIT_VERSION } from "../../../core/config/version";
import { type Cluster, pathOfCluster } from "../clusters/cluster";

/** Where all profiles are. It is there from the first moment, and nobody can delete it. */
export const PROFILES_NAMESPACE = "kube-public";

/** In spec.clusterManager, and in the label by which consumers select: upstream's LabelClusterManagerKey. */
const CLUSTER_MANAGER = OWN_DOMAIN;
const MANAGER_LABEL = "x-k8s.io/cluster-manager";
/** Upstream: KEP-2149, the name of a cluster that is unique among those of its set. */
const CLUSTER_ID = "cluster.clusterset.k8s.io";

/** A condition has a time. Whatever is stored has one. */
const UNKNOWN_TIME = "1970-01-01T00:00:00Z";

interface Property {
  name: string;
  value: string;
}

/** As a kubeconfig has them (client-go tools/clientcmd/api/v1). */
interface AccessProvider {
  name: string;
  cluster: { server: string; "certificate-authority-data"?: string };
}

export interface ClusterProfile extends KubeObject {
  spec?: { displayName?: string; clusterManager: { name: string } };
  status?: {
    conditions?: Condition[];
    version?: { kubernetes?: string };
    properties?: Property[];
    credentialProviders?: AccessProvider[];
    accessProviders?: AccessProvider[];
  };
}

/**
 * @param at where the reader has reached the server; undefined = he cannot be told how to reach a cluster
 */
export function profileOf(cluster: Cluster, at?: ServedAt): ClusterProfile {
  const { metadata: { managedFields: _, annotations: __, ...metadata } = {}, status } = cluster;
  const name = metadata.name ?? "";
  const access = at && accessTo(name, at);
  return {
    metadata: { ...metadata, namespace: PROFILES_NAMESPACE, labels: { ...metadata.labels, [MANAGER_LABEL]: CLUSTER_MANAGER } },
    spec: { displayName: name, clusterManager: { name: CLUSTER_MANAGER } },
    status: {
      conditions: [healthOf(cluster)],
      version: { kubernetes: GIT_VERSION },
      properties: [
        { name: CLUSTER_ID, value: name },
        ...property("location", status?.location),
        ...property("service-cidrs", status?.serviceCIDRs?.join(",")),
      ],
      // Consumers of earlier releases of the API know the first name alone.
      ...(access && { credentialProviders: [access], accessProviders: [access] }),
    },
  };
}

function property(name: string, value = ""): Property[] {
  return value === "" ? [] : [{ name: `${OWN_DOMAIN}/${name}`, value }];
}

function accessTo(name: string, { origin, certificates }: ServedAt): AccessProvider {
  const path = pathOfCluster(name);
  const authority = certificates === undefined ? {} : { "certificate-authority-data": certificates };
  return { name: OWN_DOMAIN, cluster: { server: path === "/" ? origin : `${origin}${path}`, ...authority } };
}

/** Whether requests to the cluster are answered. Whether it is all that its spec asks for is told by the Cluster's own Ready. */
function healthOf({ metadata, status }: Cluster): Condition {
  const { creationTimestamp = UNKNOWN_TIME, deletionTimestamp, generation = 0 } = metadata ?? {};
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  const finding = {
    Active: { status: "True", reason: "ClusterActive", message: "the cluster can be used" },
    Terminating: { status: "False", reason: "ClusterDeleting", message: "the cluster is being deleted" },
    Pending: { status: "Unknown", reason: "ClusterPending", message: "the cluster has not begun" },
  }[status?.phase ?? "Pending"];
  const lastTransitionTime = deletionTimestamp ?? ready ?? creationTimestamp;
  return { type: "ControlPlaneHealthy", ...finding, observedGeneration: generation, lastTransitionTime };
}
