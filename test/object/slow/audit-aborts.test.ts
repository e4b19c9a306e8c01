/** Objects die at each await of the audit of owners: stores give back the rows that a crash has left behind. */
import { env, runInDurableObject } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";
import { owner } from "../../../durable-objects/peers/peers";
import type { AddressRow, Holder } from "../../../src/addresses/rpc/service-cidr";
import type { ObjectCluster } from "../../support/objects/object-cluster";
import { rowHolders } from "../../support/objects/repair-paths";
import { describeDeaths, type WritePath } from "../../support/objects/write-path";

const bindings = env as unknown as Env;
const LOST = "10.96.0.99";

/** A row of a store that died before it wrote down for whom it is. */
async function lostRow(cluster: ObjectCluster, kind: Holder["kind"]): Promise<Pick<AddressRow, "token" | "gen" | "position">> {
  const { claims } = await cluster.ranges.state();
  const stub = owner(bindings, cluster.name, claims[0]?.ownerUid ?? "");
  const holder = { kind, namespace: kind === "service" ? "default" : "", name: "lost", uid: "uid of lost" };
  await stub.allocate([{ token: "lost", holder, family: "IPv4", address: LOST }]);
  const row = (await stub.rowsSince(0, 10)).rows.find(({ token }) => token === "lost");
  if (!row) throw new Error("the owner has no such row");
  return row;
}

/** The services store has written the IPAddress already. */
async function lostPair(cluster: ObjectCluster): Promise<void> {
  const { token, gen } = await lostRow(cluster, "service");
  await cluster.ipAddresses.createMany([{ address: LOST, family: "IPv4", token, gen, namespace: "default", name: "lost" }]);
}

/** The audit has been there before: only who looks at the old rows, too, finds it. */
async function oldRow(cluster: ObjectCluster): Promise<void> {
  const { position } = await lostRow(cluster, "service");
  const { claims } = await cluster.ranges.state();
  await runInDurableObject(cluster.servicesObject, (_, { storage }) => {
    const mark = `audited/${claims[0]?.ownerUid ?? ""}`;
    storage.sql.exec("INSERT INTO marks (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2", mark, position);
  });
}

async function isGone(cluster: ObjectCluster): Promise<boolean> {
  const { ipAddresses } = await cluster.stored();
  return ipAddresses.length === 1 && !(await rowHolders(cluster)).includes("lost");
}

function audited(audit: Promise<void>): Promise<{ ok: boolean }> {
  return audit.then(() => ({ ok: true }));
}

const LOOKING = ["Coordinator.topology", "ServiceCIDR.rowsSince", "ServiceCIDR.release"];
const PATHS: readonly WritePath[] = [
  {
    name: "give back what was taken and written for a Service that was never stored",
    given: lostPair,
    ask: (cluster) => audited(cluster.services.maintain()),
    done: isGone,
    awaits: [...LOOKING, "IPAddressesStore.deleteMany", "IPAddressesStore disk"],
  },
  {
    name: "give back what was taken for an IPAddress that was never stored",
    given: (cluster) => lostRow(cluster, "ipaddress"),
    ask: (cluster) => audited(cluster.ipAddresses.maintain()),
    done: isGone,
    awaits: [...LOOKING],
  },
  {
    name: "give back an old row, for who asks for an audit of all",
    given: oldRow,
    ask: (cluster) => audited(cluster.services.auditAll()),
    done: isGone,
    awaits: [...LOOKING, "IPAddressesStore.deleteMany"],
  },
];

describeDeaths(PATHS);
