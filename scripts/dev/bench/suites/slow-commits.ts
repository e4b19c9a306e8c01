/**
 * Creates of Services on objects whose commits take 12 ms, as where they go to other machines, against the same objects on this disk alone
 * (test/support/objects/slow-commits-worker.ts): rule 24 of docs/internals/protocol.md.
 */
import { resolve } from "node:path";
import { removeFolder, temporaryFolder } from "../../../../test/support/server/server";
import { freePort } from "../../../../test/support/server/free-port";
import { familyOf } from "../../../../test/support/server/processes";
import { createRuntime, readRuntimeConfig } from "../../../serve/runtime";
import { cpuMs } from "../cpu";
import { atMost, quantile, round } from "../figures";
import type { BenchRow } from "../row";
import { counters, createServices } from "../started";

const COMMIT_MS = 12;
const RANGE = "10.0.0.0/16";
const WARM_UP = 300;
const ALONE = 50;
const CLIENTS = 40;
const CROWD = 100;
const COUNT = 1_000;
const BURSTS = 10;
const RATIO_MIN = 0.8;
const ROWS_RATIO_MAX = 1.1;
/** So long nothing is written any more before the rows behind an answer count as written. */
const QUIET_MS = 3_000;

interface Measured {
  /** of a client that is alone */
  aloneMs: number;
  p50Ms: number;
  p99Ms: number;
  /** Services per second of CLIENTS and of CROWD */
  rate: number;
  crowdRate: number;
  /** per Service, everything that it causes included, of CLIENTS that go on and of as many that begin together */
  rows: number;
  burstRows: number;
  /** Services in one turn of their store, whose creates take two turns each */
  group: number;
  cpuMs: number | undefined;
}

export async function benchSlowCommits(): Promise<BenchRow[]> {
  const quick = await measured(0);
  const slow = await measured(COMMIT_MS);
  const ratio = slow.crowdRate / quick.crowdRate;
  const of = `${String(CLIENTS)} clients`;
  const rows: BenchRow[] = [
    {
      name: "slow-commits.rateRatio",
      value: round(ratio),
      unit: "x",
      target: `>= ${String(RATIO_MIN)}`,
      ok: ratio >= RATIO_MIN,
      note: `${String(CROWD)} clients: ${slow.crowdRate.toFixed(0)} Services/s with commits of ${String(COMMIT_MS)} ms, ${quick.crowdRate.toFixed(0)}/s without`,
    },
    {
      name: "slow-commits.rateRatio40",
      value: round(slow.rate / quick.rate),
      unit: "x",
      note: `${of}: ${slow.rate.toFixed(0)}/s and ${quick.rate.toFixed(0)}/s`,
    },
    atMost(
      "slow-commits.rows",
      slow.rows / slow.burstRows,
      "x",
      ROWS_RATIO_MAX,
      `rows of a create among ${of}: ${slow.rows.toFixed(1)}; of ${String(CLIENTS)} that begin together: ${slow.burstRows.toFixed(1)}; without the wait ${quick.rows.toFixed(1)} and ${quick.burstRows.toFixed(1)}`,
    ),
    {
      name: "slow-commits.group",
      value: round(slow.group),
      unit: "services/turn",
      note: `${of}; without the wait ${quick.group.toFixed(1)}`,
    },
    {
      name: "slow-commits.alone",
      value: round(slow.aloneMs),
      unit: "ms",
      note: `p50 of one client; without the wait ${quick.aloneMs.toFixed(1)}`,
    },
    {
      name: "slow-commits.p50",
      value: round(slow.p50Ms),
      unit: "ms",
      note: `${of}; p99 ${slow.p99Ms.toFixed(0)}; without the wait ${quick.p50Ms.toFixed(0)} and ${quick.p99Ms.toFixed(0)}`,
    },
  ];
  if (slow.cpuMs !== undefined && quick.cpuMs !== undefined)
    rows.push({
      name: "slow-commits.cpu",
      value: round(slow.cpuMs),
      unit: "ms/service",
      note: `of the runtime, ${of}; without the wait ${quick.cpuMs.toFixed(2)}`,
    });
  return rows;
}

async function measured(commitMs: number): Promise<Measured> {
  const folder = temporaryFolder();
  const config = readRuntimeConfig("wrangler.toml", { SERVICE_CLUSTER_IP_RANGE: RANGE });
  const { bindings } = config.worker;
  const worker = { ...config.worker, bindings: { ...bindings, COMMIT_MS: String(commitMs) } };
  const listen = { host: "127.0.0.1", port: await freePort(), allowedHosts: [], dataPath: folder, statePath: folder, secure: undefined };
  const log = { format: "json" as const, isWanted: () => false, onError: () => undefined };
  const main = resolve("test/support/objects/slow-commits-worker.ts");
  const runtime = createRuntime({ ...config, main, worker }, listen, log);
  try {
    return await measureAt(`http://127.0.0.1:${String(await runtime.port)}`);
  } finally {
    await runtime.dispose();
    removeFolder(folder);
  }
}

async function measureAt(url: string): Promise<Measured> {
  // The runtime is the only child so far that is a workerd.
  const runtimes = familyOf(process.pid).filter(({ command }) => command.includes("workerd"));
  const cpu = (): number => runtimes.reduce((sum, { pid }) => sum + (cpuMs(pid) ?? NaN), 0);
  const create = (connections: number, count: number, prefix: string): ReturnType<typeof createServices> =>
    createServices({ url }, { cluster: "default", connections, count, prefix, addressPrefixes: [] });
  await create(CLIENTS, WARM_UP, "warm-up");
  await create(1, WARM_UP / 10, "warm-up-alone");
  const alone = await create(1, ALONE, "alone");

  const rowsBefore = await quietRows(url);
  const cpuBefore = cpu();
  const turnsBefore = await servicesTurns(url);
  const load = await create(CLIENTS, COUNT, "load");
  const turns = (await servicesTurns(url)) - turnsBefore;
  const rowsAfter = await quietRows(url);
  const cpuAfter = cpu();

  for (let i = 0; i < BURSTS; i++) await create(CLIENTS, CLIENTS, `burst-${String(i)}`);
  const rowsOfBursts = (await quietRows(url)) - rowsAfter;
  const crowd = await create(CROWD, COUNT, "crowd");
  return {
    aloneMs: quantile(alone.latenciesMs, 0.5),
    p50Ms: quantile(load.latenciesMs, 0.5),
    p99Ms: quantile(load.latenciesMs, 0.99),
    rate: (COUNT * 1_000) / load.elapsedMs,
    crowdRate: (COUNT * 1_000) / crowd.elapsedMs,
    rows: (rowsAfter - rowsBefore) / COUNT,
    burstRows: rowsOfBursts / (BURSTS * CLIENTS),
    group: (2 * COUNT) / turns,
    cpuMs: runtimes.length > 0 ? (cpuAfter - cpuBefore) / COUNT : undefined,
  };
}

async function servicesTurns(url: string): Promise<number> {
  return (await counters({ url })).get("servicenet_store_drains_total{services}") ?? 0;
}

/** The rows written so far, once nothing more is written. */
async function quietRows(url: string): Promise<number> {
  const written = async (): Promise<number> => {
    const answer = await fetch(`${url}/counted`, { headers: { Connection: "close" } });
    return ((await answer.json()) as { rows: number }).rows;
  };
  for (let rows = await written(); ;) {
    await new Promise((resolved) => setTimeout(resolved, QUIET_MS));
    const now = await written();
    if (now === rows) return rows;
    rows = now;
  }
}
