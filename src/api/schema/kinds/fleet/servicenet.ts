/** servicenet.dev: the kinds of this server alone. */
import { Condition, ObjectMeta } from "../../meta";
import { int32, int64, keyedListOf, kind, listOf, mapOf, message, plain, pointer, quantity, ref, required, string } from "../../dsl";
import type { MessageSchema } from "../../types";

const ClusterPool: MessageSchema = message(
  "dev.servicenet.v1alpha1.ClusterPool",
  {
    name: required(1, string, "Name of a GlobalInClusterPrefixPool of the cluster default."),
    servicePrefixLength: plain(2, int32, "Length of the range of Services; without it the pool's allocationPrefixLength."),
  },
  { description: "Where the range of a cluster comes from." },
);

const ClusterSpec: MessageSchema = message(
  "dev.servicenet.v1alpha1.ClusterSpec",
  {
    location: plain(
      1,
      string,
      "Where the objects of the cluster are: afr, apac, apac-ne, apac-se, eeur, enam, me, oc, sam, weur or wnam. Without one it is near whoever " +
        "creates the cluster. It cannot be changed: objects never move.",
    ),
    controllers: plain(
      2,
      listOf(string),
      "Which controllers run in the cluster, as kube-controller-manager's flag --controllers says it: * is all, name one, -name all but this one. " +
        "Without a list the server's variable CONTROLLERS counts.",
    ),
    serviceCIDRs: plain(
      3,
      listOf(string),
      "Ranges with which the cluster begins, as its ServiceCIDR kubernetes: one, or one of each IP family, the default one first. Without them the " +
        "server's variable SERVICE_CLUSTER_IP_RANGE counts. They cannot be changed; further ranges are ServiceCIDRs of the cluster.",
    ),
    quotas: plain(
      4,
      mapOf(quantity),
      "What a new namespace may hold, by resource, as spec.hard of a ResourceQuota. Each namespace that somebody makes from then on starts with a " +
        "ResourceQuota of these limits, named initial. Namespaces that are there keep what they have.",
    ),
    pool: pointer(
      5,
      ref(ClusterPool),
      "The pool that gives the cluster its range of Services, in place of serviceCIDRs. The cluster begins once the pool has given one, and gives it back " +
        "when it is gone. It cannot be changed.",
    ),
  },
  { description: "What a cluster is to be." },
);

const ClusterStatus: MessageSchema = message(
  "dev.servicenet.v1alpha1.ClusterStatus",
  {
    phase: plain(1, string, "Pending until the cluster can be used, then Active, and Terminating while it is being deleted."),
    url: plain(2, string, "The path of the cluster's server below this server's address."),
    location: plain(3, string, "Where the objects of the cluster are; empty: near whoever called each first."),
    observedGeneration: plain(4, int64, "Generation of the object that the status speaks of."),
    objects: pointer(5, int32, "Of a cluster that is being deleted: how many parts of it are known."),
    wiped: pointer(6, int32, "How many of these parts are empty."),
    conditions: plain(
      7,
      keyedListOf(Condition, "type"),
      "Ready says whether the cluster can be used as its spec says, Deleting how far its deletion has come.",
    ),
    id: plain(8, string, "Which cluster of the name it is. The deletion of the object deletes no other one."),
    serviceCIDRs: plain(
      9,
      listOf(string),
      "Ranges with which the cluster began. What ServiceCIDRs it has now, the cluster itself says. Empty: it is older than its object.",
    ),
  },
  { description: "What a cluster is." },
);

export const ClusterSchema: MessageSchema = kind(
  "dev.servicenet.v1alpha1.Cluster",
  "A cluster of this server. Its deletion deletes everything in it; its finalizer holds the object until that is done.",
  {
    metadata: plain(
      1,
      ref(ObjectMeta),
      "Name, labels, annotations and the other standard metadata of the object. The name is a DNS label.",
    ),
    spec: plain(2, ref(ClusterSpec), "What the cluster is to be."),
    status: plain(3, ref(ClusterStatus), "What it is."),
  },
);
