/** 1,000 clients watch one type while one client changes an object as fast as its answers come. */
import { cpuMs } from "../cpu";
import { round } from "../figures";
import type { BenchRow } from "../row";
import { targetOf, withServer } from "../started";
import { WatchedService } from "../watched-service";

const watcherCount = 1_000;
const burstMs = 8_000;
const warmUpMs = 1_000;
const drainMsMax = 20_000;
const deliveriesMin = 100_000;
const cpuMicrosMax = 12;
const p99MsMax = 100;
const chars = 100;
const SERVICES = "/api/v1/namespaces/default/services";
const LATENCY_MS_MAX = 60_000;

/** The events that all watchers have seen. */
class Deliveries {
  events = 0;
  chunks = 0;
  lastAt = 0;
  /** by whole milliseconds from the request to the event */
  readonly #latencies = new Uint32Array(LATENCY_MS_MAX + 1);

  /** `sentAt`: when the request of each change began */
  constructor(readonly sentAt: number[]) {}

  arrived(change: number, at: number, beginsChunk: boolean): void {
    this.events++;
    if (beginsChunk) this.chunks++;
    this.lastAt = at;
    const latency = Math.min(LATENCY_MS_MAX, Math.round(at - (this.sentAt[change] ?? at)));
    this.#latencies[latency] = (this.#latencies[latency] ?? 0) + 1;
  }

  latencyMs(quantile: number): number {
    let left = Math.ceil(this.events * quantile);
    for (const [latency, count] of this.#latencies.entries()) {
      left -= count;
      if (left <= 0) return latency;
    }
    return LATENCY_MS_MAX;
  }
}

/** A burst of changes at many watchers. */
export interface Burst {
  changes: number;
  /** from the first request to the last event */
  seconds: number;
  seen: Pick<Deliveries, "events" | "chunks" | "latencyMs">;
  /** CPU time in microseconds; undefined where `cpu` says nothing */
  cpuMicros: number | undefined;
}

/**
 * Opens the watches, changes the Service for this time, each time after the answer to the last, and waits until every watcher has every change.
 *
 * @param cpu CPU time of the server so far in milliseconds, if it can be known
 */
export async function measureBurst(
  service: WatchedService,
  { count, durationMs }: { count: number; durationMs: number },
  cpu: () => number | undefined = () => undefined,
): Promise<Burst> {
  const sentAt: number[] = [];
  let seen = new Deliveries(sentAt);
  const sockets = await service.watch(count, () => (change, at, beginsChunk) => seen.arrived(change, at, beginsChunk));
  const ended = (): number => sockets.filter(({ readableEnded, destroyed }) => readableEnded || destroyed).length;
  // Warm: code, connections and buffers.
  await changeFor(service, seen, { count, durationMs: warmUpMs, ended });
  seen = new Deliveries(sentAt);
  const cpuBefore = cpu();
  const startedAt = performance.now();
  const changes = await changeFor(service, seen, { count, durationMs, ended });
  const cpuAfter = cpu();
  for (const socket of sockets) socket.destroy();
  const cpuMicros = cpuBefore === undefined || cpuAfter === undefined ? undefined : (cpuAfter - cpuBefore) * 1000;
  return { changes, seconds: (seen.lastAt - startedAt) / 1000, seen, cpuMicros };
}

/** `ended`: connections of watches that are over. */
interface ChangeLoad {
  count: number;
  durationMs: number;
  ended: () => number;
}

/** Answers the number of changes. */
async function changeFor(service: WatchedService, seen: Deliveries, { count, durationMs, ended }: ChangeLoad): Promise<number> {
  const before = seen.sentAt.length;
  for (const until = performance.now() + durationMs; performance.now() < until;) {
    await service.change(seen.sentAt.push(performance.now()), chars);
  }
  const changes = seen.sentAt.length - before;
  const deadline = performance.now() + drainMsMax;
  while (seen.events < changes * count) {
    if (performance.now() > deadline) {
      const missing = `${String(changes * count - seen.events)} of ${String(changes * count)} events were not delivered`;
      throw new Error(`${missing}; ${String(ended())} of ${String(count)} watches have ended`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return changes;
}

export function benchWatchersBurst(): Promise<BenchRow[]> {
  return withServer("10.96.0.0/16", async (server) => {
    const service = new WatchedService(targetOf(server), SERVICES);
    await service.create();
    const load = { count: watcherCount, durationMs: burstMs };
    const { changes, seconds, seen, cpuMicros } = await measureBurst(service, load, () => cpuMs(server.runtimePid));
    const rate = seen.events / seconds;
    const p99 = seen.latencyMs(0.99);
    const rows: BenchRow[] = [
      {
        name: "watchers-burst.deliveries",
        value: Math.round(rate),
        unit: "events/s",
        target: `>= ${String(deliveriesMin)}`,
        ok: rate >= deliveriesMin,
        note: `${String(watcherCount)} watchers, one client changed one Service ${String(changes)} times, each after the answer to the last`,
      },
      { name: "watchers-burst.deliveryP50", value: seen.latencyMs(0.5), unit: "ms" },
      { name: "watchers-burst.deliveryP99", value: p99, unit: "ms", target: `<= ${String(p99MsMax)}`, ok: p99 <= p99MsMax },
      { name: "watchers-burst.eventsPerChunk", value: round(seen.events / seen.chunks), unit: "events" },
    ];
    if (cpuMicros !== undefined) {
      const each = cpuMicros / seen.events;
      rows.push({ name: "watchers-burst.cpuPerChunk", value: round(cpuMicros / seen.chunks), unit: "µs" });
      rows.push({
        name: "watchers-burst.cpuPerDelivery",
        value: round(each),
        unit: "µs",
        target: `<= ${String(cpuMicrosMax)}`,
        ok: each <= cpuMicrosMax,
        note: "CPU of the runtime, the writer's requests included",
      });
    }
    return rows;
  });
}
