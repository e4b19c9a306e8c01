/** Objects die at each await of what removes ServiceCIDRs: counts, hand-offs, retirement. */
import type { ObjectCluster } from "../../support/object-cluster";
import { range, WRITING } from "../../support/range-paths";
import { describeDeaths } from "../../support/write-path";

const HANDING_OVER = ["ServiceCIDR.partition", "ServiceCIDR.copyOut", "ServiceCIDR.receive"];

/** No object of the name, and no owner but those of the others. */
async function isGone(cluster: ObjectCluster, name: string): Promise<boolean> {
  if (await range(cluster, name)) return false;
  const { cidrs, owners } = await cluster.ranges.state();
  return owners.every(({ uid }) => cidrs.some((cidr) => cidr.uid === uid));
}

/** Who owns the prefix, by name. */
async function ownerOf(cluster: ObjectCluster, prefix: string): Promise<string | undefined> {
  const { cidrs, claims } = await cluster.ranges.state();
  const uid = claims.find((claim) => claim.prefix === prefix)?.ownerUid;
  return cidrs.find((cidr) => cidr.uid === uid)?.name;
}

describeDeaths([
  {
    name: "delete an empty ServiceCIDR: its owner retires",
    given: (cluster) => cluster.ranges.created("extra", "10.97.0.0/24"),
    ask: (cluster) => cluster.ranges.remove("extra"),
    done: (cluster) => isGone(cluster, "extra"),
    awaits: [...WRITING, "ServiceCIDR.countTaken"],
  },
  {
    name: "delete a ServiceCIDR that another covers: its addresses are handed over",
    async given(cluster) {
      await cluster.ranges.created("old", "10.97.0.0/24");
      for (const [name, clusterIP] of Object.entries({ a: "10.97.0.9", b: "10.97.0.200" })) await cluster.create(name, { clusterIP });
      await cluster.ranges.created("new", "10.97.0.0/23");
    },
    ask: (cluster) => cluster.ranges.remove("old"),
    done: async (cluster) => (await isGone(cluster, "old")) && (await ownerOf(cluster, "10.97.0.0/23")) === "new",
    awaits: [...WRITING, ...HANDING_OVER],
  },
]);
