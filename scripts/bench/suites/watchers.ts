/** 1,000 clients watch one type while an object changes. Then one client stops reading while the others go on. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../../../test/support/server/server";
import { growthDuring, residentMiB } from "../memory";
import type { BenchRow } from "../row";
import { quantile, withServer } from "../started";

const watcherCount = 1_000;
const changes = 10;
const deliveryMsMax = 300;
const residentMiBMax = 256;
/** Clients beside the stalled one. Changes of this size fill the buffers of the kernel, then those of the server. */
const besideStalled = 10;
const largeChanges = 200;
const largeChars = 100_000;
const growthMiBMax = 64;
const openMsMax = 30_000;
const deliveryMsLimit = 10_000;
const SERVICES = "/api/v1/namespaces/default/services";
const MARK = '{"type":"MODIFIED"';

/** One watch on a connection of its own; `events` counts the changes. */
class Watcher {
  events = 0;
  closed = false;
  #tail = "";
  #waiting: { events: number; arrived: (at: number) => void } | undefined;

  private constructor(readonly socket: Socket) {
    socket.on("close", () => (this.closed = true));
  }

  static open(server: Server): Promise<Watcher> {
    const { hostname, port } = new URL(server.url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      const watcher = new Watcher(socket);
      socket.on("error", reject);
      socket.on("data", (piece) => watcher.#take(piece.toString("latin1")));
      socket.once("data", () => resolve(watcher));
      socket.write(`GET ${SERVICES}?watch=true HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    });
  }

  /** When the given number of changes has arrived. */
  arrival(events: number): Promise<number> {
    if (this.events >= events) return Promise.resolve(performance.now());
    return new Promise((arrived) => (this.#waiting = { events, arrived }));
  }

  #take(piece: string): void {
    const text = this.#tail + piece;
    for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) this.events++;
    this.#tail = text.slice(-(MARK.length - 1));
    if (this.#waiting && this.events >= this.#waiting.events) {
      this.#waiting.arrived(performance.now());
      this.#waiting = undefined;
    }
  }
}

export function benchWatchers(): Promise<BenchRow[]> {
  return withServer("10.96.0.0/16", async (server) => {
    await send(server, "POST", SERVICES, { metadata: { name: "watched" }, spec: { ports: [{ port: 80 }] } });
    const watchers = await openAll(server, watcherCount);
    await change(server, watchers, 1, 100);
    const latencies: number[] = [];
    for (let i = 2; i <= changes + 1; i++) latencies.push(...(await change(server, watchers, i, 100)));
    latencies.sort((a, b) => a - b);
    const resident = residentMiB(server.runtimePid);
    const p99 = quantile(latencies, 0.99);
    for (const { socket } of watchers) socket.destroy();
    const what = `${String(watcherCount)} watchers, one Service changed ${String(changes)} times; from the request to the event`;
    const rows: BenchRow[] = [{ name: "watchers.deliveryP50", value: round(quantile(latencies, 0.5)), unit: "ms" }];
    rows.push(bounded("watchers.deliveryP99", p99, "ms", deliveryMsMax, what));
    if (resident !== undefined) rows.push(bounded("watchers.memory", resident, "MiB", residentMiBMax, "resident memory of the server"));
    rows.push(...(await besideAStalledOne(server)));
    return rows;
  });
}

async function besideAStalledOne(server: Server): Promise<BenchRow[]> {
  const watchers = await openAll(server, besideStalled);
  // Allocates everything that the measured part needs: the growth after that belongs to the stalled watcher.
  let events = 0;
  const round_ = async (rounds: number) => {
    const latencies: number[] = [];
    for (let i = 0; i < rounds; i++) latencies.push(...(await change(server, watchers, ++events, largeChars)));
    return latencies.sort((a, b) => a - b);
  };
  const alone = await round_(largeChanges);
  const [stalled] = await openAll(server, 1);
  stalled?.socket.pause();
  const { result: beside, growthMiB } = await growthDuring(server.runtimePid, () => round_(largeChanges));
  const open = await openWatches(server);
  stalled?.socket.destroy();
  for (const { socket } of watchers) socket.destroy();
  const sent = `${String(largeChanges)} changes of ${String(largeChars / 1000)} kB to ${String(besideStalled)} watchers`;
  const rows: BenchRow[] = [
    { name: "watchers.aloneP99", value: round(quantile(alone, 0.99)), unit: "ms", note: sent },
    bounded(
      "watchers.besideStalledP99",
      quantile(beside, 0.99),
      "ms",
      deliveryMsMax,
      `the same with one that does not read; open after: ${open}`,
    ),
  ];
  if (growthMiB !== undefined)
    rows.push(bounded("watchers.stalledGrowth", growthMiB, "MiB", growthMiBMax, "resident memory of the server"));
  return rows;
}

async function openAll(server: Server, count: number): Promise<Watcher[]> {
  const late = sleep(openMsMax, undefined, { ref: false }).then(() => {
    throw new Error("the watches did not open");
  });
  return Promise.race([Promise.all(Array.from({ length: count }, () => Watcher.open(server))), late]);
}

/** Changes the Service and waits until every watcher has the `events`-th change; milliseconds from the request to each arrival. */
async function change(server: Server, watchers: readonly Watcher[], events: number, chars: number): Promise<number[]> {
  const arrivals = watchers.map((watcher) => watcher.arrival(events));
  const startedAt = performance.now();
  const pad = `${String(events)} `.padEnd(chars, "x");
  await send(server, "PATCH", `${SERVICES}/watched`, { metadata: { annotations: { pad } } });
  const late = sleep(deliveryMsLimit, undefined, { ref: false }).then(() => {
    throw new Error(`a change was not delivered to ${String(watchers.filter((watcher) => watcher.events < events).length)} watchers`);
  });
  const times = await Promise.race([Promise.all(arrivals), late]);
  return times.map((time) => time - startedAt);
}

async function send(server: Server, method: string, path: string, body: unknown): Promise<void> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const answer = await fetch(`${server.url}${path}`, { method, headers: { "Content-Type": type }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** How many watches the services store has open, as /metrics says. */
async function openWatches(server: Server): Promise<string> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return /^servicenet_store_watchers\{[^}]*store="services"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? "?";
}

function bounded(name: string, value: number, unit: string, max: number, note: string): BenchRow {
  return { name, value: round(value), unit, target: `<= ${String(max)}`, ok: value <= max, note };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
