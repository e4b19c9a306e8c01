/**
 * Heartbeats of 5,000 nodes, one in 10 s from each, beside clients that create Services. Measured are the latency of renewals, whether one is lost
 * and what one costs. So is how many Services are created meanwhile, against as many clients alone.
 */
import type { Server } from "../../../../../test/support/server/server";
import { send } from "../../../../cluster/send";
import { rfc3339Micros } from "../../../../../src/api/meta/time";
import { type Cost, CountedRuntime } from "../../counted-runtime";
import { cpuMs } from "../../cpu";
import { writtenToDisk } from "../../disk-writes";
import type { HeldLease, KubeletLoad, KubeletResult } from "../../load-processes/kubelet-load-process";
import { atMost, quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { createServices, runLoadProcess, targetOf, withServer, writeServices } from "../../started";

const NODES = 5_000;
const INTERVAL_SECONDS = 10;
const PER_SECOND = NODES / INTERVAL_SECONDS;
const MINUTES = 2;
/** Each has two renewals a second: none is closed for its silence, and one that waits keeps few others waiting. */
const KUBELET_CONNECTIONS = 250;
/** Renewals alone before the load: each Lease twice. Before them each once, while the controllers look at the new Nodes. */
const ALONE_SECONDS = 2 * INTERVAL_SECONDS;
const CLIENTS = 100;
const SERVICES = 10_000;
const WARM_UP = 3_000;
const P99_MS_MAX = 250;
const RATIO_MIN = 0.65;
const COLLECTION = "/api/v1/namespaces/default/services";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const COUNTED_RENEWALS = 200;

export async function benchNodeLeases({ minutes = MINUTES }: { minutes?: number | undefined }): Promise<BenchRow[]> {
  const { rows, bytes } = await renewalCost();
  const measured = await withServer("10.0.0.0/12", (server) => beside(server, minutes * 60));
  const note =
    "of one that has a turn for itself and that nobody reads: its object, and once for 256 the state of the store; counted by the platform";
  return [
    ...measured,
    { name: "node-leases.rows", value: Math.round(rows * 100) / 100, unit: "rows/renewal", note },
    { name: "node-leases.bytes", value: Math.round(bytes), unit: "bytes/renewal", note: "of the values in these rows" },
  ];
}

/** The cost of one renewal that has a turn of its store for itself. */
function renewalCost(): Promise<Cost> {
  return CountedRuntime.with(async ({ send, costOf }) => {
    const { metadata } = await send<{ metadata: { uid: string } }>("POST", "/api/v1/nodes", { metadata: { name: "node-1" } });
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: metadata.uid }];
    const spec = { holderIdentity: "node-1", leaseDurationSeconds: 40 };
    let lease = await send<object>("POST", LEASES, { metadata: { name: "node-1", ownerReferences }, spec });
    return costOf(COUNTED_RENEWALS, async () => {
      lease = await send("PUT", `${LEASES}/node-1`, { ...lease, spec: { ...spec, renewTime: rfc3339Micros(Date.now()) } });
    });
  });
}

