/**
 * The collection of 10,000 identity Leases that have run out, by the cron of the server. Measured are the time from the first part of them to the
 * last, and what a client waits meanwhile.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { send } from "../../../../cluster/send";
import type { ExpiredLeaseLoad } from "../../load-processes/expired-lease-load-process";
import { probedDuring } from "../../probed";
import { atMost } from "../../figures";
import type { BenchRow } from "../../row";
import { until } from "../../service-cidrs";
import { runLoadProcess, targetOf, withServer } from "../../started";

const LEASES = 10_000;
const CONNECTIONS = 100;
const SECONDS_MAX = 30;
const MINUTE_MS = 60_000;
/** Before the next tick: the Leases are to be made when it comes. */
const ROOM_MS = 30_000;
const PROBE_MS = 20;
const COLLECTION = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

interface Slice {
  deleted: number;
  endedMs: number;
  durationMs: number;
}

export function benchLeaseCollection(): Promise<BenchRow[]> {
  const period = ["--var", "APISERVER_LEASE_COLLECT_SECONDS=60"];
  return withServer(
    "10.96.0.0/16",
    async (server) => {
      const target = targetOf(server);
      const kept = { metadata: { name: "kept" }, spec: { holderIdentity: "nobody" } };
      await send(target, "POST", COLLECTION, kept, "application/json");
      const untilTick = MINUTE_MS - (Date.now() % MINUTE_MS);
      if (untilTick < ROOM_MS) await sleep(untilTick);
      const load = { connections: CONNECTIONS, count: LEASES, collection: COLLECTION };
      await runLoadProcess<Omit<ExpiredLeaseLoad, "target">, object>(server, "expired-lease-load-process.ts", load);

      const probes: { atMs: number; tookMs: number }[] = [];
      const slices = () => slicesIn(server.output());
      const collected = until(() => Promise.resolve(sum(slices().map(({ deleted }) => deleted)) >= LEASES));
      await probedDuring(collected, async () => {
        const atMs = Date.now();
        await send(target, "GET", `${COLLECTION}/kept`);
        probes.push({ atMs, tookMs: Date.now() - atMs });
        await sleep(PROBE_MS);
      });
      const left = JSON.parse((await send(target, "GET", COLLECTION)).text) as { items: { metadata: { name: string } }[] };
      const others = left.items.filter(({ metadata }) => metadata.name.startsWith("gone-")).length;
      if (others > 0 || left.items.length !== 1) throw new Error(`${String(left.items.length)} Leases are left`);

      const begunMs = Math.min(...slices().map(({ endedMs, durationMs }) => endedMs - durationMs));
      const seconds = (Math.max(...slices().map(({ endedMs }) => endedMs)) - begunMs) / 1_000;
      const meanwhile = probes.filter(({ atMs, tookMs }) =>
        slices().some(({ endedMs, durationMs }) => atMs <= endedMs && atMs + tookMs >= endedMs - durationMs),
      );
      const note = `${LEASES.toLocaleString("en-US")} identity Leases that have run out, in ${String(slices().length)} slice${slices().length === 1 ? "" : "s"}; all gone, the others left`;
      return [
        atMost("lease-collection.duration", seconds, "s", SECONDS_MAX, note),
        {
          name: "lease-collection.slowestRequest",
          value: Math.max(...meanwhile.map(({ tookMs }) => tookMs)),
          unit: "ms",
          note: `of ${String(meanwhile.length)} reads of a Lease meanwhile`,
        },
      ];
    },
    period,
  );
}

/** As the server logs them. */
function slicesIn(output: string): Slice[] {
  const lines = output.split("\n").filter((line) => line.includes('"event":"collected identity leases"'));
  return lines.map((line) => {
    const { time, deleted, durationMs } = JSON.parse(line) as { time: string; deleted: number; durationMs: number };
    return { deleted, durationMs, endedMs: Date.parse(time) };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
