import { NAME_LABEL } from "../name-label";
import { ClusterSchema } from "../../schema/kinds/fleet/servicenet";
import { AGE_COLUMN, ageOf, column, NAME_COLUMN, nameOf } from "../common-columns";
import { ALL_VERBS, COMMON, unsupportedFieldLabel } from "../common-definition";
import { defineResource } from "../resource";
import { type Cluster, CLUSTERS_GROUP, CLUSTERS_VERSION, pathOfCluster, ROOT_CLUSTER } from "./cluster";
import { clusterStrategy } from "./strategy";

const READY = "Ready";

export const clustersDefinition = defineResource<Cluster>({
  ...COMMON,
  group: CLUSTERS_GROUP,
  versions: [CLUSTERS_VERSION],
  resource: "clusters",
  atRoot: true,
  singular: "cluster",
  kind: "Cluster",
  namespaced: false,
  // As of namespaces: nobody deletes all clusters with one request.
  verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
  subresources: ["status"],
  schema: ClusterSchema,
  columns: [
    NAME_COLUMN,
    column("Phase", "Pending, Active, or Terminating while the cluster is being deleted."),
    column("Ready", "Whether the cluster can be used as its spec says."),
    AGE_COLUMN,
    column("Location", "Where the objects of the cluster are; empty: near whoever called each first.", "wide"),
    column("URL", "The path of the cluster's server.", "wide"),
    column("Wiped", "Of a cluster that is being deleted: how many of its parts are empty.", "wide"),
  ],
  cells(cluster, now) {
    const { phase = "", url = "", location = "", objects, wiped, conditions = [] } = cluster.status ?? {};
    const ready = conditions.find(({ type }) => type === READY)?.status ?? "";
    const progress = objects === undefined ? "" : `${wiped ?? 0}/${objects}`;
    return [nameOf(cluster), phase, ready, ageOf(cluster, now), location, url, progress];
  },
  selectableFields: (cluster) => ({ "status.phase": cluster.status?.phase ?? "" }),
  fieldLabels: ["status.phase"],
  unknownFieldLabel: unsupportedFieldLabel,
  strategy: clusterStrategy,
  returnsDeletedObject: true,
  generation: "spec",
  initialObjects: [
    {
      metadata: { name: ROOT_CLUSTER, generation: 1, labels: { [NAME_LABEL]: ROOT_CLUSTER } },
      status: { phase: "Active", url: pathOfCluster(ROOT_CLUSTER) },
    },
  ],
});
