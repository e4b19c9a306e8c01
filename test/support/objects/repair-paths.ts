/** Shared parts of the death enumerations for repair: clusters that repair has read, and changes behind the server's back. */
import { env, runInDurableObject } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";
import { repairStub } from "../../../durable-objects/peers/peers";
import type { IPAddress } from "../../../src/api/meta/kubernetes";
import type { ObjectCluster } from "./object-cluster";
import { eventually } from "./object-ranges";

const bindings = env as unknown as Env;

/** Clusters whose client got a success: after that, pokes alone end the repair, and none of them asks for a sweep. */
const answered = new WeakSet<ObjectCluster>();

/** Repair has read all that there is: what it finds from now on is what it is told of, or asked to look for. */
export async function repaired(cluster: ObjectCluster): Promise<void> {
  await eventually(async () => {
    await cluster.repair();
    return (await repairStub(bindings, cluster.name).repairCounts()).sweeps > 0;
  });
}

export async function askForSweep(cluster: ObjectCluster): Promise<{ ok: boolean }> {
  await repairStub(bindings, cluster.name).sweep();
  return noteAnswered(cluster, { ok: true });
}

export function noteAnswered<T extends { ok: boolean }>(cluster: ObjectCluster, answer: T): T {
  if (answer.ok) answered.add(cluster);
  return answer;
}

/** As cron does each minute. Sweeps find planted objects, because no answer announced them. */
export function nudgeRepair(cluster: ObjectCluster): Promise<unknown> {
  const repair = repairStub(bindings, cluster.name);
  return answered.has(cluster) ? repair.poke() : repair.sweep();
}

export async function ipAddress(cluster: ObjectCluster, name: string): Promise<IPAddress | undefined> {
  const { ipAddresses } = await cluster.stored();
  return ipAddresses.find(({ metadata }) => metadata?.name === name);
}

export async function onlyOwner(cluster: ObjectCluster): Promise<DurableObjectStub> {
  const { claims } = await cluster.ranges.state();
  return cluster.ownerObject(claims[0]?.ownerUid ?? "");
}

/** Names of the holders of addresses of the default range, from its owner's table. */
export async function rowHolders(cluster: ObjectCluster): Promise<string[]> {
  return runInDurableObject(await onlyOwner(cluster), (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM address ORDER BY name")
      .toArray()
      .map(({ name }) => name),
  );
}

/** The object drops its memory of tables that were changed behind its back. */
export async function restart(stub: DurableObjectStub): Promise<void> {
  await runInDurableObject(stub, (_, state) => state.abort("restarted")).catch(() => undefined);
}
