/**
 * A ServiceCIDR with 60,000 Services is deleted while another covers it: how long its addresses take to get to their new owner, and what the
 * creates of the meantime feel of it. Nearly all that is free is on the move, so that creates cannot get out of its way.
 */
import type { Server } from "../../test/e2e/server";
import { createServices, quantile, withServer } from "./started";
import type { BenchRow } from "./row";

const SERVICES = 60_000;
const MOVING = "10.96.0.0/16";
/** the smallest that the server takes */
const DEFAULT_RANGE = "10.0.0.0/29";
const DURATION_MS_MAX = 5_000;
const DELAY_MS_MAX = 500;
/** Creates that go on while the addresses move: 4 connections for longer than it may take. */
const CREATES_MEANWHILE = 4_000;
const CONNECTIONS_MEANWHILE = 4;

export function benchHandoff(): Promise<BenchRow[]> {
  return withServer(DEFAULT_RANGE, async (server) => {
    const addressPrefixes = ["10.96.", "10.0.0."];
    await createRange(server, "old");
    await createServices(server, { cluster: "default", connections: 50, count: SERVICES, prefix: "held", addressPrefixes });
    await createRange(server, "new");
    const load = { cluster: "default", connections: CONNECTIONS_MEANWHILE, addressPrefixes };
    const before = await createServices(server, { ...load, count: 1_000, prefix: "before" });
    const meanwhile = createServices(server, { ...load, count: CREATES_MEANWHILE, prefix: "meanwhile" });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const startedAt = performance.now();
    await call(server, "DELETE", "/old");
    await until(async () => (await call(server, "GET", "/old")).status === 404);
    const elapsedMs = performance.now() - startedAt;
    const [busy, quiet] = [figuresOf(await meanwhile), figuresOf(before)];
    return [
      {
        name: "handoff.duration",
        value: Math.round(elapsedMs) / 1_000,
        unit: "s",
        target: `<= ${String(DURATION_MS_MAX / 1_000)}`,
        ok: elapsedMs <= DURATION_MS_MAX,
        note: `${String(SERVICES)} addresses of ${MOVING}, from the DELETE until the ServiceCIDR is gone, with ${String(CONNECTIONS_MEANWHILE)} clients creating`,
      },
      {
        name: "handoff.slowestCreate",
        value: round(busy.max),
        unit: "ms",
        target: `<= ${String(DELAY_MS_MAX)} more than before`,
        ok: busy.max - quiet.max <= DELAY_MS_MAX,
        note: `of ${String(CREATES_MEANWHILE)} meanwhile; ${String(round(quiet.max))} ms of 1,000 before`,
      },
      { name: "handoff.p99Create", value: round(busy.p99), unit: "ms", note: `${String(round(quiet.p99))} ms before` },
    ];
  });
}

function figuresOf({ latenciesMs }: { latenciesMs: number[] }): { max: number; p99: number } {
  return { max: latenciesMs.at(-1) ?? NaN, p99: quantile(latenciesMs, 0.99) };
}

async function createRange(server: Server, name: string): Promise<void> {
  const object = { apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata: { name }, spec: { cidrs: [MOVING] } };
  const answer = await call(server, "POST", "", object);
  if (answer.status !== 201) throw new Error(`ServiceCIDR ${name}: ${String(answer.status)} ${await answer.text()}`);
  await until(async () => {
    const { status } = (await (await call(server, "GET", `/${name}`)).json()) as { status?: { conditions?: { status?: string }[] } };
    return status?.conditions?.[0]?.status === "True";
  });
}

function call(server: Server, method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${server.url}/apis/networking.k8s.io/v1/servicecidrs${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

async function until(predicate: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 120_000;
  while (!(await predicate())) {
    if (performance.now() > end) throw new Error("it takes longer than two minutes");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
