/**
 * 20,000 Pods behind one Service: how soon its EndpointSlices are whole, what a change of one Pod costs, and what a rolling update writes. Next to
 * it the rates of the same Pods without a controller, and what KEP-0752 works out on paper (P = 20,000 endpoints, B = 100 of them in a slice).
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../../../../../test/support/server/server";
import { residentMiB } from "../../memory";
import {
  kib,
  loadPods,
  makeNode,
  NO_CONTROLLERS,
  NODE_IS_A_NAME,
  readyPods,
  serviceOf,
  SERVICES,
  setReady,
  write,
} from "../../pods-behind-service";
import { atMost, quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { withServer } from "../../started";
import { WatchedSlices } from "../../watched-slices";

const PODS = 20_000;
const PER_SLICE = 100;
const APP = "web";
const CHANGES = 50;
/** A rolling update replaces a quarter of the Pods at a time. */
const STEPS = 4;

const COMPLETE_MS_MAX = 1_000;
const STATUS_RATIO_MIN = 0.7;
const VISIBLE_P50_MS_MAX = 50;
const VISIBLE_P99_MS_MAX = 300;
const EVENT_BYTES_MAX = 30_720;
const QUIET_MS = 500;

export async function benchEndpointSlices(): Promise<BenchRow[]> {
  const bare = await withServer(
    "10.96.0.0/16",
    async (server) => ({ ...(await filled(server)), memory: residentMiB(server.runtimePid) }),
    NO_CONTROLLERS,
  );
  return withServer(
    "10.96.0.0/16",
    async (server) => {
      await write(server, "POST", SERVICES, serviceOf(APP, APP));
      const slices = new WatchedSlices(server.url, APP);
      await slices.open();
      const rates = await filled(server);
      const endedAt = performance.now();
      await slices.until(() => slices.ready.size === PODS);
      const completeMs = performance.now() - endedAt;
      const memoryThen = residentMiB(server.runtimePid);
      const made = slices.slices.length;
      const writes = slices.takeWrites();
      const rows: BenchRow[] = [
        {
          name: "endpoint-slices.podRate",
          value: Math.round(rates.create),
          unit: "/s",
          note: `${Math.round(bare.create).toLocaleString("en-US")}/s without a controller`,
        },
        ratioRow("endpoint-slices.statusRatio", rates.status / bare.status, STATUS_RATIO_MIN, rates.status, bare.status),
        atMost("endpoint-slices.complete", completeMs, "ms", COMPLETE_MS_MAX, `after the last of ${String(PODS)} statuses`),
        {
          name: "endpoint-slices.slices",
          value: made,
          unit: "slices",
          target: `${String(PODS / PER_SLICE)}`,
          ok: made === PODS / PER_SLICE,
          note: `${String(writes.added)} creates and ${String(writes.modified)} updates meanwhile, ${kib(writes.bytes)} for one watcher`,
        },
      ];
      rows.push(...(await singleChanges(server, slices)));
      rows.push(...(await rollingUpdate(server, slices)));
      rows.push(...(await secondService(server)));
      if (bare.memory !== undefined && memoryThen !== undefined)
        rows.push({
          name: "endpoint-slices.memoryMore",
          value: Math.round(memoryThen - bare.memory),
          unit: "MiB",
          note: `resident after the statuses: ${memoryThen.toFixed(0)} MiB, without a controller ${bare.memory.toFixed(0)}; with the stores of slices and Endpoints, and garbage`,
        });
      const memory = residentMiB(server.runtimePid);
      if (memory !== undefined)
        rows.push({
          name: "endpoint-slices.memory",
          value: Math.round(memory),
          unit: "MiB",
          note: "resident, of the whole runtime at the end",
        });
      slices.close();
      return rows;
    },
    NODE_IS_A_NAME,
  );
}

/** Makes the Node and the Pods, and says that they are ready; answers writes per second. */
async function filled(server: Server): Promise<{ create: number; status: number }> {
  await makeNode(server);
  return readyPods(server, { from: 0, count: PODS, app: APP });
}

