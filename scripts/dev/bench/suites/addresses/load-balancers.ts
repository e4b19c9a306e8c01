/** Services of type LoadBalancer with an address of a pool in the answer of the create, against Services of type ClusterIP, in turn on one server. */
import type { Service } from "../../../../../src/api/meta/kubernetes";
import type { Server } from "../../../../../test/support/server/server";
import { cpuMs } from "../../cpu";
import type { BenchRow } from "../../row";
import { until } from "../../service-cidrs";
import { createServices, withServer } from "../../started";

const SERVICES = 10_000;
const ROUNDS = 10;
const CONNECTIONS = 100;
const RATE_RATIO_MIN = 0.7;
const SERVICE_RANGE = "10.0.0.0/12";
const POOL = "11.0.0.0/16";
const SIDES = ["plain", "balanced"] as const;

export function benchLoadBalancers(): Promise<BenchRow[]> {
  return withServer(SERVICE_RANGE, async (server) => {
    await createPool(server);
    const sides = { plain: { ms: 0, cpu: 0 }, balanced: { ms: 0, cpu: 0 } };
    const given = new Set<string>();
    for (const side of SIDES) await createAll(server, side, "warm", given);
    for (let round = 0; round < ROUNDS; round++) {
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const cpu = cpuMs(server.runtimePid) ?? NaN;
        sides[side].ms += await createAll(server, side, `r${String(round)}`, given);
        sides[side].cpu += (cpuMs(server.runtimePid) ?? NaN) - cpu;
      }
    }
    const created = SERVICES + SERVICES / ROUNDS;
    if (given.size !== created) throw new Error(`${String(created)} Services have ${String(given.size)} addresses`);
    const ratio = sides.plain.ms / sides.balanced.ms;
    const rateOf = (ms: number): string => Math.round(SERVICES / (ms / 1_000)).toLocaleString("en-US");
    const cpuOf = (cpu: number): string => ((cpu / SERVICES) * 1_000).toFixed(0);
    return [
      {
        name: "load-balancers.createRateRatio",
        value: Math.round(ratio * 100) / 100,
        unit: "x",
        target: `>= ${String(RATE_RATIO_MIN)}`,
        ok: ratio >= RATE_RATIO_MIN,
        note: `${rateOf(sides.balanced.ms)}/s with an address of a pool, all different, against ${rateOf(sides.plain.ms)}/s of type ClusterIP, ${String(ROUNDS)} rounds each in turn`,
      },
      ...(Number.isNaN(sides.balanced.cpu)
        ? []
        : [
            {
              name: "load-balancers.createCpuRatio",
              value: Math.round((sides.balanced.cpu / sides.plain.cpu) * 100) / 100,
              unit: "x",
              note: `${cpuOf(sides.balanced.cpu)} µs of the runtime for each Service against ${cpuOf(sides.plain.cpu)} µs`,
            },
          ]),
    ];
  });
}

/** Answers how long it took, in milliseconds. */
async function createAll(server: Server, side: (typeof SIDES)[number], round: string, given: Set<string>): Promise<number> {
  const balanced = side === "balanced";
  const load = { cluster: "default", connections: CONNECTIONS, count: SERVICES / ROUNDS, prefix: `${round}-${side}`, addressPrefixes: [] };
  const { addresses, elapsedMs } = await createServices(server, { ...load, balanced });
  if (balanced) for (const [, address] of addresses) given.add(address);
  return elapsedMs;
}

/** A pool that gives addresses: a Service has one. */
async function createPool(server: Server): Promise<void> {
  const annotations = { "servicenet.dev/load-balancer": "true" };
  const pools = "/clusters/default/apis/ipam.cluster.x-k8s.io/v1alpha2/globalinclusterippools";
  await post(server, pools, { metadata: { name: "bench", annotations }, spec: { addresses: [POOL], prefix: 8 } });
  let probes = 0;
  await until(async () => {
    const spec = { type: "LoadBalancer", loadBalancerClass: "servicenet.dev/pool", ports: [{ port: 80 }] };
    const metadata = { name: `probe-${String(probes++)}` };
    const service = await post<Service>(server, "/clusters/default/api/v1/namespaces/default/services", { metadata, spec });
    return service.status?.loadBalancer?.ingress !== undefined;
  });
}

async function post<T>(server: Server, path: string, body: object): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as T;
}
