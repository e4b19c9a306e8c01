/**
 * Two clusters of one server. The clients of one, ten times as many, create Services as fast as they are answered. Measured: the latency of the other
 * cluster's creates beside them, and alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { TimedLoad, TimedLoadResult } from "../load-processes/overload-load-process";
import type { BenchRow } from "../row";
import { quantile, runLoadProcess, withServer } from "../started";

const RANGE = "10.0.0.0/8";
const QUIET = 8;
const NOISY = 10 * QUIET;
const WARM_UP_SECONDS = 5;
const SECONDS = 20;
/** the noisy ones begin before and end after */
const AROUND_SECONDS = 2;
const RATIO_MAX = 2;

export function benchNoisyNeighbour(): Promise<BenchRow[]> {
  return withServer(RANGE, async (server) => {
    const run = (cluster: string, prefix: string, connections: number, seconds: number) =>
      runLoadProcess<Omit<TimedLoad, "target">, TimedLoadResult>(server, "overload-load-process.ts", {
        cluster,
        prefix,
        connections,
        seconds,
      });
    await run("noisy", "warm-up", NOISY, WARM_UP_SECONDS);
    await run("quiet", "warm-up", QUIET, WARM_UP_SECONDS);
    const alone = await run("quiet", "alone", QUIET, SECONDS);
    const [noisy, beside] = await Promise.all([
      run("noisy", "noisy", NOISY, SECONDS + 2 * AROUND_SECONDS),
      sleep(AROUND_SECONDS * 1000).then(() => run("quiet", "beside", QUIET, SECONDS)),
    ]);
    const ratio = quantile(beside.latenciesMs, 0.99) / quantile(alone.latenciesMs, 0.99);
    const rows = (name: string, { latenciesMs, refused }: TimedLoadResult): BenchRow[] =>
      [0.5, 0.99].map((q) => ({
        name: `noisyNeighbour.${name}P${String(q * 100)}`,
        value: round(quantile(latenciesMs, q)),
        unit: "ms",
        note: `${String(latenciesMs.length)} created, ${String(refused.reduce((sum, count) => sum + count, 0))} refused`,
      }));
    return [
      ...rows("quietAlone", alone),
      ...rows("quietBeside", beside),
      ...rows("noisy", noisy),
      {
        name: "noisyNeighbour.ratio",
        value: round(ratio),
        unit: "x",
        target: `<= ${String(RATIO_MAX)}`,
        ok: ratio <= RATIO_MAX,
        note: `p99 of ${String(QUIET)} clients beside ${String(NOISY)} in another cluster, against alone`,
      },
    ];
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
