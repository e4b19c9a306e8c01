/** The resource is read alone: its objects follow the Clusters. */
import { ClusterProfileSchema } from "../../schema/kinds/fleet/multicluster";
import { BASE_STRATEGY } from "../base-strategy";
import { AGE_COLUMN, ageOf, NAME_COLUMN, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { CLUSTERS_GROUP } from "../clusters/cluster";
import { defineResource } from "../resource";
import { type ClusterProfile, profileOf, PROFILES_NAMESPACE } from "./cluster-profile";

export const clusterProfilesDefinition = defineResource<ClusterProfile>({
  ...COMMON,
  group: "multicluster.x-k8s.io",
  versions: ["v1alpha1"],
  resource: "clusterprofiles",
  atRoot: true,
  singular: "clusterprofile",
  kind: "ClusterProfile",
  verbs: ["get", "list", "watch"],
  schema: ClusterProfileSchema,
  // Upstream's CustomResourceDefinition has no columns of its own.
  columns: [NAME_COLUMN, AGE_COLUMN],
  cells: (profile, now) => [nameOf(profile), ageOf(profile, now)],
  strategy: BASE_STRATEGY,
  generation: "spec",
  representationOf: {
    group: CLUSTERS_GROUP,
    resource: "clusters",
    shownIn: PROFILES_NAMESPACE,
    saysAddress: true,
    toStored: () => {
      throw new Error("nobody writes a ClusterProfile");
    },
    fromStored: profileOf,
  },
});
