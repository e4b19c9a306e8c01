/**
 * A ServiceCIDR with hundreds of others inside is deleted. The inner ones are younger, so its owner serves their addresses. Services are created
 * in them meanwhile. Measured: the time until each range has its own addresses, and the latency of the creates.
 */
import type { Server } from "../../../../test/support/server/server";
import { quantile } from "../figures";
import type { BenchRow } from "../row";
import { callServiceCIDRs, createReadyServiceCIDRs, createServiceCIDR, countReady, until } from "../service-cidrs";
import { createServices, withServer } from "../started";

/** the smallest that the server takes */
const DEFAULT_RANGE_V4 = "10.255.0.0/29";
const DEFAULT_RANGE_V6 = "fd00:ffff::/125";
const GONE_MS_MAX = 30_000;
const CREATES_MEANWHILE = 2_000;
const CONNECTIONS_MEANWHILE = 4;

interface Shape {
  name: string;
  defaultRange: string;
  outer: string;
  inner: string[];
  services: number;
  addressPrefixes: string[];
}

const SHAPES: readonly Shape[] = [
  {
    name: "surrounding.v4",
    defaultRange: DEFAULT_RANGE_V4,
    outer: "10.96.0.0/16",
    inner: Array.from({ length: 250 }, (_, i) => `10.96.${String(i)}.0/24`),
    services: 2_500,
    addressPrefixes: ["10."],
  },
  {
    name: "surrounding.v6",
    defaultRange: DEFAULT_RANGE_V6,
    outer: "fd00:0:0:1::/64",
    // Spread over the outer range, which falls into pieces of every size.
    inner: Array.from({ length: 1_000 }, (_, i) => `fd00::1:${hex(i * 40_503 + 1)}:${hex(i * 7_919 + 1)}:${hex(i + 1)}:0/112`),
    services: 4_000,
    addressPrefixes: ["fd00:"],
  },
];

export async function benchSurrounding(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const shape of SHAPES) rows.push(...(await withServer(shape.defaultRange, (server) => measure(server, shape))));
  return rows;
}

async function measure(server: Server, shape: Shape): Promise<BenchRow[]> {
  const { outer, inner, services, addressPrefixes } = shape;
  const ready = await countReady(server);
  await createServiceCIDR(server, "outer", outer);
  await until(async () => (await countReady(server)) > ready);
  await createReadyServiceCIDRs(server, inner);
  // Only the inner ranges may give out addresses, so that no Service holds an address of the outer range alone.
  const suspended = await callServiceCIDRs(server, "PATCH", "/outer/status", notReady());
  if (suspended.status !== 200) throw new Error(await suspended.text());
  const load = { cluster: "default", addressPrefixes };
  await createServices(server, { ...load, connections: 50, count: services, prefix: "held" });
  const before = await createServices(server, { ...load, connections: CONNECTIONS_MEANWHILE, count: 500, prefix: "before" });
  const meanwhile = createServices(server, {
    ...load,
    connections: CONNECTIONS_MEANWHILE,
    count: CREATES_MEANWHILE,
    prefix: "meanwhile",
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const startedAt = performance.now();
  await callServiceCIDRs(server, "DELETE", "/outer");
  await until(async () => (await callServiceCIDRs(server, "GET", "/outer")).status === 404);
  const elapsedMs = performance.now() - startedAt;
  const [busy, quiet] = [await meanwhile, before];
  return [
    {
      name: shape.name,
      value: Math.round(elapsedMs) / 1_000,
      unit: "s",
      target: `<= ${String(GONE_MS_MAX / 1_000)}`,
      ok: elapsedMs <= GONE_MS_MAX,
      note: `${outer} around ${String(inner.length)} ServiceCIDRs with ${String(services)} Services, from the DELETE until it is gone, with ${String(CONNECTIONS_MEANWHILE)} clients creating`,
    },
    {
      name: `${shape.name}.slowestCreate`,
      value: Math.round((busy.latenciesMs.at(-1) ?? NaN) * 10) / 10,
      unit: "ms",
      note: `of ${String(CREATES_MEANWHILE)}, p99 ${quantile(busy.latenciesMs, 0.99).toFixed(1)} ms; ${(quiet.latenciesMs.at(-1) ?? NaN).toFixed(1)} ms, p99 ${quantile(quiet.latenciesMs, 0.99).toFixed(1)} ms before`,
    },
  ];
}

function notReady(): object {
  const ready = { type: "Ready", status: "False", reason: "Benchmark", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  return { status: { conditions: [ready] } };
}

function hex(n: number): string {
  return (n & 0xffff || 1).toString(16);
}
