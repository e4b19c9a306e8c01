/** Objects die at each await of repair that has IPAddresses go whose Service is not there: with the row of the address, or without any. */
import { runInDurableObject } from "cloudflare:test";
import { type ObjectCluster, plant } from "../../support/objects/object-cluster";
import { askForSweep, ipAddress, nudgeRepair, repaired, rowHolders } from "../../support/objects/repair-paths";
import { anIPAddress } from "../../support/worlds/repair-world";
import { describeDeaths } from "../../support/objects/write-path";

const LEAKED = "10.96.0.99";
/** Every orphan of then is old enough to go. */
const LONG_AGO = "2026-01-01T00:00:00Z";

/** The Service's own row is left, for which nobody but repair gives the address back. */
async function withoutService(cluster: ObjectCluster): Promise<void> {
  await cluster.create("web", { clusterIP: LEAKED });
  await repaired(cluster);
  await runInDurableObject(
    cluster.servicesObject,
    (_, { storage }) => void storage.sql.exec("DELETE FROM objects WHERE key = 'default/web'"),
  );
  await runInDurableObject(cluster.ipAddressesObject, (_, { storage }) => {
    const aged = "json_set(data, '$.metadata.creationTimestamp', ?)";
    storage.sql.exec(`UPDATE objects SET data = ${aged} WHERE key = ?`, LONG_AGO, LEAKED);
  });
}

async function isGone(cluster: ObjectCluster): Promise<boolean> {
  return (await ipAddress(cluster, LEAKED)) === undefined && String(await rowHolders(cluster)) === "kubernetes";
}

describeDeaths([
  {
    name: "give up an IPAddress whose Service is gone",
    controller: "repair",
    given: withoutService,
    ask: askForSweep,
    done: isGone,
    nudge: nudgeRepair,
    awaits: ["ServicesStore.giveUp", "IPAddressesStore.deleteMany", "ServiceCIDR.release"],
  },
  {
    name: "have an IPAddress go that was written for no Service",
    controller: "repair",
    async given(cluster) {
      await repaired(cluster);
      await plant(cluster.ipAddressesObject, anIPAddress(LEAKED, "default/gone", Date.parse(LONG_AGO)));
    },
    ask: askForSweep,
    done: isGone,
    nudge: nudgeRepair,
    awaits: [
      "ServicesStore.objectsSince",
      "IPAddressesStore.objectsSince",
      "IPAddressesStore.writersOf",
      "IPAddressesStore.write",
      "IPAddressesStore disk",
    ],
  },
]);
