/**
 * 5,000 Services of 4 Pods that the controllers of endpoints meet all at once: the first time, when cron wakes them, and after their storage is gone.
 * Meanwhile one more Pod loses and regains its readiness; how long its slice takes to say so is the delay of a live change.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeFolder, type Server, temporaryFolder } from "../../../../../test/support/server/server";
import { cpuMs } from "../../cpu";
import {
  loadPods,
  makeNode,
  NO_CONTROLLERS,
  NODE_IS_A_NAME,
  readyPods,
  serviceOf,
  SERVICES,
  setReady,
  SLICES,
  write,
} from "../../pods-behind-service";
import { atMost, quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { targetOf, withServerOn, writeServices } from "../../started";
import { WatchedSlices } from "../../watched-slices";
import { closeAll, quiet, watchersOf } from "../../watchers-of";

const SERVICE_COUNT = 5_000;
const PODS_EACH = 4;
const CONNECTIONS = 100;
const LIVE = "live";
/** Behind those of the Services. */
const LIVE_POD = SERVICE_COUNT * PODS_EACH;
const RANGE = ["--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/16", ...NODE_IS_A_NAME];

const RESYNC_MS_MAX = 20_000;
const LIVE_MS_MAX = 1_000;
const LIVE_PAUSE_MS = 100;
const WAIT_MS_MAX = 180_000;
const QUIET_MS = 2_000;
const MINUTE_MS = 60_000;
/** Cron's work, and what goes on behind it. */
const TICK_MS = 20_000;

export async function benchEndpointResync(): Promise<BenchRow[]> {
  const folder = temporaryFolder();
  try {
    await withServerOn(folder, RANGE, liveService);
    await withServerOn(folder, [...RANGE, ...NO_CONTROLLERS], fill);
    const rows = await withServerOn(folder, RANGE, firstSync);
    rmSync(join(folder, CONTROLLERS_STATE), { recursive: true });
    rows.push(...(await withServerOn(folder, RANGE, afterWipe)));
    return rows;
  } finally {
    removeFolder(folder);
  }
}

/** Storage of all controllers' objects, those of repair and garbage collection too. */
const CONTROLLERS_STATE = "state/do/servicenet-Controller";

async function liveService(server: Server): Promise<void> {
  await makeNode(server);
  await readyPods(server, { from: LIVE_POD, count: 1, app: LIVE });
  const slices = new WatchedSlices(server.url, LIVE);
  await slices.open();
  await write(server, "POST", SERVICES, serviceOf(LIVE, LIVE));
  await slices.until(() => slices.ready.size === 1);
  slices.close();
}

async function fill(server: Server): Promise<void> {
  await writeServices(server, {
    verb: "create",
    connections: CONNECTIONS,
    count: SERVICE_COUNT,
    collection: SERVICES,
    prefix: "web",
    addressPrefixes: [],
  });
  const pods = { from: 0, count: SERVICE_COUNT * PODS_EACH, app: "web", podsPerApp: PODS_EACH };
  await loadPods(server, { verb: "create", ...pods });
  await loadPods(server, { verb: "status", ...pods });
}

/** Cron tells the controllers of everything at once. */
async function firstSync(server: Server): Promise<BenchRow[]> {
  const live = await LiveChanges.begin(server);
  const [watcher] = await watchersOf(targetOf(server), `${SLICES}?watch=true`, 1);
  if (!watcher) throw new Error("no watcher");
  const isWhole = (): boolean => watcher.events >= SERVICE_COUNT + live.seen;
  await waitFor(() => watcher.events > live.seen, "no slice was made");
  const begunAt = performance.now();
  await waitFor(isWhole, "not every Service has its slice");
  const ms = watcher.lastAt - begunAt;
  const delays = await live.end();
  await quiet(watcher, QUIET_MS);
  const creates = watcher.events - live.seen;
  closeAll([watcher]);
  const tick = await cronTick(server);
  return [
    atMost("endpoint-resync.first", ms, "ms", RESYNC_MS_MAX, `from the first to the last of ${creates.toLocaleString("en-US")} slices`),
    liveRow("endpoint-resync.firstLive", delays),
    ...tick,
  ];
}

