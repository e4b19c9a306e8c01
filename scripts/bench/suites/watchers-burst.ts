/** 1,000 clients watch one type while one client changes an object as fast as its answers come. */
import { connect } from "node:net";
import type { Server } from "../../../test/support/server/server";
import { cpuMs } from "../cpu";
import type { BenchRow } from "../row";
import { withServer } from "../started";

const watcherCount = 1_000;
const burstMs = 8_000;
const drainMsMax = 20_000;
const deliveriesMin = 100_000;
const cpuMicrosMax = 12;
const p99MsMax = 100;
const SERVICES = "/api/v1/namespaces/default/services";
const CHANGE = '{"type":"MODIFIED"';
/** A piece of the response's body begins with the first event of a chunk. */
const CHUNK = `\r\n${CHANGE}`;
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

  arrived(change: number, at: number): void {
    this.events++;
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

export function benchWatchersBurst(): Promise<BenchRow[]> {
  return withServer("10.96.0.0/16", async (server) => {
    const path = `${SERVICES}/watched`;
    await send(server, "POST", SERVICES, { metadata: { name: "watched" }, spec: { ports: [{ port: 80 }] } });
    const seen = new Deliveries([]);
    const watchers = await Promise.all(Array.from({ length: watcherCount }, () => watch(server, seen)));
    // Warm: code, connections and buffers.
    await burst(server, path, seen, 1_000);
    const fresh = new Deliveries(seen.sentAt);
    for (const watcher of watchers) watcher.counts(fresh);
    const cpuBefore = cpuMs(server.runtimePid);
    const startedAt = performance.now();
    const changes = await burst(server, path, fresh, burstMs);
    const cpuAfter = cpuMs(server.runtimePid);
    const seconds = (fresh.lastAt - startedAt) / 1000;
    for (const watcher of watchers) watcher.close();
    const rate = fresh.events / seconds;
    const p99 = fresh.latencyMs(0.99);
    const rows: BenchRow[] = [
      {
        name: "watchers-burst.deliveries",
        value: Math.round(rate),
        unit: "events/s",
        target: `>= ${String(deliveriesMin)}`,
        ok: rate >= deliveriesMin,
        note: `${String(watcherCount)} watchers, one client changed one Service ${String(changes)} times, each after the answer to the last`,
      },
      { name: "watchers-burst.deliveryP50", value: fresh.latencyMs(0.5), unit: "ms" },
      { name: "watchers-burst.deliveryP99", value: p99, unit: "ms", target: `<= ${String(p99MsMax)}`, ok: p99 <= p99MsMax },
      { name: "watchers-burst.eventsPerChunk", value: round(fresh.events / fresh.chunks), unit: "events" },
    ];
    if (cpuBefore !== undefined && cpuAfter !== undefined) {
      const micros = (cpuAfter - cpuBefore) * 1000;
      const each = micros / fresh.events;
      rows.push({ name: "watchers-burst.cpuPerChunk", value: round(micros / fresh.chunks), unit: "µs" });
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

interface Watching {
  counts(seen: Deliveries): void;
  close(): void;
}

/** One watch on a connection of its own, when its first event is there. */
function watch(server: Server, first: Deliveries): Promise<Watching> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    let seen = first;
    let change = 0;
    let tail = "";
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.on("error", reject);
    socket.on("data", (piece) => {
      const now = performance.now();
      const text = tail + piece.toString("latin1");
      for (let at = text.indexOf(CHANGE); at >= 0; at = text.indexOf(CHANGE, at + 1)) {
        seen.arrived(change++, now);
        if (text.startsWith("\r\n", at - 2)) seen.chunks++;
      }
      tail = text.slice(-(CHUNK.length - 1));
      const begun = tail.indexOf(CHANGE);
      if (begun >= 0) tail = tail.slice(begun + 1);
    });
    socket.once("data", () =>
      resolve({
        counts: (next) => (seen = next),
        close: () => socket.destroy(),
      }),
    );
    socket.write(`GET ${SERVICES}?watch=true HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  });
}

/** Changes the Service for this time, then waits until every watcher has every change; answers the number of changes. */
async function burst(server: Server, path: string, seen: Deliveries, durationMs: number): Promise<number> {
  const before = seen.sentAt.length;
  for (const until = performance.now() + durationMs; performance.now() < until;) {
    const change = seen.sentAt.push(performance.now());
    await send(server, "PATCH", path, { metadata: { annotations: { pad: `${String(change)} `.padEnd(100, "x") } } });
  }
  const changes = seen.sentAt.length - before;
  const deadline = performance.now() + drainMsMax;
  while (seen.events < changes * watcherCount) {
    if (performance.now() > deadline) throw new Error(`${String(changes * watcherCount - seen.events)} events were not delivered`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return changes;
}

async function send(server: Server, method: string, path: string, body: unknown): Promise<void> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const answer = await fetch(`${server.url}${path}`, { method, headers: { "Content-Type": type }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  await answer.arrayBuffer();
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
