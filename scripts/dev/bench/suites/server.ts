/**
 * The load of upstream's own allocator benchmark: 15,000 Services, 100 concurrent clients, a /12. Upstream reports 132.9 s and a p99
 * of 1.89 s for its current allocator, 69.6 s for the older one, on 48 cores.
 */
import { checkState } from "../../../../test/support/checks/checkers";
import { observe } from "../../../../test/support/server/observe";
import type { Server } from "../../../../test/support/server/server";
import { countFsyncs } from "../fsyncs";
import { counters, createServices, withServer, writeServices } from "../started";
import { atMost, quantile, round } from "../figures";
import { serverMiB } from "../memory";
import type { BenchRow } from "../row";

const range = "10.0.0.0/12";
const count = 15_000;
const connections = 100;
/** the first Services after the start, in another cluster */
const warmUpCount = 5_000;
/** Services of the pass under strace, which slows the server down and is not timed */
const tracedCount = 1_000;
const ratePerSecondMin = 2_000;
const p99MsMax = 150;
const deletesPerSecondMin = 1_500;
const memoryMiBMax = 400;

export function benchServer(): Promise<BenchRow[]> {
  return withServer(range, async (server) => {
    // The machine code of a server that has been up for seconds, not milliseconds: what users run. The target cluster stays empty.
    const cold = await createServices(server, {
      cluster: "warm-up",
      connections,
      count: warmUpCount,
      prefix: "cold",
      addressPrefixes: firstOctets(),
    });
    const before = await counters(server);
    const load = await createServices(server, { cluster: "default", connections, count, prefix: "bench", addressPrefixes: firstOctets() });
    const memory = serverMiB(server);
    const after = await counters(server);
    await verify(server.url, load.addresses);

    const seconds = load.elapsedMs / 1000;
    const rate = count / seconds;
    const p99 = quantile(load.latenciesMs, 0.99);
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    const drains = grown("servicenet_store_drains_total{services}");
    const commits = drains + grown("servicenet_store_drains_total{ipaddresses}") + grown("servicenet_owner_drains_total");
    const what = `${String(count)} Services, ${String(connections)} connections, ${range}; every address unique, every IPAddress present`;
    const rows: BenchRow[] = [
      {
        name: "server.createRate",
        value: Math.round(rate),
        unit: "services/s",
        target: `>= ${String(ratePerSecondMin)}`,
        ok: rate >= ratePerSecondMin,
        note: what,
      },
      {
        name: "server.coldRate",
        value: Math.round(warmUpCount / (cold.elapsedMs / 1000)),
        unit: "services/s",
        note: `the first ${String(warmUpCount)} after the start, in another cluster`,
      },
      { name: "server.createP50", value: round(quantile(load.latenciesMs, 0.5)), unit: "ms" },
      { name: "server.createP99", value: round(p99), unit: "ms", target: `<= ${String(p99MsMax)}`, ok: p99 <= p99MsMax },
      {
        name: "server.elapsed",
        value: round(seconds),
        unit: "s",
        note: "upstream: 132.9 s (IPAddress allocator), 69.6 s (bitmap), 48 cores",
      },
      {
        name: "server.clientCpu",
        value: round(load.cpuMs / count),
        unit: "ms/service",
        note: "the load generator's own share of the machine",
      },
    ];
    if (drains > 0) {
      rows.push({ name: "server.servicesPerBatch", value: round(count / drains), unit: "services" });
      rows.push({
        name: "server.batches",
        value: commits,
        unit: "commits",
        note: `services ${String(drains)}, the rest ipaddresses and owner`,
      });
    }
    if (memory !== undefined) rows.push(atMost("server.memory", memory, "MiB", memoryMiBMax, "PSS of all its processes after the load"));
    rows.push(await deleteAll(server));
    const traced = await countFsyncs(server.runtimePid, () =>
      createServices(server, { cluster: "default", connections, count: tracedCount, prefix: "traced", addressPrefixes: firstOctets() }),
    );
    if (traced !== undefined) {
      const note = `counted by strace over ${String(tracedCount)} more Services`;
      rows.push({ name: "server.fsyncs", value: round((traced / tracedCount) * 1000), unit: "fsyncs/1000 services", note });
    }
    return rows;
  });
}

async function deleteAll(server: Server): Promise<BenchRow> {
  const collection = "/api/v1/namespaces/default/services";
  const { elapsedMs, latenciesMs } = await writeServices(server, {
    verb: "delete",
    connections,
    count,
    collection,
    prefix: "bench",
    addressPrefixes: [],
  });
  const rate = count / (elapsedMs / 1000);
  return {
    name: "server.deleteRate",
    value: Math.round(rate),
    unit: "services/s",
    target: `>= ${String(deletesPerSecondMin)}`,
    ok: rate >= deletesPerSecondMin,
    note: `the same Services; p99 ${quantile(latenciesMs, 0.99).toFixed(0)} ms`,
  };
}

/** Throws unless the state of the server is what its answers said. */
async function verify(url: string, addresses: readonly [string, string][]): Promise<void> {
  if (new Set(addresses.map(([, address]) => address)).size !== count) throw new Error("an address was given twice");
  const acknowledged = addresses.map(([name, address]) => ({ name, address }));
  const observed = await observe(url);
  const uids = new Map(observed.services.map((service) => [service.metadata?.name, service.metadata?.uid]));
  const answers = acknowledged.map(({ name, address }) => ({
    metadata: { namespace: "default", name, uid: uids.get(name) },
    spec: { clusterIPs: [address] },
  }));
  const violations = checkState(observed, answers);
  if (violations.length > 0) throw new Error(`after the load:\n${violations.slice(0, 10).join("\n")}`);
}

/** 10.0. … 10.15. */
function firstOctets(): string[] {
  return Array.from({ length: 16 }, (_, i) => `10.${String(i)}.`);
}
