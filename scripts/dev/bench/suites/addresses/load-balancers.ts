/** Services of type LoadBalancer with an address of a pool in the answer of the create, against Services of type ClusterIP, in turn on one server. */
import type { Service } from "../../../../../src/api/meta/kubernetes";
import { Api } from "../../../../../test/support/clients/api";
import type { Server } from "../../../../../test/support/server/server";
import type { BenchRow } from "../../row";
import { until } from "../../service-cidrs";
import { createServices, withServer } from "../../started";
import { type Side, twoSides } from "../../two-sides";

const SERVICES = 10_000;
const ROUNDS = 10;
const CONNECTIONS = 100;
const RATE_RATIO_MIN = 0.7;
const SERVICE_RANGE = "10.0.0.0/12";
const POOL = "11.0.0.0/16";

export function benchLoadBalancers(): Promise<BenchRow[]> {
  return withServer(SERVICE_RANGE, async (server) => {
    await createPool(server);
    const given = new Set<string>();
    const rows = await twoSides({
      ...{ name: "load-balancers", runtimePid: server.runtimePid, rounds: ROUNDS, count: SERVICES, ratioMin: RATE_RATIO_MIN },
      notes: { with: "with an address of a pool, all different", without: "of type ClusterIP" },
      create: (side, round) => createAll(server, side, round, given),
    });
    const created = SERVICES + SERVICES / ROUNDS;
    if (given.size !== created) throw new Error(`${String(created)} Services have ${String(given.size)} addresses`);
    return rows;
  });
}

/** Answers how long it took, in milliseconds. */
async function createAll(server: Server, side: Side, round: string, given: Set<string>): Promise<number> {
  const balanced = side === "with";
  const load = { cluster: "default", connections: CONNECTIONS, count: SERVICES / ROUNDS, prefix: `${round}-${side}`, addressPrefixes: [] };
  const { addresses, elapsedMs } = await createServices(server, { ...load, balanced });
  if (balanced) for (const [, address] of addresses) given.add(address);
  return elapsedMs;
}

/** A pool that gives addresses: a Service has one. */
async function createPool(server: Server): Promise<void> {
  const annotations = { "servicenet.dev/load-balancer": "true" };
  const pools = "/clusters/default/apis/ipam.cluster.x-k8s.io/v1alpha2/globalinclusterippools";
  const api = new Api(() => server.url);
  await api.must("POST", pools, { body: { metadata: { name: "bench", annotations }, spec: { addresses: [POOL], prefix: 8 } } });
  let probes = 0;
  await until(async () => {
    const spec = { type: "LoadBalancer", loadBalancerClass: "servicenet.dev/pool", ports: [{ port: 80 }] };
    const metadata = { name: `probe-${String(probes++)}` };
    const { status } = await api.must("POST", "/clusters/default/api/v1/namespaces/default/services", { body: { metadata, spec } });
    return (status as Service["status"])?.loadBalancer?.ingress !== undefined;
  });
}
