/**
 * The service levels of KEP-1965, over ten minutes with restarts of the server. The number of identity Leases that have not run out is the number of
 * instances, and none is older than two intervals. They hold for clusters with traffic: each is asked every second, as everywhere else nothing is
 * renewed.
 *
 * There is one instance, and it keeps its host name. So the count shows that a restart takes its own Lease back. It does not show that the Lease of an
 * instance that is gone goes: that takes the Lease's duration and the period of collection (test/e2e/slow/cluster/identity-restarts.test.ts).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { removeFolder, type Server, startServer, temporaryFolder } from "../../../../../test/support/server/server";
import { parseTime } from "../../../../../src/api/meta/time";
import { servingInstances } from "../../../../../src/leases/identity/serving-instances";
import { send } from "../../../../cluster/send";
import { quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { targetOf } from "../../started";

const MINUTES = 10;
const CLUSTERS = ["default", "blue", "green"];
const SAMPLE_MS = 1_000;
const RESTART_MS = 200_000;
const RENEW_SECONDS = 10;
const SHARE_MIN = 0.95;
const TIMEOUT_MS = 10_000;

interface Sample {
  living: number;
  /** of the oldest */
  ageSeconds: number;
}

export async function benchIdentitySlo({ minutes = MINUTES }: { minutes?: number | undefined }): Promise<BenchRow[]> {
  const folder = temporaryFolder();
  const args = ["--var", "HOST_NAME=node-1"];
  const samples: Sample[] = [];
  let [server, restarts, unanswered] = [await startServer(folder, args), 0, 0];
  const killed = (): void => void server.kill();
  process.once("exit", killed);
  try {
    for (const cluster of CLUSTERS) await send(targetOf(server), "PUT", `/clusters/${cluster}`);
    const startedAt = performance.now();
    const elapsed = (): number => performance.now() - startedAt;
    // The first renewals stand behind the first answers.
    for (const cluster of CLUSTERS) await sampled(server, cluster);
    for (let i = 1; i * SAMPLE_MS < minutes * 60_000; i++) {
      await sleep(Math.max(0, i * SAMPLE_MS - elapsed()));
      if (elapsed() >= (restarts + 1) * RESTART_MS) {
        const before = elapsed();
        // By turns a crash and an orderly end.
        await (restarts++ % 2 === 0 ? server.kill() : server.stop());
        server = await startServer(folder, [...args, "--port", new URL(server.url).port]);
        const missed = Math.floor((elapsed() - before) / SAMPLE_MS);
        i += missed;
        unanswered += missed * CLUSTERS.length;
      }
      samples.push(...(await Promise.all(CLUSTERS.map((cluster) => sampled(server, cluster)))));
    }
  } finally {
    process.off("exit", killed);
    await server.kill();
    removeFolder(folder);
  }
  const what = `${samples.length.toLocaleString("en-US")} samples of ${String(CLUSTERS.length)} clusters with traffic, ${String(restarts)} restarts; ${String(unanswered)} more were due while no server ran`;
  const ages = samples.map(({ ageSeconds }) => ageSeconds).sort((a, b) => a - b);
  return [
    share(
      "identity-slo.count",
      samples,
      ({ living }) => living === 1,
      `Leases that have not run out = instances, of one instance with one host name; ${what}`,
    ),
    share(
      "identity-slo.age",
      samples,
      ({ ageSeconds }) => ageSeconds <= 2 * RENEW_SECONDS,
      `no Lease older than two intervals of ${String(RENEW_SECONDS)} s; p50 ${quantile(ages, 0.5).toFixed(1)} s, p95 ${quantile(ages, 0.95).toFixed(1)} s, oldest ${(ages.at(-1) ?? NaN).toFixed(1)} s`,
    ),
  ];
}

async function sampled(server: Server, cluster: string): Promise<Sample> {
  const fetchHere = (path: string, init: { signal: AbortSignal }) => fetch(`${server.url}/clusters/${cluster}${path}`, init);
  const nowMs = Date.now();
  const { living } = await servingInstances(fetchHere, nowMs, AbortSignal.timeout(TIMEOUT_MS));
  const renewed = living.map(({ spec }) => parseTime(spec?.renewTime) ?? 0);
  return { living: living.length, ageSeconds: (nowMs - Math.min(...renewed)) / 1_000 };
}

function share(name: string, samples: readonly Sample[], holds: (sample: Sample) => boolean, note: string): BenchRow {
  const found = samples.filter(holds).length / samples.length;
  return { name, value: Math.round(found * 1_000) / 10, unit: "%", target: `>= ${String(SHARE_MIN * 100)}`, ok: found >= SHARE_MIN, note };
}
