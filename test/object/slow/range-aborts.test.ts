/** Objects die at each await of what makes and changes ServiceCIDRs: claims, seeding, fences. */
import type { ObjectCluster } from "../../support/objects/object-cluster";
import { range, WRITING } from "../../support/objects/range-paths";
import { createAddress } from "../../support/objects/range-requests";
import { describeDeaths, type WritePath } from "../../support/objects/write-path";

const SEEDING = ["IPAddressesStore.claimPrefixes", "ServiceCIDR.seed"];

async function isReady(cluster: ObjectCluster, name: string): Promise<boolean> {
  const found = await range(cluster, name);
  return found?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

const PATHS: readonly WritePath[] = [
  {
    name: "create a ServiceCIDR around an IPAddress",
    given: (cluster) => cluster.ipAddresses.write(createAddress("10.97.0.9")),
    ask: (cluster) => cluster.ranges.create("extra", "10.97.0.0/24"),
    done: (cluster) => isReady(cluster, "extra"),
    awaits: [...WRITING, ...SEEDING],
  },
  {
    name: "give a ServiceCIDR its second family, around an IPAddress",
    async given(cluster) {
      await cluster.ranges.created("extra", "10.97.0.0/24");
      await cluster.ipAddresses.write(createAddress("fd00:10:97::9"));
    },
    ask: (cluster) => cluster.ranges.patch("extra", { spec: { cidrs: ["10.97.0.0/24", "fd00:10:97::/112"] } }),
    async done(cluster) {
      const { ranges } = await cluster.ranges.state();
      return ranges.some(({ prefix, ready }) => ready && prefix === "fd00:10:97::/112");
    },
    awaits: [...WRITING, ...SEEDING],
  },
  {
    name: "turn a ServiceCIDR off",
    given: (cluster) => cluster.ranges.created("extra", "10.97.0.0/24"),
    ask: (cluster) => cluster.ranges.shut("extra"),
    done: async (cluster) => !(await isReady(cluster, "extra")),
    awaits: WRITING,
  },
];

describeDeaths(PATHS);
