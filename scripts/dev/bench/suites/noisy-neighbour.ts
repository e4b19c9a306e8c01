/**
 * Two clusters of one server, and two users of one cluster. The clients of one, ten times as many, create Services as fast as they are answered. Measured:
 * the latency of the other one's creates beside them, and alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_CLUSTER } from "../../../../src/tenancy/cluster-id";
import type { TimedLoad, TimedLoadResult } from "../load-processes/overload-load-process";
import { userOf } from "../bench-users";
import { quantile, round } from "../figures";
import type { BenchRow } from "../row";
import { type LoadedServer, runLoadProcess, withServer } from "../started";

const RANGE = "10.0.0.0/8";
const QUIET = 8;
const NOISY = 10 * QUIET;
const WARM_UP_SECONDS = 5;
const SECONDS = 20;
/** the noisy ones begin before and end after */
const AROUND_SECONDS = 2;
const RATIO_MAX = 2;

/** Whose creates are measured, and where they go. */
interface Side {
  server: LoadedServer;
  cluster: string;
}

export async function benchNoisyNeighbour(): Promise<BenchRow[]> {
  const clusters = await withServer(RANGE, (server) =>
    between("noisyNeighbour", "in another cluster", side(server, "quiet"), side(server, "noisy")),
  );
  const users = await withServer(
    RANGE,
    async (server) => {
      const [quiet, noisy] = [await userOf(server, "quiet"), await userOf(server, "noisy")];
      return between("noisyUser", "of another user of the same cluster", side(quiet, DEFAULT_CLUSTER), side(noisy, DEFAULT_CLUSTER));
    },
    [],
    { secure: true },
  );
  return [...clusters, ...users];
}

function side(server: LoadedServer, cluster: string): Side {
  return { server, cluster };
}

/** `who`: whose clients the noisy ones are. */
async function between(name: string, who: string, quiet: Side, noisy: Side): Promise<BenchRow[]> {
  const run = ({ server, cluster }: Side, prefix: string, connections: number, seconds: number) =>
    runLoadProcess<Omit<TimedLoad, "target">, TimedLoadResult>(server, "overload-load-process.ts", {
      cluster,
      prefix,
      connections,
      seconds,
    });
  await run(noisy, "warm-up-noisy", NOISY, WARM_UP_SECONDS);
  await run(quiet, "warm-up-quiet", QUIET, WARM_UP_SECONDS);
  const alone = await run(quiet, "alone", QUIET, SECONDS);
  const [loud, beside] = await Promise.all([
    run(noisy, "noisy", NOISY, SECONDS + 2 * AROUND_SECONDS),
    sleep(AROUND_SECONDS * 1000).then(() => run(quiet, "beside", QUIET, SECONDS)),
  ]);
  const ratio = quantile(beside.latenciesMs, 0.99) / quantile(alone.latenciesMs, 0.99);
  const rows = (of: string, { latenciesMs, refused }: TimedLoadResult): BenchRow[] =>
    [0.5, 0.99].map((q) => ({
      name: `${name}.${of}P${String(q * 100)}`,
      value: round(quantile(latenciesMs, q)),
      unit: "ms",
      note: `${String(latenciesMs.length)} created, ${String(refused.reduce((sum, count) => sum + count, 0))} refused`,
    }));
  return [
    ...rows("quietAlone", alone),
    ...rows("quietBeside", beside),
    ...rows("noisy", loud),
    {
      name: `${name}.ratio`,
      value: round(ratio),
      unit: "x",
      target: `<= ${String(RATIO_MAX)}`,
      ok: ratio <= RATIO_MAX,
      note: `p99 of ${String(QUIET)} clients beside ${String(NOISY)} ${who}, against alone`,
    },
  ];
}
