/** Shared parts of the death enumerations for addresses: clusters of both families, and the addresses of a Service. */
import { env } from "cloudflare:test";
import { afterAll, beforeAll } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import type { Service } from "../../../src/api/meta/kubernetes";
import type { WriteResult } from "../../../src/api/rpc/store";
import type { ObjectCluster } from "./object-cluster";

const bindings = env as unknown as Env;
const RANGES = "10.96.0.0/16,fd00:10:96::/112";

/** Awaits of a Service that takes addresses, and of one that releases them. */
export const TAKING = ["ServiceCIDR.allocate", "IPAddressesStore.createMany", "ServicesStore.write", "ServicesStore disk"];
export const GIVING_BACK = ["ServiceCIDR.release", "IPAddressesStore.deleteMany", "ServicesStore.write", "ServicesStore disk"];

/** The clusters of this file serve both families. */
export function servingBothFamilies(): void {
  const configured = bindings.SERVICE_CLUSTER_IP_RANGE;
  beforeAll(() => {
    bindings.SERVICE_CLUSTER_IP_RANGE = RANGES;
  });
  afterAll(() => {
    if (configured !== undefined) bindings.SERVICE_CLUSTER_IP_RANGE = configured;
  });
}

export async function service(cluster: ObjectCluster, name = "web"): Promise<Service | undefined> {
  const { services } = await cluster.stored();
  return services.find(({ metadata }) => metadata?.name === name);
}

export function addressesOf(object: Service | undefined): string[] {
  return object?.spec?.clusterIPs ?? [];
}

/** The Service holds this number of addresses, and those of the answer. */
export async function holds(cluster: ObjectCluster, count: number, answer: unknown): Promise<boolean> {
  const stored = addressesOf(await service(cluster));
  const told = (answer as WriteResult | undefined)?.ok ? addressesOf(JSON.parse((answer as { object: string }).object) as Service) : stored;
  return stored.length === count && String(stored) === String(told);
}
