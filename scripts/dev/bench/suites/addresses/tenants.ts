/**
 * A cluster with 1,000 ServiceCIDRs that are kept for the Services of one namespace each, against one with the same ranges and no annotation. The
 * creates are in namespaces that match a range each, in turn.
 */
import type { BenchRow } from "../../row";
import { callServiceCIDRs, createReadyServiceCIDRs, until } from "../../service-cidrs";
import { withServer } from "../../started";
import { type Side, twoSides } from "../../two-sides";
import type { Server } from "../../../../../test/support/server/server";

const RANGES = 1_000;
const NAMESPACES = 50;
const SERVICES = 10_000;
const ROUNDS = 10;
const CONNECTIONS = 100;
const RATE_RATIO_MIN = 0.8;
const DEFAULT_RANGE = "10.0.0.0/12";
const SELECTOR = "servicenet.dev/namespace-selector";
const CLUSTERS: Record<Side, string> = { without: "plain", with: "default" };

export function benchTenants(): Promise<BenchRow[]> {
  return withServer(DEFAULT_RANGE, async (server) => {
    const ranges = Array.from({ length: RANGES }, (_, i) => `11.${String(Math.floor(i / 64))}.${String((i % 64) * 4)}.0/22`);
    for (const cluster of Object.values(CLUSTERS)) {
      // The first write makes the cluster.
      for (let i = 0; i < NAMESPACES; i++) await createNamespace(server, cluster, i);
      await createReadyServiceCIDRs(server, ranges, cluster);
    }
    const startedAt = performance.now();
    await annotateAll(server);
    const annotatedMs = performance.now() - startedAt;
    const rows = await twoSides({
      ...{ name: "tenants", runtimePid: server.runtimePid, rounds: ROUNDS, count: SERVICES, ratioMin: RATE_RATIO_MIN },
      notes: {
        with: `in ${String(NAMESPACES)} namespaces, each with a range of its own among ${String(RANGES)}`,
        without: "without selectors",
      },
      async create(side, round) {
        const begunAt = performance.now();
        await createIn(server, CLUSTERS[side], round, SERVICES / ROUNDS);
        return performance.now() - begunAt;
      },
    });
    return [
      ...rows,
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
