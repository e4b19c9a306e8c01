/** multicluster.x-k8s.io: the Cluster Inventory API. Upstream it is a CRD, so protobuf has none of it. */
import { Condition, ObjectMeta } from "../../meta";
import { bool, bytes, keyedListOf, kind, message, plain, ref, required, string, time } from "../../dsl";
import type { MessageSchema } from "../../types";

const PREFIX = "io.x-k8s.multicluster.v1alpha1";

const ClusterManager: MessageSchema = message(
  `${PREFIX}.ClusterManager`,
  { name: required(1, string, "Name of the cluster manager: this server's domain.") },
  { description: "Who manages the cluster." },
);

const ClusterProfileSpec: MessageSchema = message(
  `${PREFIX}.ClusterProfileSpec`,
  {
    displayName: plain(1, string, "A name for people."),
    clusterManager: plain(2, ref(ClusterManager), "Who manages the cluster. It never changes.", { required: true }),
  },
  { description: "Which cluster it is." },
);

const ClusterVersion: MessageSchema = message(
  `${PREFIX}.ClusterVersion`,
  { kubernetes: plain(1, string, "The version of Kubernetes that the cluster's server behaves as.") },
  { description: "Versions of a cluster." },
);

const Property: MessageSchema = message(
  `${PREFIX}.Property`,
  {
    name: required(1, string, "Name of the property."),
    value: required(2, string, "Its value."),
    lastObservedTime: plain(3, time, "When it was observed last."),
  },
  { description: "What else is known of a cluster." },
);

const AccessedCluster: MessageSchema = message(
  `${PREFIX}.Cluster`,
  {
    server: required(1, string, "The address of the cluster's server."),
    "tls-server-name": plain(2, string, "The name that its certificate is checked against; empty: that of its address."),
    "insecure-skip-tls-verify": plain(3, bool, "Its certificate is not checked."),
    "certificate-authority": plain(4, string, "The path of a file with certificate authorities."),
    "certificate-authority-data": plain(5, bytes, "Certificate authorities, as PEM."),
    "proxy-url": plain(6, string, "The address of the proxy in front of it."),
    "disable-compression": plain(7, bool, "Answers are not compressed."),
  },
  { description: "How a server is reached, as a kubeconfig says it." },
);

const AccessProvider: MessageSchema = message(
  `${PREFIX}.AccessProvider`,
  {
    name: required(1, string, "Name of the provider, by which consumers know how to get credentials."),
    cluster: plain(2, ref(AccessedCluster), "How the cluster's server is reached."),
  },
  { description: "A way to a cluster." },
);

const ClusterProfileStatus: MessageSchema = message(
  `${PREFIX}.ClusterProfileStatus`,
  {
    conditions: plain(1, keyedListOf(Condition, "type"), "ControlPlaneHealthy says whether requests to the cluster are answered."),
    version: plain(2, ref(ClusterVersion), "Versions of the cluster."),
    properties: plain(3, keyedListOf(Property, "name"), "What else is known of the cluster."),
    credentialProviders: plain(4, keyedListOf(AccessProvider, "name"), "The earlier name of accessProviders."),
    accessProviders: plain(5, keyedListOf(AccessProvider, "name"), "How to reach the cluster."),
  },
  { description: "What is known of the cluster." },
);

export const ClusterProfileSchema: MessageSchema = kind(
  `${PREFIX}.ClusterProfile`,
  "A cluster of this server for consumers of the Cluster Inventory API. It is read alone: it follows the Cluster of its name.",
  {
    metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
    spec: plain(2, ref(ClusterProfileSpec), "Which cluster it is.", { required: true }),
    status: plain(3, ref(ClusterProfileStatus), "What is known of it."),
  },
);
