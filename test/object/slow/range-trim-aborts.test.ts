/** Objects die at each await of what removes a ServiceCIDR that others cover in part: a part is handed over, and the rest is nobody's. */
import { CLOSING, HANDING_OVER, isGone, ownersOf, WRITING } from "../../support/objects/range-paths";
import { describeDeaths } from "../../support/objects/write-path";

describeDeaths([
  {
    name: "delete a ServiceCIDR that another covers in part: what is empty of it is trimmed",
    async given(cluster) {
      await cluster.ranges.created("old", "10.97.0.0/24");
      await cluster.create("a", { clusterIP: "10.97.0.9" });
      await cluster.ranges.created("new", "10.97.0.0/25");
    },
    ask: (cluster) => cluster.ranges.remove("old"),
    done: async (cluster) => (await isGone(cluster, "old")) && String(await ownersOf(cluster, "10.97.0.0/24")) === "10.97.0.0/25 new",
    awaits: [...WRITING, ...CLOSING, ...HANDING_OVER],
  },
]);
