/**
 * A ServiceCIDR with 60,000 Services is deleted while another covers it. Measured: the time until its addresses have their new owner, and the latency
 * of creates meanwhile. Nearly all free addresses are on the move, so that creates cannot avoid them.
 */
import type { Server } from "../../../../../test/support/server/server";
import { callServiceCIDRs, countReady, createServiceCIDR, until } from "../../service-cidrs";
import { createServices, withServer } from "../../started";
import { quantile, round } from "../../figures";
import type { BenchRow } from "../../row";

const SERVICES = 60_000;
const MOVING = "10.96.0.0/16";
/** the smallest that the server takes */
const DEFAULT_RANGE = "10.0.0.0/29";
const DURATION_MS_MAX = 5_000;
const DELAY_MS_MAX = 500;
/** Creates from before the move until after it: nearly as many as there is room for. */
const CREATES_MEANWHILE = 4_400;
const CONNECTIONS_MEANWHILE = 4;

export function benchHandoff(): Promise<BenchRow[]> {
  return withServer(DEFAULT_RANGE, async (server) => {
    const addressPrefixes = ["10.96.", "10.0.0."];
    await createRange(server, "old");
    await createServices(server, { cluster: "default", connections: 50, count: SERVICES, prefix: "held", addressPrefixes });
    await createRange(server, "new");
    const load = { cluster: "default", connections: CONNECTIONS_MEANWHILE, addressPrefixes };
    const before = await createServices(server, { ...load, count: 1_000, prefix: "before" });
    let isLoaded = true;
    const meanwhile = createServices(server, { ...load, count: CREATES_MEANWHILE, prefix: "meanwhile" }).finally(() => (isLoaded = false));
    meanwhile.catch(() => undefined);
    await until(async () => !isLoaded || (await fetch(`${server.url}/api/v1/namespaces/default/services/meanwhile-0`)).ok);
    const startedAt = performance.now();
    await callServiceCIDRs(server, "DELETE", "/old");
    await until(async () => (await callServiceCIDRs(server, "GET", "/old")).status === 404);
    const elapsedMs = performance.now() - startedAt;
    const isCovered = isLoaded;
    const [busy, quiet] = [figuresOf(await meanwhile), figuresOf(before)];
    return [
      {
        name: "handoff.duration",
        value: Math.round(elapsedMs) / 1_000,
        unit: "s",
        target: `<= ${String(DURATION_MS_MAX / 1_000)}`,
        ok: isCovered && elapsedMs <= DURATION_MS_MAX,
        note: `${String(SERVICES)} addresses of ${MOVING}, from the DELETE until the ServiceCIDR is gone, with ${String(CONNECTIONS_MEANWHILE)} clients creating${isCovered ? "" : ", who ended before"}`,
      },
      {
        name: "handoff.slowestCreate",
        value: round(busy.max),
        unit: "ms",
        target: `<= ${String(DELAY_MS_MAX)} more than before`,
        ok: isCovered && busy.max - quiet.max <= DELAY_MS_MAX,
        note: `of ${String(CREATES_MEANWHILE)} from before the DELETE until after the end; ${String(round(quiet.max))} ms of 1,000 before`,
      },
      { name: "handoff.p99Create", value: round(busy.p99), unit: "ms", note: `${String(round(quiet.p99))} ms before` },
    ];
  });
}

function figuresOf({ latenciesMs }: { latenciesMs: number[] }): { max: number; p99: number } {
  return { max: latenciesMs.at(-1) ?? NaN, p99: quantile(latenciesMs, 0.99) };
}

async function createRange(server: Server, name: string): Promise<void> {
  const before = await countReady(server);
  await createServiceCIDR(server, name, MOVING);
  await until(async () => (await countReady(server)) > before);
}
