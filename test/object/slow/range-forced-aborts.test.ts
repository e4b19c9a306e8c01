/** Objects die at each await of what becomes of a ServiceCIDR whose finalizer is removed by force, and of the addresses that it leaves. */
import { GIVING_BACK, addressesOf, service } from "../../support/objects/address-paths";
import type { ObjectCluster } from "../../support/objects/object-cluster";
import { CLOSING, isGone, ownersOf, range, WRITING } from "../../support/objects/range-paths";
import { describeDeaths } from "../../support/objects/write-path";

const PREFIX = "10.97.0.0/24";
const ADDRESS = "10.97.0.9";
/** What who uses force asks for. */
const UNCOVERED = [`I3: no ServiceCIDR covers ${ADDRESS} of default/web`];

/** A range, and a Service that holds an address in it. */
async function inUse(cluster: ObjectCluster): Promise<void> {
  await cluster.ranges.created("extra", PREFIX);
  await cluster.create("web", { clusterIP: ADDRESS });
}

/** Deletes the range, and does not wait for the server to let it go. */
async function force(cluster: ObjectCluster): Promise<{ ok: boolean }> {
  const removed = await cluster.ranges.remove("extra");
  return removed.ok ? cluster.ranges.patch("extra", { metadata: { finalizers: null } }) : removed;
}

describeDeaths([
  {
    name: "remove the finalizer of a ServiceCIDR by force while a Service holds an address in it: its owner stays",
    given: inUse,
    ask: force,
    async done(cluster) {
      if (await range(cluster, "extra")) return false;
      const isHeld = String(addressesOf(await service(cluster))) === ADDRESS;
      return isHeld && String(await ownersOf(cluster, PREFIX)) === `${PREFIX} nobody`;
    },
    awaits: [...WRITING, "ServiceCIDR.countTaken"],
    expected: UNCOVERED,
  },
  {
    name: "delete the last Service of a ServiceCIDR that was removed by force: its owner retires",
    async given(cluster) {
      await inUse(cluster);
      await force(cluster);
    },
    ask: (cluster) => cluster.remove("web"),
    done: async (cluster) =>
      (await service(cluster)) === undefined && (await isGone(cluster, "extra")) && (await ownersOf(cluster, PREFIX)).length === 0,
    awaits: [...GIVING_BACK, ...CLOSING],
    expected: UNCOVERED,
  },
]);
