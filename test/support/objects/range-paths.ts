/** Shared parts of the death enumerations for ServiceCIDRs. */
import { runInDurableObject } from "cloudflare:test";
import { containsPrefix } from "../../../src/core/net/prefix";
import { storedPrefix } from "../../../src/addresses/topology/stored-prefix";
import type { ServiceCIDR } from "../../../src/api/meta/kubernetes";
import type { ObjectCluster } from "./object-cluster";

/** Awaits of every write of a ServiceCIDR that changes the configuration of owners. */
export const WRITING = ["Coordinator.write", "Coordinator disk", "ServiceCIDR.configure"];

/** Awaits of the proof that a part of a range is empty. */
export const CLOSING = ["ServiceCIDR.countTaken", "ServiceCIDR.configure"];
/** Awaits of a hand-off. */
export const HANDING_OVER = ["ServiceCIDR.partition", "ServiceCIDR.copyOut", "ServiceCIDR.receive"];

/** The stored ServiceCIDR; read from the table. */
export function range(cluster: ObjectCluster, name: string): Promise<ServiceCIDR | undefined> {
  return runInDurableObject(cluster.ranges.stub as unknown as DurableObjectStub, (_, { storage }) => {
    const [row] = storage.sql.exec<{ data: string }>("SELECT data FROM objects WHERE key = ?", name).toArray();
    return row && (JSON.parse(row.data) as ServiceCIDR);
  });
}

/** No object has the name, and no owner is left but those of the others. */
export async function isGone(cluster: ObjectCluster, name: string): Promise<boolean> {
  if (await range(cluster, name)) return false;
  const { cidrs, owners } = await cluster.ranges.state();
  return owners.every(({ uid }) => cidrs.some((cidr) => cidr.uid === uid));
}

/** `10.97.0.0/25 new` of each segment inside the prefix: who owns it, by name; `nobody` = an owner whose object is gone. */
export async function ownersOf(cluster: ObjectCluster, prefix: string): Promise<string[]> {
  const { cidrs, claims } = await cluster.ranges.state();
  const inside = claims.filter((claim) => containsPrefix(storedPrefix(prefix), storedPrefix(claim.prefix)));
  return inside.map((claim) => `${claim.prefix} ${cidrs.find(({ uid }) => uid === claim.ownerUid)?.name ?? "nobody"}`).sort();
}