/** One Pod after the other loses its readiness. */
async function singleChanges(server: Server, slices: WatchedSlices): Promise<BenchRow[]> {
  await slices.quiet(QUIET_MS);
  const visibleMs: number[] = [];
  let writesMax = 0;
  let largest = { bytes: 0, gzipped: 0 };
  for (let change = 0; change < CHANGES; change++) {
    const number = Math.floor((change * PODS) / CHANGES);
    slices.takeWrites();
    const before = slices.ready.size;
    const sentAt = performance.now();
    await setReady(server, number, false);
    await slices.until(() => slices.ready.size < before);
    visibleMs.push(performance.now() - sentAt);
    await sleep(QUIET_MS);
    const { added, modified, deleted, largest: event } = slices.takeWrites();
    writesMax = Math.max(writesMax, added + modified + deleted);
    if (event.bytes > largest.bytes) largest = event;
  }
  visibleMs.sort((a, b) => a - b);
  const note = `${String(CHANGES)} Pods, from the request to the event at a watcher`;
  return [
    atMost("endpoint-slices.visibleP50", quantile(visibleMs, 0.5), "ms", VISIBLE_P50_MS_MAX, note),
    atMost("endpoint-slices.visibleP99", quantile(visibleMs, 0.99), "ms", VISIBLE_P99_MS_MAX, note),
    atMost("endpoint-slices.writesPerChange", writesMax, "writes", 1, "at most, of one Pod"),
    atMost("endpoint-slices.eventBytes", largest.bytes, "bytes", EVENT_BYTES_MAX, `${String(largest.gzipped)} bytes gzipped`),
  ];
}

/** New Pods come and are ready, then as many old ones go, a quarter at a time. */
async function rollingUpdate(server: Server, slices: WatchedSlices): Promise<BenchRow[]> {
  await slices.quiet(QUIET_MS);
  slices.takeWrites();
  const step = PODS / STEPS;
  for (let from = 0; from < PODS; from += step) {
    await loadPods(server, { verb: "create", from: PODS + from, count: step, app: APP });
    await loadPods(server, { verb: "status", from: PODS + from, count: step, app: APP });
    await loadPods(server, { verb: "delete", from, count: step, app: APP });
  }
  await slices.until(() => slices.ready.size === PODS);
  await slices.quiet(QUIET_MS);
  const { added, modified, deleted, bytes } = slices.takeWrites();
  const analyticBytes = PODS * 10_240;
  return [
    {
      ...atMost("endpoint-slices.rollingWrites", added + modified + deleted, "writes", PODS, "the KEP's value: one write for each Pod"),
      note: `${String(added)} creates, ${String(modified)} updates, ${String(deleted)} deletes; the KEP's value: ${String(PODS)}`,
    },
    {
      ...atMost("endpoint-slices.rollingBytes", bytes / 2 ** 20, "MiB", analyticBytes / 2 ** 20, ""),
      note: `for one watcher; the KEP's value: ${String(PODS)} times 10 KB, and as often as there are nodes`,
    },
  ];
}

/** The Pods first, then the Service. */
async function secondService(server: Server): Promise<BenchRow[]> {
  const slices = new WatchedSlices(server.url, "second");
  await slices.open();
  const sentAt = performance.now();
  await write(server, "POST", SERVICES, serviceOf("second", APP));
  await slices.until(() => slices.ready.size === PODS);
  const ms = performance.now() - sentAt;
  await slices.quiet(QUIET_MS);
  const { added, modified, deleted } = slices.takeWrites();
  slices.close();
  const wanted = PODS / PER_SLICE;
  return [
    {
      name: "endpoint-slices.podsFirst",
      value: added,
      unit: "creates",
      target: `${String(wanted)} creates, nothing else`,
      ok: added === wanted && modified + deleted === 0,
      note: `${String(modified)} updates, ${String(deleted)} deletes; whole after ${String(Math.round(ms))} ms`,
    },
  ];
}

function ratioRow(name: string, ratio: number, min: number, rate: number, bare: number): BenchRow {
  const note = `${Math.round(rate).toLocaleString("en-US")}/s against ${Math.round(bare).toLocaleString("en-US")}/s without a controller`;
  return { name, value: Math.round(ratio * 100) / 100, unit: "x", target: `>= ${String(min)}`, ok: ratio >= min, note };
}
