/**
 * Overload: five times the clients that the server has room for, each honouring Retry-After, and three times the arrivals. Measured: the goodput against
 * the best rate, the latency of accepted requests, the memory meanwhile, and the time until all is as before.
 */
import { growthDuring } from "../memory";
import type { TimedLoad, TimedLoadResult } from "../load-processes/overload-load-process";
import { quantile } from "../figures";
import type { BenchRow } from "../row";
import { runLoadProcess, withServer } from "../started";

const RANGE = "10.0.0.0/8";
const CONNECTIONS = 100;
const MANY = 5 * CONNECTIONS;
/** enough for requests under way, requests being refused, and requests that the runtime has not begun */
const OPEN_CONNECTIONS = 4_000;
const OPEN_FACTOR = 3;
const WARM_UP_SECONDS = 5;
const BEST_SECONDS = 20;
const SECONDS = 60;
const RECOVERY_SECONDS = 10;
/** of the best rate */
const RECOVERED = 0.8;
/** the seconds in which a load begins and ends are not whole */
const whole = (counts: readonly number[], seconds: number) => counts.slice(1, seconds - 1);

const MANY_MIN = 0.8;
const OPEN_MIN = 0.6;
const RECOVERY_SECONDS_MAX = 5;
const WAIT_MS_MAX = 1_000;
const GROWTH_MIB_MAX = 512;

export function benchOverload(): Promise<BenchRow[]> {
  return withServer(RANGE, async (server) => {
    const run = (prefix: string, load: Pick<TimedLoad, "connections" | "seconds" | "arrivalsPerSecond">) =>
      runLoadProcess<Omit<TimedLoad, "target">, TimedLoadResult>(server, "overload-load-process.ts", {
        cluster: "default",
        prefix,
        ...load,
      });
    await run("warm-up", { connections: CONNECTIONS, seconds: WARM_UP_SECONDS });
    const best = rateOf(await run("best", { connections: CONNECTIONS, seconds: BEST_SECONDS }), BEST_SECONDS);
    const many = await growthDuring(server.runtimePid, () => run("many", { connections: MANY, seconds: SECONDS }));
    const arrivals = Math.round(OPEN_FACTOR * best);
    const open = await growthDuring(server.runtimePid, () =>
      run("open", { connections: OPEN_CONNECTIONS, seconds: SECONDS, arrivalsPerSecond: arrivals }),
    );
    const after = await run("after", { connections: CONNECTIONS, seconds: RECOVERY_SECONDS });
    const recovered = after.created.findIndex((created) => created >= RECOVERED * best);
    const recoveredSeconds = recovered < 0 ? RECOVERY_SECONDS : recovered + 1;
    return [
      {
        name: "overload.best",
        value: Math.round(best),
        unit: "services/s",
        note: `${String(CONNECTIONS)} clients, ${String(BEST_SECONDS)} s`,
      },
      ...rows("manyClients", many, best, MANY_MIN, `${String(MANY)} clients that honour Retry-After, ${String(SECONDS)} s`),
      ...rows(
        "openArrivals",
        open,
        best,
        OPEN_MIN,
        `${String(arrivals)} arrivals/s, ${String(SECONDS)} s; ${String(open.result.unsent)} not sent`,
      ),
      {
        name: "overload.recovery",
        value: recoveredSeconds,
        unit: "s",
        target: `<= ${String(RECOVERY_SECONDS_MAX)}`,
        ok: recovered >= 0 && recoveredSeconds <= RECOVERY_SECONDS_MAX,
        note: `after the open arrivals: the first second with ${String(RECOVERED * 100)} % of the best rate; ${String(sum(after.refused))} refused`,
      },
    ];
  });
}

interface Measured {
  result: TimedLoadResult;
  growthMiB: number | undefined;
}

function rows(what: string, { result, growthMiB }: Measured, best: number, min: number, note: string): BenchRow[] {
  const ratio = rateOf(result, SECONDS) / best;
  const p99 = quantile(result.latenciesMs, 0.99);
  const found: BenchRow[] = [
    {
      name: `overload.${what}Goodput`,
      value: Math.round(ratio * 100),
      unit: "% of the best",
      target: `>= ${String(min * 100)}`,
      ok: ratio >= min,
      note: `${note}; ${String(sum(result.refused))} refused, ${String(result.cut)} connections lost`,
    },
    {
      name: `overload.${what}P99`,
      value: Math.round(p99),
      unit: "ms",
      target: `<= ${String(WAIT_MS_MAX)}`,
      ok: p99 <= WAIT_MS_MAX,
      note: "of the created ones",
    },
  ];
  if (growthMiB !== undefined) {
    const target = `<= ${String(GROWTH_MIB_MAX)}`;
    found.push({ name: `overload.${what}Memory`, value: Math.round(growthMiB), unit: "MiB more", target, ok: growthMiB <= GROWTH_MIB_MAX });
  }
  return found;
}

/** Created Services per second, over the whole seconds. */
function rateOf({ created }: TimedLoadResult, seconds: number): number {
  const counted = whole(created, seconds);
  return sum(counted) / counted.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
