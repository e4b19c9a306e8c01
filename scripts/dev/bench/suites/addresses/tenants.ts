/**
 * A cluster with 1,000 ServiceCIDRs that are kept for the Services of one namespace each, against one with the same ranges and no annotation. The
 * creates are in namespaces that match a range each, in turn.
 */
import { cpuMs } from "../../cpu";
import type { BenchRow } from "../../row";
import { callServiceCIDRs, createReadyServiceCIDRs, until } from "../../service-cidrs";
import { withServer } from "../../started";
import type { Server } from "../../../../../test/support/server/server";

const RANGES = 1_000;
const NAMESPACES = 50;
const SERVICES = 10_000;
const ROUNDS = 10;
const CONNECTIONS = 100;
const RATE_RATIO_MIN = 0.8;
const DEFAULT_RANGE = "10.0.0.0/12";
const SELECTOR = "servicenet.dev/namespace-selector";
const SIDES = ["plain", "default"] as const;

export function benchTenants(): Promise<BenchRow[]> {
  return withServer(DEFAULT_RANGE, async (server) => {
    const ranges = Array.from({ length: RANGES }, (_, i) => `11.${String(Math.floor(i / 64))}.${String((i % 64) * 4)}.0/22`);
    for (const cluster of SIDES) {
      // The first write makes the cluster.
      for (let i = 0; i < NAMESPACES; i++) await createNamespace(server, cluster, i);
      await createReadyServiceCIDRs(server, ranges, cluster);
    }
    const startedAt = performance.now();
    await annotateAll(server);
    const annotatedMs = performance.now() - startedAt;
    const sides = { plain: { ms: 0, cpu: 0 }, default: { ms: 0, cpu: 0 } };
    for (const cluster of SIDES) await createIn(server, cluster, "warm", SERVICES / ROUNDS);
    for (let round = 0; round < ROUNDS; round++) {
      for (const cluster of round % 2 === 0 ? SIDES : [...SIDES].reverse()) {
        const [cpu, begun] = [cpuMs(server.runtimePid) ?? NaN, performance.now()];
        await createIn(server, cluster, `r${String(round)}`, SERVICES / ROUNDS);
        sides[cluster].ms += performance.now() - begun;
        sides[cluster].cpu += (cpuMs(server.runtimePid) ?? NaN) - cpu;
      }
    }
    const ratio = sides.plain.ms / sides.default.ms;
    const rateOf = (ms: number): string => Math.round(SERVICES / (ms / 1_000)).toLocaleString("en-US");
    return [
      {
        name: "tenants.createRateRatio",
        value: Math.round(ratio * 100) / 100,
        unit: "x",
        target: `>= ${String(RATE_RATIO_MIN)}`,
        ok: ratio >= RATE_RATIO_MIN,
        note: `${rateOf(sides.default.ms)}/s in ${String(NAMESPACES)} namespaces, each with a range of its own among ${String(RANGES)}, against ${rateOf(sides.plain.ms)}/s without selectors, ${String(ROUNDS)} rounds each in turn`,
      },
      ...(Number.isNaN(sides.default.cpu)
        ? []
        : [
            {
              name: "tenants.createCpuRatio",
              value: Math.round((sides.default.cpu / sides.plain.cpu) * 100) / 100,
              unit: "x",
              note: `${((sides.default.cpu / SERVICES) * 1_000).toFixed(0)} µs of the runtime for each Service against ${((sides.plain.cpu / SERVICES) * 1_000).toFixed(0)} µs`,
            },
          ]),
      {
        name: "tenants.annotated",
        value: Math.round(annotatedMs) / 1_000,
        unit: "s",
        note: `${String(RANGES)} ServiceCIDRs get their selectors, one after the other, until a Service of each of ${String(NAMESPACES)} namespaces is in its range`,
      },
    ];
  });
}

async function call(server: Server, cluster: string, method: string, path: string, body: object): Promise<Response> {
  const headers = { "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
  const answer = await fetch(`${server.url}/clusters/${cluster}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return answer;
}

async function createNamespace(server: Server, cluster: string, i: number): Promise<void> {
  const metadata = { name: `tenant-${String(i)}`, labels: { tenant: String(i) } };
  await (await call(server, cluster, "POST", "/api/v1/namespaces", { metadata })).arrayBuffer();
}

async function annotateAll(server: Server): Promise<void> {
  for (let i = 0; i < RANGES; i++) {
    const patch = { metadata: { annotations: { [SELECTOR]: `tenant=${String(i)}` } } };
    const answer = await callServiceCIDRs(server, "PATCH", `/range-${String(i)}`, patch);
    if (!answer.ok) throw new Error(`a selector: ${String(answer.status)} ${await answer.text()}`);
    await answer.arrayBuffer();
  }
  let asked = 0;
  await until(async () => {
    const name = `probe-${String(asked++)}`;
    const found = await Promise.all(Array.from({ length: NAMESPACES }, (_, i) => create(server, "default", i, name)));
    return found.every((address, i) => address.startsWith(`11.${String(Math.floor(i / 64))}.`));
  });
}

async function createIn(server: Server, cluster: string, prefix: string, count: number): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await create(server, cluster, i % NAMESPACES, `${prefix}-${String(i)}`);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
}

async function create(server: Server, cluster: string, namespace: number, name: string): Promise<string> {
  const path = `/api/v1/namespaces/tenant-${String(namespace)}/services`;
  const answer = await call(server, cluster, "POST", path, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
  return ((await answer.json()) as { spec: { clusterIP: string } }).spec.clusterIP;
}
