/**
 * The cost of repair on 10,000 Services over 1,000 ServiceCIDRs. Measured are a sweep of everything and the latency of creates meanwhile, and the
 * cron of a minute after which nothing, or everything, has changed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../../../../../test/support/server/server";
import { cpuMs } from "../../cpu";
import { quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { createReadyServiceCIDRs } from "../../service-cidrs";
import { createServices, fullSweep, withServer } from "../../started";

const RANGES = 1_000;
const SERVICES = 10_000;
const CONNECTIONS = 100;
const DEFAULT_RANGE = "10.0.0.0/16";
const SWEEP_S_MAX = 10;
const BLOCK_MS_MAX = 50;
/** creates one after the other before the sweep, for comparison */
const PROBES = 100;
const MINUTE_MS = 60_000;
/** From just before a full minute until the jobs of cron, and the pass that they wake, are over. */
const CRON_WINDOW_MS = 25_000;

export function benchRepair(): Promise<BenchRow[]> {
  return withServer(DEFAULT_RANGE, async (server) => {
    await createReadyServiceCIDRs(
      server,
      Array.from({ length: RANGES }, (_, i) => `10.${String(1 + (i >> 8))}.${String(i & 255)}.0/24`),
    );
    // All in one minute, so that the next cron finds all of them changed.
    await sleep(MINUTE_MS - (Date.now() % MINUTE_MS) + CRON_WINDOW_MS);
    await createServices(server, {
      cluster: "default",
      connections: CONNECTIONS,
      count: SERVICES,
      prefix: "web",
      addressPrefixes: ["10."],
    });
    const changed = await cronCpuMs(server);
    // In this minute cron audits the remaining owners, each for the first time since its configuration.
    await cronCpuMs(server);
    const healthy = await cronCpuMs(server);

    const before = await probe(server, "before", (done) => done === PROBES);
    const sweep = fullSweep(server);
    let over = false;
    void sweep.finally(() => (over = true));
    const during = await probe(server, "during", () => over);
    const sweepMs = await sweep;
    const usual = quantile(before, 0.5);
    const block = (during.at(-1) ?? 0) - usual;
    return [
      {
        name: "repair.fullSweep",
        value: Math.round(sweepMs) / 1_000,
        unit: "s",
        target: `<= ${String(SWEEP_S_MAX)}`,
        ok: sweepMs <= SWEEP_S_MAX * 1_000,
        note: `${SERVICES.toLocaleString("en-US")} Services, their IPAddresses, rows and bitmaps of ${RANGES.toLocaleString("en-US")} ranges`,
      },
      {
        name: "repair.longestBlock",
        value: Math.round(block),
        unit: "ms",
        target: `<= ${String(BLOCK_MS_MAX)}`,
        ok: block <= BLOCK_MS_MAX,
        note:
          `slowest of ${String(during.length)} creates, one after the other, during the sweep, less the median without it (${usual.toFixed(0)} ms, ` +
          `slowest ${(before.at(-1) ?? 0).toFixed(0)} ms); median during it ${quantile(during, 0.5).toFixed(0)} ms`,
      },
      ...cpuRow("repair.healthyPass", healthy, "a minute's cron, all its jobs, when nothing has changed since the last one"),
      ...cpuRow("repair.changedPass", changed, `the same when all ${SERVICES.toLocaleString("en-US")} Services were created since`),
    ];
  });
}

function cpuRow(name: string, value: number | undefined, what: string): BenchRow[] {
  return value === undefined ? [] : [{ name, value: Math.round(value), unit: "ms CPU", note: what }];
}

/** CPU time of the runtime around the next full minute, less that of an idle minute. */
async function cronCpuMs(server: Server): Promise<number | undefined> {
  const idleFrom = cpuMs(server.runtimePid);
  const idleMs = MINUTE_MS - 1_000 - (Date.now() % MINUTE_MS);
  await sleep(idleMs);
  const from = cpuMs(server.runtimePid);
  await sleep(CRON_WINDOW_MS);
  const to = cpuMs(server.runtimePid);
  if (idleFrom === undefined || from === undefined || to === undefined) return undefined;
  return to - from - (idleMs > CRON_WINDOW_MS ? ((from - idleFrom) / idleMs) * CRON_WINDOW_MS : 0);
}

/** Creates Services one after the other until `isOver`; their latencies in milliseconds, sorted. */
async function probe(server: Server, prefix: string, isOver: (done: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver(times.length)) {
    const body = JSON.stringify({ metadata: { name: `${prefix}-${String(times.length)}` }, spec: { ports: [{ port: 80 }] } });
    const startedAt = performance.now();
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${server.url}/api/v1/namespaces/default/services`, { method: "POST", headers, body });
    await answer.arrayBuffer();
    if (answer.status !== 201) throw new Error(`a create was answered with ${String(answer.status)}`);
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b);
}