async function beside(server: Server, seconds: number): Promise<BenchRow[]> {
  const kubelets = (leases?: HeldLease[], forSeconds = 0): Promise<KubeletResult> =>
    runLoadProcess<Omit<KubeletLoad, "target">, KubeletResult>(server, "kubelet-load-process.ts", {
      connections: KUBELET_CONNECTIONS,
      nodes: NODES,
      ...(leases ? { renew: { leases, seconds: forSeconds, intervalSeconds: INTERVAL_SECONDS } } : {}),
    });
  await round(server, "warm-up", WARM_UP);
  // Half as long as the load, with a full minute and its crons in it.
  const aloneRate = await rateWhile(server, "alone", nothingFor((seconds * 1_000) / 2));

  const registered = await kubelets();
  const { leases } = await kubelets(registered.leases, INTERVAL_SECONDS);
  const diskBefore = writtenToDisk(server.runtimePid);
  const cpuBefore = cpuMs(server.runtimePid);
  const quiet = await kubelets(leases, ALONE_SECONDS);
  const [diskAfter, cpuAfter] = [writtenToDisk(server.runtimePid), cpuMs(server.runtimePid)];
  const renewing = kubelets(quiet.leases, seconds);
  const rate = await rateWhile(server, "beside", renewing);
  const { latenciesMs, leases: held } = await renewing;

  const lost = await lostOf(server, held);
  const p99 = quantile(latenciesMs, 0.99);
  const each = `${NODES.toLocaleString("en-US")} Leases, each renewed every ${String(INTERVAL_SECONDS)} s`;
  const measured: BenchRow[] = [
    { name: "node-leases.renewalP50", value: Math.round(quantile(latenciesMs, 0.5) * 10) / 10, unit: "ms" },
    atMost(
      "node-leases.renewalP99",
      p99,
      "ms",
      P99_MS_MAX,
      `${each} (${String(PER_SECOND)}/s) for ${String(seconds)} s beside ${String(CLIENTS)} clients that create Services; since it was due; slowest ${(latenciesMs.at(-1) ?? NaN).toFixed(0)} ms`,
    ),
    {
      name: "node-leases.renewalP99Alone",
      value: Math.round(quantile(quiet.latenciesMs, 0.99) * 10) / 10,
      unit: "ms",
      note: `${String(ALONE_SECONDS)} s before, without the clients`,
    },
    atMost(
      "node-leases.lost",
      lost,
      "renewals",
      0,
      `of ${latenciesMs.length.toLocaleString("en-US")}: Leases whose stored time is not the last acknowledged one`,
    ),
    {
      name: "node-leases.createRatio",
      value: Math.round((rate / aloneRate) * 100) / 100,
      unit: "x",
      target: `>= ${String(RATIO_MIN)}`,
      ok: rate / aloneRate >= RATIO_MIN,
      note: `${rate.toFixed(0)} Services/s beside the renewals, ${aloneRate.toFixed(0)}/s alone, in rounds of ${SERVICES.toLocaleString("en-US")} that are deleted again`,
    },
  ];
  const renewals = quiet.latenciesMs.length;
  if (cpuBefore !== undefined && cpuAfter !== undefined)
    measured.push({
      name: "node-leases.cpu",
      value: Math.round(((cpuAfter - cpuBefore) * 1_000) / renewals),
      unit: "us/renewal",
      note: "CPU of the runtime, without the clients",
    });
  if (diskBefore !== undefined && diskAfter !== undefined && diskAfter > diskBefore)
    measured.push({
      name: "node-leases.disk",
      value: Math.round((diskAfter - diskBefore) / renewals),
      unit: "bytes/renewal",
      note: "to disk, without the clients: whole pages of the log and of the database, renewals of a turn together",
    });
  return measured;
}

const nothingFor = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One round of the benchmark of Services: creates them, then deletes them. Answers how long the creation took, in milliseconds. */
async function round(server: Server, prefix: string, count: number): Promise<number> {
  const load = { connections: CLIENTS, count, prefix, addressPrefixes: [] };
  const { elapsedMs } = await createServices(server, { cluster: "default", ...load });
  await writeServices(server, { verb: "delete", collection: COLLECTION, ...load });
  return elapsedMs;
}

/** Services created per second in the rounds that end before `body` does. */
async function rateWhile(server: Server, prefix: string, body: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = body.finally(() => (isOver = true));
  over.catch(() => undefined);
  let [created, tookMs] = [0, 0];
  for (let i = 0; !isOver; i++) {
    const elapsedMs = await round(server, `${prefix}-${String(i)}`, SERVICES);
    if (isOver && created > 0) break;
    created += SERVICES;
    tookMs += elapsedMs;
  }
  await over;
  return (created * 1_000) / tookMs;
}

/** How many Leases are not as they were acknowledged last. */
async function lostOf(server: Server, held: readonly HeldLease[]): Promise<number> {
  const { text } = await send(targetOf(server), "GET", LEASES);
  const { items } = JSON.parse(text) as { items: { metadata: { name: string }; spec: { renewTime: string } }[] };
  const stored = new Map(items.map(({ metadata, spec }) => [metadata.name, spec.renewTime]));
  return held.filter(({ name, renewTime }) => stored.get(name) !== renewTime).length;
}
