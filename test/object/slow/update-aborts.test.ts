/** Objects die at each await of updates by which a Service gets addresses, or gives them back. */
import { GIVING_BACK, holds, service, servingBothFamilies, TAKING } from "../../support/objects/address-paths";
import { describeDeaths } from "../../support/objects/write-path";

const EXTERNAL = { spec: { type: "ExternalName", externalName: "a.example.com", clusterIP: null, clusterIPs: null } };
const CLUSTER = { spec: { type: "ClusterIP", externalName: null } };

servingBothFamilies();
describeDeaths([
  {
    name: "add the second family to a Service",
    given: (cluster) => cluster.create("web"),
    ask: (cluster) => cluster.patch("web", { spec: { ipFamilyPolicy: "RequireDualStack" } }),
    done: (cluster, answer) => holds(cluster, 2, answer),
    awaits: TAKING,
  },
  {
    name: "take the second family from a Service",
    given: (cluster) => cluster.create("web", { ipFamilyPolicy: "RequireDualStack" }),
    ask: (cluster) => cluster.patch("web", { spec: { ipFamilyPolicy: "SingleStack" } }),
    done: (cluster, answer) => holds(cluster, 1, answer),
    awaits: GIVING_BACK,
  },
  {
    name: "retype a Service to ExternalName",
    given: (cluster) => cluster.create("web"),
    ask: (cluster) => cluster.patch("web", EXTERNAL),
    done: async (cluster) => (await service(cluster))?.spec?.type === "ExternalName",
    awaits: GIVING_BACK,
  },
  {
    name: "retype a Service from ExternalName",
    given: (cluster) => cluster.create("web", { type: "ExternalName", externalName: "a.example.com" }),
    ask: (cluster) => cluster.patch("web", CLUSTER),
    done: (cluster, answer) => holds(cluster, 1, answer),
    awaits: TAKING,
  },
]);
