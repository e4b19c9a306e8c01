/**
 * Clusters: how many a second are made whole, by `PUT /clusters/{name}` and by the controller for objects that are there, and lists of
 * 1,000 objects while it does. 10,000 whole clusters would be 100,000 files, so their list is judged by a tenth: a list costs what its objects cost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../../../../test/support/server/server";
import { cpuMs } from "../cpu";
import { writtenToDisk } from "../disk-writes";
import { atMost, median, round } from "../figures";
import { writesPerSecond } from "../json-writes";
import { readList } from "../read-list";
import type { BenchRow } from "../row";
import { targetOf, withServer } from "../started";

const PUTS = 60;
const TOGETHER = 16;
const OBJECTS = 1_000;
/** Few: the controller's work is in front of theirs, and none is to wait for half a minute. */
const CREATED_TOGETHER = 8;
const LISTS = 5;
const RATE_MIN = 10;
/** A tenth of what a list of 10,000 may take. */
const LIST_MS_MAX = 100;
/** For so long the controller's rate is measured. */
const MADE_MS = 20_000;
const COLLECTION = "/apis/servicenet.dev/v1alpha1/clusters";
const JSON_TYPE = "application/json";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

export function benchClusters(): Promise<BenchRow[]> {
  return withServer("10.0.0.0/16", async (server) => {
    const put = await putRate(server);
    const created = await createObjects(server);
    const before = await activeOf(server);
    const begunAt = performance.now();
    const times: Record<string, number[]> = { [JSON_TYPE]: [], [TABLE]: [] };
    for (let i = 0; i < LISTS; i++) {
      for (const [accept, found] of Object.entries(times)) found.push((await readList(targetOf(server), COLLECTION, accept)).ms);
    }
    await sleep(Math.max(0, MADE_MS - (performance.now() - begunAt)));
    const made = ((await activeOf(server)) - before) / ((performance.now() - begunAt) / 1_000);
    return [
      atLeast("clusters.put", put.rate, `whole clusters by PUT, ${String(TOGETHER)} at once${put.cost}`),
      atLeast("clusters.made", made, `by their controller, of ${String(OBJECTS)} objects, while they are listed`),
      { name: "clusters.created", value: Math.round(created), unit: "/s", note: "objects, before their clusters are there" },
      atMost("clusters.list", median(times[JSON_TYPE] ?? []), "ms", LIST_MS_MAX, `${String(OBJECTS)} objects, to the last byte`),
      atMost("clusters.table", median(times[TABLE] ?? []), "ms", LIST_MS_MAX, "the same as kubectl asks for them"),
    ];
  });
}

function atLeast(name: string, rate: number, note: string): BenchRow {
  return { name, value: round(rate, 1), unit: "/s", target: `>= ${String(RATE_MIN)}`, ok: rate >= RATE_MIN, note };
}

/** `cost`: CPU of the runtime, and what is written to disk for each, where the machine tells. */
async function putRate(server: Server): Promise<{ rate: number; cost: string }> {
  const before = [cpuMs(server.runtimePid) ?? NaN, writtenToDisk(server.runtimePid) ?? NaN] as const;
  const rate = await writesPerSecond(server, { method: "PUT", count: PUTS, connections: TOGETHER, code: 201 }, (i) => [
    `/clusters/put-${String(i)}`,
    {},
  ]);
  const cpu = ((cpuMs(server.runtimePid) ?? NaN) - before[0]) / PUTS;
  const kibibytes = ((writtenToDisk(server.runtimePid) ?? NaN) - before[1]) / PUTS / 1024;
  return {
    rate,
    cost: Number.isNaN(cpu + kibibytes) ? "" : `: ${cpu.toFixed(0)} ms of CPU and ${kibibytes.toFixed(0)} KiB on disk for each`,
  };
}

/** Objects a second. */
function createObjects(server: Server): Promise<number> {
  const load = { method: "POST", count: OBJECTS, connections: CREATED_TOGETHER, code: 201 };
  return writesPerSecond(server, load, (i) => [COLLECTION, { metadata: { name: `object-${String(i)}` } }]);
}

async function activeOf(server: Server): Promise<number> {
  const path = `${COLLECTION}?fieldSelector=status.phase%3DActive`;
  const { body } = await readList(targetOf(server), path, JSON_TYPE);
  return (JSON.parse(body.toString()) as { items: unknown[] }).items.length;
}
