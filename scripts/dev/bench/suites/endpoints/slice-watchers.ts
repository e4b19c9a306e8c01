/**
 * Watchers of EndpointSlices as kube-proxy watches them. Measured is how soon 1,000 of them have the event of one slice. Is one cut off while all
 * slices of a large Service change? Does one that was away come back without a new list?
 */
import { setTimeout as sleep } from "node:timers/promises";
import { linesOf } from "../../../../../src/api/client/body-lines";
import { getJson, type Server } from "../../../../../test/support/server/server";
import {
  kib,
  loadPods,
  makeNode,
  NODE,
  NODE_IS_A_NAME,
  PODS,
  readyPods,
  serviceOf,
  SERVICES,
  SLICES,
  write,
} from "../../pods-behind-service";
import { atMost, quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { targetOf, withServer } from "../../started";
import { WatchedSlices } from "../../watched-slices";
import { closeAll, haveEvents, quiet, watchersOf } from "../../watchers-of";

const POD_COUNT = 20_000;
const APP = "web";

const WATCHERS = 1_000;
const CHANGES = 10;
const SLICE_ENDPOINTS = 100;
const EVENT_BYTES = 30_720;
const DELIVERY_MS_MAX = 300;
const WAIT_MS_MAX = 120_000;

const WATCHERS_OF_ALL = 100;
const QUIET_MS = 1_000;

const AWAY_MS = 60_000;
/** No factor of the number of Pods, and far from one: neighbours of a change are in other slices. */
const STRIDE = 7_919;

/** As kube-proxy asks. */
const SELECTOR = "labelSelector=%21service.kubernetes.io%2Fheadless";

export async function benchSliceWatchers(): Promise<BenchRow[]> {
  const rows = await withServer("10.96.0.0/16", fanOut, NODE_IS_A_NAME);
  rows.push(...(await withServer("10.96.0.0/16", ofOneLargeService, NODE_IS_A_NAME)));
  return rows;
}

/** One slice of 30 KB changes; with kube-proxy's label selector and without. */
async function fanOut(server: Server): Promise<BenchRow[]> {
  const padding = EVENT_BYTES - JSON.stringify(handMade("")).length - EVENT_REST;
  await write(server, "POST", SLICES, handMade("x".repeat(padding)));
  const rows: BenchRow[] = [];
  for (const [name, query] of [["fanOut", `&${SELECTOR}`] as const, ["fanOutAll", ""] as const]) {
    const path = `${SLICES}?watch=true&resourceVersion=${await revisionOf(server, SLICES)}${query}`;
    const watchers = await watchersOf(targetOf(server), path, WATCHERS);
    const latencies: number[] = [];
    // The first one is not counted: the store makes its bytes for the first time.
    for (let change = 0; change <= CHANGES; change++) {
      const startedAt = performance.now();
      await write(server, "PATCH", `${SLICES}/made-by-hand`, { metadata: { annotations: { change: String(change).padStart(4, "0") } } });
      await haveEvents(watchers, change + 1, WAIT_MS_MAX);
      if (change > 0) latencies.push(...watchers.map(({ lastAt }) => lastAt - startedAt));
    }
    const cut = watchers.filter(({ isOver }) => isOver).length;
    closeAll(watchers);
    latencies.sort((a, b) => a - b);
    const note = `${String(WATCHERS)} watchers ${query === "" ? "of all slices" : "with !service.kubernetes.io/headless"}, a slice of 30 KB changed ${String(CHANGES)} times`;
    rows.push(
      { name: `slice-watchers.${name}P50`, value: Math.round(quantile(latencies, 0.5)), unit: "ms", note: `${String(cut)} cut off` },
      atMost(`slice-watchers.${name}P99`, quantile(latencies, 0.99), "ms", DELIVERY_MS_MAX, note),
    );
  }
  return rows;
}

/** What the server adds to a slice, and the event around it. */
const EVENT_REST = 700;

function handMade(padding: string): object {
  return {
    metadata: { name: "made-by-hand", labels: { "kubernetes.io/service-name": "by-hand" }, annotations: { change: "none", padding } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints: Array.from({ length: SLICE_ENDPOINTS }, (_, i) => ({
      addresses: [`10.1.0.${String(i + 1)}`],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: NODE,
      zone: "zone-a",
      targetRef: {
        kind: "Pod",
        namespace: "default",
        name: `pod-${String(i)}`,
        uid: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
      },
    })),
  };
}

async function ofOneLargeService(server: Server): Promise<BenchRow[]> {
  await makeNode(server);
  await readyPods(server, { from: 0, count: POD_COUNT, app: APP });
  const slices = new WatchedSlices(server.url, APP);
  await slices.open();
  await write(server, "POST", SERVICES, serviceOf(APP, APP));
  await slices.until(() => slices.ready.size === POD_COUNT);
  await slices.quiet(QUIET_MS);
  const cutOff = await portChange(server, slices);
  slices.close();
  return [cutOff, ...(await away(server))];
}

/** The target port changes: every slice does. */
async function portChange(server: Server, slices: WatchedSlices): Promise<BenchRow> {
  slices.takeWrites();
  const path = `${SLICES}?watch=true&resourceVersion=${await revisionOf(server, SLICES)}&${SELECTOR}`;
  const watchers = await watchersOf(targetOf(server), path, WATCHERS_OF_ALL);
  const startedAt = performance.now();
  await write(server, "PATCH", `${SERVICES}/${APP}`, { spec: { ports: [{ port: 80, targetPort: 9090 }] } });
  await slices.until(() => slices.slices.every(({ ports }) => ports?.[0]?.port === 9090));
  await slices.quiet(QUIET_MS);
  const { added, modified, deleted, bytes } = slices.takeWrites();
  await haveEvents(watchers, added + modified + deleted, WAIT_MS_MAX);
  const cut = watchers.filter(({ events }) => events < added + modified + deleted).length;
  const lastMs = Math.max(...watchers.map(({ lastAt }) => lastAt)) - startedAt;
  closeAll(watchers);
  const note = `of ${String(WATCHERS_OF_ALL)}: ${String(added)} creates, ${String(modified)} updates, ${String(deleted)} deletes, ${kib(bytes)} for each; the last event after ${Math.round(lastMs).toLocaleString("en-US")} ms`;
  return { name: "slice-watchers.cutOff", value: cut, unit: "watchers", target: "0", ok: cut === 0, note };
}

/** Every Pod changes once, spread over a minute and over all slices. Then watchers of slices and of Pods go on from where they were. */
async function away(server: Server): Promise<BenchRow[]> {
  const [fromSlices, fromPods] = [await revisionOf(server, SLICES), await revisionOf(server, PODS)];
  const [beside] = await watchersOf(targetOf(server), `${SLICES}?watch=true&resourceVersion=${fromSlices}`, 1);
  if (!beside) throw new Error("no watcher");
  const startedAt = performance.now();
  const perSecond = POD_COUNT / (AWAY_MS / 1_000);
  await loadPods(server, { verb: "status", from: 0, count: POD_COUNT, app: APP, stride: STRIDE, isReady: false, perSecond });
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  await quiet(beside, QUIET_MS);
  if (beside.isOver) throw new Error("the watcher beside was cut off");
  const [ofSlices, ofPods] = [beside.events, POD_COUNT];
  closeAll([beside]);
  const resumed = [
    await resumption(server, `${SLICES}?watch=true&resourceVersion=${fromSlices}&${SELECTOR}`, ofSlices),
    await resumption(server, `${PODS}?watch=true&resourceVersion=${fromPods}`, ofPods),
  ] as const;
  const row = (name: string, { seen, bytes, ms, refused }: Resumption, wanted: number, note: string): BenchRow => ({
    name: `slice-watchers.${name}`,
    value: seen,
    unit: "events",
    target: `all ${wanted.toLocaleString("en-US")}, no 410`,
    ok: refused === undefined && seen === wanted,
    note: `${refused ?? `${kib(bytes)} in ${Math.round(ms).toLocaleString("en-US")} ms`}; ${note}`,
  });
  const what = `${POD_COUNT.toLocaleString("en-US")} Pods changed in ${String(seconds)} s`;
  return [row("resumedSlices", resumed[0], ofSlices, what), row("resumedPods", resumed[1], ofPods, what)];
}

const REFUSAL_CHARS_MAX = 200;

interface Resumption {
  seen: number;
  bytes: number;
  ms: number;
  /** what the server says instead of changes */
  refused?: string;
}

/** Watches from where the client was, until it has so many events. */
async function resumption(server: Server, path: string, events: number): Promise<Resumption> {
  const end = new AbortController();
  const startedAt = performance.now();
  const answer = await fetch(server.url + path, { signal: end.signal });
  if (!answer.ok || !answer.body) return { seen: 0, bytes: 0, ms: 0, refused: String(answer.status) };
  let seen = 0;
  let bytes = 0;
  const late = sleep(WAIT_MS_MAX, undefined, { signal: end.signal, ref: false }).then(
    () => end.abort(),
    () => undefined,
  );
  try {
    for await (const lines of linesOf(answer.body)) {
      const refused = lines.find((line) => line.startsWith('{"type":"ERROR"'));
      if (refused !== undefined) return { seen, bytes, ms: 0, refused: refused.slice(0, REFUSAL_CHARS_MAX) };
      seen += lines.length;
      for (const line of lines) bytes += line.length + 1;
      if (seen >= events) break;
    }
  } catch (error) {
    return { seen, bytes, ms: 0, refused: `the watch broke: ${String(error)}` };
  } finally {
    end.abort();
    await late;
  }
  return { seen, bytes, ms: performance.now() - startedAt };
}

/** The revision of the whole collection, now. */
async function revisionOf(server: Server, path: string): Promise<string> {
  const { metadata } = await getJson<{ metadata: { resourceVersion: string } }>(`${server.url}${path}?limit=1`);
  return metadata.resourceVersion;
}
