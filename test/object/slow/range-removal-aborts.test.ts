/** Objects die at each await of what removes ServiceCIDRs: counts, hand-offs, retirement. */
import { CLOSING, HANDING_OVER, isGone, ownersOf, WRITING } from "../../support/objects/range-paths";
import { describeDeaths } from "../../support/objects/write-path";

describeDeaths([
  {
    name: "delete an empty ServiceCIDR: its owner retires",
    given: (cluster) => cluster.ranges.created("extra", "10.97.0.0/24"),
    ask: (cluster) => cluster.ranges.remove("extra"),
    done: (cluster) => isGone(cluster, "extra"),
    awaits: [...WRITING, ...CLOSING],
  },
  {
    name: "delete a ServiceCIDR that another covers: its addresses are handed over",
    async given(cluster) {
      await cluster.ranges.created("old", "10.97.0.0/24");
      for (const [name, clusterIP] of Object.entries({ a: "10.97.0.9", b: "10.97.0.200" })) await cluster.create(name, { clusterIP });
      await cluster.ranges.created("new", "10.97.0.0/23");
    },
    ask: (cluster) => cluster.ranges.remove("old"),
    done: async (cluster) => (await isGone(cluster, "old")) && String(await ownersOf(cluster, "10.97.0.0/23")) === "10.97.0.0/23 new",
    awaits: [...WRITING, ...HANDING_OVER],
  },
]);
