/** 1,000 clients watch one type while an object changes. Then one client stops reading while the others go on. */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../../../../test/support/server/server";
import { growthDuring, residentMiB } from "../memory";
import { atMost, quantile, round } from "../figures";
import type { BenchRow } from "../row";
import { targetOf, withServer } from "../started";
import { WatchedService } from "../watched-service";

const watcherCount = 1_000;
const changes = 10;
const deliveryMsMax = 300;
const residentMiBMax = 256;
/** Clients beside the stalled one. Changes of this size fill the buffers of the kernel, then those of the server. */
const besideStalled = 10;
const largeChanges = 200;
const largeChars = 100_000;
const growthMiBMax = 64;
const deliveryMsLimit = 10_000;
const chars = 100;
const SERVICES = "/api/v1/namespaces/default/services";

/** The clients that watch a Service; each change of it is awaited at all of them. */
export class Watchers {
  readonly #waiting = new Map<number, (at: number) => void>();
  #changes = 0;
  #sockets: Socket[] = [];

  private constructor(
    private readonly service: WatchedService,
    private readonly count: number,
  ) {}

  static async open(service: WatchedService, count: number): Promise<Watchers> {
    const watchers = new Watchers(service, count);
    watchers.#sockets = await service.watch(count, (i) => (change, at) => watchers.#arrived(i, change + 1, at));
    return watchers;
  }

  /** Changes the Service and waits until every watcher has the change; milliseconds from the request to each arrival. */
  async change(size: number): Promise<number[]> {
    const wanted = ++this.#changes;
    const arrivals = Array.from({ length: this.count }, (_, i) => new Promise<number>((arrived) => this.#waiting.set(i, arrived)));
    const startedAt = performance.now();
    await this.service.change(wanted, size);
    const late = sleep(deliveryMsLimit, undefined, { ref: false }).then(() => {
      throw new Error(`a change was not delivered to ${String(this.#waiting.size)} watchers`);
    });
    const times = await Promise.race([Promise.all(arrivals), late]);
    return times.map((time) => time - startedAt);
  }

  /** The client takes nothing any more. */
  pause(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #arrived(watcher: number, events: number, at: number): void {
    if (events < this.#changes) return;
    this.#waiting.get(watcher)?.(at);
    this.#waiting.delete(watcher);
  }
}

/** Sorted milliseconds from the request of a change to its event, of every change at every watcher. */
export async function deliveryTimes(service: WatchedService, count: number, body?: () => void): Promise<number[]> {
  const watchers = await Watchers.open(service, count);
  await watchers.change(chars);
  const latencies: number[] = [];
  for (let i = 0; i < changes; i++) latencies.push(...(await watchers.change(chars)));
  body?.();
  watchers.close();
  return latencies.sort((a, b) => a - b);
}

export function benchWatchers(): Promise<BenchRow[]> {
  return withServer("10.96.0.0/16", async (server) => {
    const service = new WatchedService(targetOf(server), SERVICES);
    await service.create();
    let resident: number | undefined;
    const latencies = await deliveryTimes(service, watcherCount, () => (resident = residentMiB(server.runtimePid)));
    const p99 = quantile(latencies, 0.99);
    const what = `${String(watcherCount)} watchers, one Service changed ${String(changes)} times; from the request to the event`;
    const rows: BenchRow[] = [{ name: "watchers.deliveryP50", value: round(quantile(latencies, 0.5)), unit: "ms" }];
    rows.push(atMost("watchers.deliveryP99", p99, "ms", deliveryMsMax, what));
    if (resident !== undefined) rows.push(atMost("watchers.memory", resident, "MiB", residentMiBMax, "resident memory of the server"));
    rows.push(...(await besideAStalledOne(server, service)));
    return rows;
  });
}

async function besideAStalledOne(server: Server, service: WatchedService): Promise<BenchRow[]> {
  const watchers = await Watchers.open(service, besideStalled);
  // Allocates everything that the measured part needs: the growth after that belongs to the stalled watcher.
  const deliver = async () => {
    const latencies: number[] = [];
    for (let i = 0; i < largeChanges; i++) latencies.push(...(await watchers.change(largeChars)));
    return latencies.sort((a, b) => a - b);
  };
  const alone = await deliver();
  const stalled = await Watchers.open(service, 1);
  stalled.pause();
  const { result: beside, growthMiB } = await growthDuring(server.runtimePid, deliver);
  const open = await openWatches(server);
  stalled.close();
  watchers.close();
  const sent = `${String(largeChanges)} changes of ${String(largeChars / 1000)} kB to ${String(besideStalled)} watchers`;
  const rows: BenchRow[] = [
    { name: "watchers.aloneP99", value: round(quantile(alone, 0.99)), unit: "ms", note: sent },
    atMost(
      "watchers.besideStalledP99",
      quantile(beside, 0.99),
      "ms",
      deliveryMsMax,
      `the same with one that does not read; open after: ${open}`,
    ),
  ];
  if (growthMiB !== undefined) rows.push(atMost("watchers.stalledGrowth", growthMiB, "MiB", growthMiBMax, "resident memory of the server"));
  return rows;
}

/** How many watches the services store has open, as /metrics says. */
async function openWatches(server: Server): Promise<string> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return /^servicenet_store_watchers\{[^}]*store="services"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? "?";
}
