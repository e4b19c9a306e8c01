/** Objects die at each await of repair that gives back to a Service what is its own: the IPAddress, and the row of its address. */
import { env, runInDurableObject } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";
import { NODE_PORTS_MARK, STEPS } from "../../../src/addresses/repair/node-port-check";
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

const bindings = env as unknown as Env;
/** uids of the IPAddresses that are deleted, by cluster */
const deleted = new WeakMap<ObjectCluster, string>();
/** what stood for the last comparison of node ports before one is asked for, by cluster */
const compared = new WeakMap<ObjectCluster, number>();

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
  compared.set(cluster, await comparison(cluster));
}

/** When node ports were last compared, and the step of that. */
function comparison({ name }: ObjectCluster): Promise<number> {
  return runInDurableObject(bindings.CONTROLLER.getByName(`${name}/controllers/repair`), (_, { storage }) => {
    const [row] = storage.sql.exec<{ value: number }>("SELECT value FROM repair_marks WHERE name = ?", NODE_PORTS_MARK).toArray();
    return row?.value ?? 0;
  });
}

/** The row is there, and the pass that has written it has looked for leaks, too. */
async function hasNodePortRow(cluster: ObjectCluster): Promise<boolean> {
  if (String(await cluster.nodePortRows()) !== "TCP/30080 default/web") return false;
  const mark = await comparison(cluster);
  return mark !== compared.get(cluster) && mark % STEPS === 0;
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
    done: hasNodePortRow,
    nudge: askForSweep,
    awaits: ["ServicesStore.makeServicesWhole", "ServicesStore.leakedNodePorts"],
  },
]);
