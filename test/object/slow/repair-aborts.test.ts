/** Objects die at each await of repair that gives back to a Service what is its own: the IPAddress, and the row of its address. */
import { runInDurableObject } from "cloudflare:test";
import { addressesOf, service } from "../../support/objects/address-paths";
import type { ObjectCluster } from "../../support/objects/object-cluster";
import {
  askForSweep,
  ipAddress,
  noteAnswered,
  nudgeRepair,
  onlyOwner,
  repaired,
  restart,
  rowHolders,
} from "../../support/objects/repair-paths";
import { DELETE } from "../../support/worlds/store-world";
import { describeDeaths } from "../../support/objects/write-path";

/** uids of the IPAddresses that are deleted, by cluster */
const deleted = new WeakMap<ObjectCluster, string>();

async function addressOfWeb(cluster: ObjectCluster): Promise<string> {
  return addressesOf(await service(cluster))[0] ?? "";
}

async function uidOfAddress(cluster: ObjectCluster): Promise<string | undefined> {
  return (await ipAddress(cluster, await addressOfWeb(cluster)))?.metadata?.uid;
}

async function withIPAddress(cluster: ObjectCluster): Promise<void> {
  await cluster.create("web");
  await repaired(cluster);
  deleted.set(cluster, (await uidOfAddress(cluster)) ?? "");
}

async function deleteIPAddress(cluster: ObjectCluster): Promise<{ ok: boolean }> {
  const key = { namespace: "", name: await addressOfWeb(cluster) };
  return noteAnswered(cluster, await cluster.ipAddresses.write({ verb: "delete", key, options: DELETE }));
}

async function isRestored(cluster: ObjectCluster): Promise<boolean> {
  const uid = await uidOfAddress(cluster);
  return uid !== undefined && uid !== deleted.get(cluster);
}

async function withoutRow(cluster: ObjectCluster): Promise<void> {
  await cluster.create("web");
  await repaired(cluster);
  const owner = await onlyOwner(cluster);
  await runInDurableObject(owner, (_, { storage }) => void storage.sql.exec("DELETE FROM address WHERE name = 'web'"));
  await restart(owner);
}

async function withoutNodePortRow(cluster: ObjectCluster): Promise<void> {
  await cluster.create("web", { type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }] });
  await repaired(cluster);
  await runInDurableObject(cluster.servicesObject, (_, { storage }) => void storage.sql.exec("DELETE FROM node_ports"));
}

describeDeaths([
  {
    name: "bring an IPAddress back that a client deletes",
    controller: "repair",
    given: withIPAddress,
    ask: deleteIPAddress,
    done: isRestored,
    nudge: nudgeRepair,
    awaits: [
      ...["IPAddressesStore.write", "IPAddressesStore disk", "Controller.poke", "IPAddressesStore.objectsSince"],
      ...["ServicesStore.makeWhole", "ServiceCIDR.rowsOf", "IPAddressesStore.restoreMany"],
    ],
  },
  {
    name: "take a row again that its owner has lost",
    controller: "repair",
    given: withoutRow,
    ask: askForSweep,
    done: async (cluster) => (await rowHolders(cluster)).includes("web"),
    nudge: askForSweep,
    awaits: ["ServicesStore.makeWhole", "ServiceCIDR.rowsOf", "ServiceCIDR.allocate"],
  },
  {
    name: "take a lost row of a node port again",
    controller: "repair",
    given: withoutNodePortRow,
    ask: askForSweep,
    done: async (cluster) => String(await cluster.nodePortRows()) === "TCP/30080 default/web",
    nudge: askForSweep,
    awaits: ["ServicesStore.makeNodePortsWhole", "ServicesStore.leakedNodePorts"],
  },
]);
