/** What the enumerations of deaths on the ways of ServiceCIDRs share. */
import { runInDurableObject } from "cloudflare:test";
import type { ServiceCIDR } from "../../src/meta/kubernetes";
import type { ObjectCluster } from "./object-cluster";

/** Awaits of every write of a ServiceCIDR that changes what owners may do. */
export const WRITING = ["Coordinator.write", "Coordinator disk", "ServiceCIDR.configure"];

/** The stored ServiceCIDR; read from the table. */
export function range(cluster: ObjectCluster, name: string): Promise<ServiceCIDR | undefined> {
  return runInDurableObject(cluster.ranges.stub as unknown as DurableObjectStub, (_, { storage }) => {
    const [row] = storage.sql.exec<{ data: string }>("SELECT data FROM objects WHERE key = ?", name).toArray();
    return row && (JSON.parse(row.data) as ServiceCIDR);
  });
}