/** A full minute in which nothing but the live Pod changes. */
async function cronTick(server: Server): Promise<BenchRow[]> {
  await sleep(MINUTE_MS - (Date.now() % MINUTE_MS));
  const live = await LiveChanges.begin(server);
  const before = cpuMs(server.runtimePid);
  await sleep(TICK_MS);
  const after = cpuMs(server.runtimePid);
  const delays = await live.end();
  const rows = [liveRow("endpoint-resync.cronLive", delays)];
  if (before !== undefined && after !== undefined) {
    const note = `of the runtime in the ${String(TICK_MS / 1_000)} s from a full minute on, ${String(delays.length)} live changes included`;
    rows.push({ name: "endpoint-resync.cronCpu", value: after - before, unit: "ms", note });
  }
  return rows;
}

/** The controllers begin without storage on a cluster that has all its slices. */
async function afterWipe(server: Server): Promise<BenchRow[]> {
  const [watcher] = await watchersOf(targetOf(server), `${SLICES}?watch=true&resourceVersion=0`, 1);
  if (!watcher) throw new Error("no watcher");
  await waitFor(() => watcher.events >= SERVICE_COUNT + 1, "the slices are not there");
  const kept = watcher.events;
  const startedAt = performance.now();
  const live = await LiveChanges.begin(server);
  const looks = await looked(server, SERVICE_COUNT);
  const ms = performance.now() - startedAt;
  const delays = await live.end();
  await quiet(watcher, QUIET_MS);
  const writes = watcher.events - kept - live.seen;
  closeAll([watcher]);
  return [
    { ...atMost("endpoint-resync.wipedWrites", writes, "writes", 0, ""), note: `of slices, in ${looks.toLocaleString("en-US")} looks` },
    atMost("endpoint-resync.wiped", ms, "ms", RESYNC_MS_MAX, "from the first live change until every Service was looked at"),
    liveRow("endpoint-resync.wipedLive", delays),
  ];
}

function liveRow(name: string, delays: readonly number[]): BenchRow {
  const note = `slowest of ${String(delays.length)} changes of another Pod meanwhile (median ${quantile(delays, 0.5).toFixed(0)} ms)`;
  return atMost(name, quantile(delays, 1), "ms", LIVE_MS_MAX, note);
}

/** Waits until the slice controller has looked at so many Services, and answers their number. */
async function looked(server: Server, count: number): Promise<number> {
  const line = /^endpoint_slice_controller_syncs\{[^}]*\} (\d+)$/gm;
  for (const deadline = performance.now() + WAIT_MS_MAX; ;) {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const looks = [...text.matchAll(line)].reduce((sum, [, number]) => sum + Number(number), 0);
    if (looks >= count) return looks;
    if (performance.now() > deadline) throw new Error(`only ${String(looks)} looks`);
    await sleep(100);
  }
}

async function waitFor(condition: () => boolean, otherwise: string): Promise<void> {
  for (const deadline = performance.now() + WAIT_MS_MAX; !condition();) {
    if (performance.now() > deadline) throw new Error(otherwise);
    await sleep(10);
  }
}

/** One Pod that changes again and again, each time after its slice has the change before. */
class LiveChanges {
  /** events of its slice */
  seen = 0;
  readonly #delays: number[] = [];
  readonly #slices: WatchedSlices;
  #isOver = false;
  readonly #work: Promise<void>;

  private constructor(
    private readonly server: Server,
    slices: WatchedSlices,
  ) {
    this.#slices = slices;
    this.#work = this.#change();
    this.#work.catch(() => undefined);
  }

  static async begin(server: Server): Promise<LiveChanges> {
    const slices = new WatchedSlices(server.url, LIVE);
    await slices.open();
    await slices.until(() => slices.ready.size === 1);
    slices.takeWrites();
    return new LiveChanges(server, slices);
  }

  /** Milliseconds from each request to the event, sorted. */
  async end(): Promise<number[]> {
    this.#isOver = true;
    await this.#work;
    this.#slices.close();
    return this.#delays.sort((a, b) => a - b);
  }

  async #change(): Promise<void> {
    for (let ready = 0; !this.#isOver || ready === 1; ready = 1 - ready) {
      const sentAt = performance.now();
      await setReady(this.server, LIVE_POD, ready === 1);
      await this.#slices.until(() => this.#slices.ready.size === ready);
      this.#delays.push(performance.now() - sentAt);
      const { added, modified, deleted } = this.#slices.takeWrites();
      this.seen += added + modified + deleted;
      await sleep(LIVE_PAUSE_MS);
    }
  }
}
