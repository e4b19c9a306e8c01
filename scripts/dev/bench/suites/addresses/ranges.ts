/**
 * A cluster with 1,000 ServiceCIDRs against one with a single range: the rate of new ranges, and the cost of a Service. Afterwards everything is still
 * found, repaired without a violation, and released.
 */
import { observe, violationsAfterRepair, wrongAfterRepair } from "../../../../../test/support/server/observe";
import { getJson, type Server } from "../../../../../test/support/server/server";
import { seededRandom } from "../../../../../test/support/sim/platform/seeded-random";
import { FreeCounts } from "../../../../../src/addresses/ledger/free-counts";
import type { Claim, Topology } from "../../../../../src/addresses/rpc/topology";
import { drawOwner, sizesOf } from "../../../../../src/addresses/topology/route";
import { cpuMs } from "../../cpu";
import { quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { createReadyServiceCIDRs, until } from "../../service-cidrs";
import { createServices, fullSweep, withServer } from "../../started";

const RANGES = 1_000;
const OVERLAPPING = 200;
const SERVICES = 10_000;
/** The two clusters create in turn, this many times each: the load of the machine and of cron falls on both. */
const ROUNDS = 10;
/** Before the ranges come: neither side begins with a new cluster or cold code. */
const WARM_UP = 1_500;
const CONNECTIONS = 100;
const ALL_READY_MS_MAX = 30_000;
const RATE_RATIO_MIN = 0.8;
const P99_RATIO_MAX = 1.5;
const TOPOLOGY_MS_MAX = 20;
const TOPOLOGY_LOADS = 21;
/** Time for work under way while the cluster is read. */
const REPAIR_WAIT_MS = 30_000;
const SEED = 20_260_602;
const DEFAULT_RANGE = "10.0.0.0/16";
const LENGTHS = [20, 22, 23, 24, 26, 28];

/** 800 disjoint prefixes of mixed sizes, each in a /20 of its own, and 200 that lie inside or around one of them. */
function mixedPrefixes(): string[] {
  const base = (i: number) => `${String(11 + Math.floor(i / 4096))}.${String(Math.floor(i / 16) % 256)}.${String((i % 16) * 16)}.0`;
  return Array.from({ length: RANGES }, (_, i) => {
    if (i < RANGES - OVERLAPPING) return `${base(i)}/${String(LENGTHS[i % LENGTHS.length])}`;
    // A /19 starts at an even /20: around its ranges. A /27 lies inside of most.
    const other = (i - (RANGES - OVERLAPPING)) * 4;
    return `${base(other)}/${i % 2 === 0 ? "19" : "27"}`;
  });
}

export function benchRanges(): Promise<BenchRow[]> {
  return withServer(DEFAULT_RANGE, async (server) => {
    const load = { connections: CONNECTIONS, addressPrefixes: ["10.", "11."] };
    const sides = { one: new Side(), default: new Side() };
    for (const cluster of ["one", "default"]) await createServices(server, { ...load, cluster, count: WARM_UP, prefix: "warm" });
    const startedAt = performance.now();
    await createReadyServiceCIDRs(server, mixedPrefixes());
    const readyMs = performance.now() - startedAt;

    for (let round = 0; round < ROUNDS; round++) {
      for (const cluster of ["one", "default"] as const) {
        const cpuBefore = cpuMs(server.runtimePid);
        const result = await createServices(server, { ...load, cluster, count: SERVICES / ROUNDS, prefix: `round-${String(round)}` });
        sides[cluster].add(result, (cpuMs(server.runtimePid) ?? NaN) - (cpuBefore ?? NaN));
      }
    }
    const [one, many] = [sides.one, sides.default];
    const rateRatio = many.rate / one.rate;
    const p99Ratio = many.p99 / one.p99;
    const topology = await topologyLoading(server);
    const listedMs = await listAll(server);
    const sweepMs = await fullSweep(server);
    const violations = [
      ...(await violationsAfterRepair(server.url, [], REPAIR_WAIT_MS)),
      ...(await wrongAfterRepair(server.url, REPAIR_WAIT_MS)),
    ];
    const releasedMs = await releaseAll(server);
    return [
      row("ranges.allReady", readyMs / 1_000, "s", readyMs <= ALL_READY_MS_MAX, `<= ${String(ALL_READY_MS_MAX / 1_000)}`, {
        note: `${String(RANGES)} ServiceCIDRs of mixed sizes, ${String(OVERLAPPING)} of them overlapping`,
      }),
      row("ranges.createRateRatio", rateRatio, "x", rateRatio >= RATE_RATIO_MIN, `>= ${String(RATE_RATIO_MIN)}`, {
        note: `${Math.round(many.rate).toLocaleString("en-US")}/s against ${Math.round(one.rate).toLocaleString("en-US")}/s with one range, ${String(ROUNDS)} rounds each in turn`,
      }),
      row("ranges.createP99Ratio", p99Ratio, "x", p99Ratio <= P99_RATIO_MAX, `<= ${String(P99_RATIO_MAX)}`, {
        note: `${many.p99.toFixed(0)} ms against ${one.p99.toFixed(0)} ms, of all rounds together`,
      }),
      ...(Number.isNaN(many.cpuUs)
        ? []
        : [
            {
              name: "ranges.createCpuRatio",
              value: Math.round((many.cpuUs / one.cpuUs) * 100) / 100,
              unit: "x",
              note: `${many.cpuUs.toFixed(0)} µs of the runtime for each Service against ${one.cpuUs.toFixed(0)} µs: the same whatever else the machine does`,
            },
          ]),
      row("ranges.topology", topology.ms, "ms", topology.ms <= TOPOLOGY_MS_MAX, `<= ${String(TOPOLOGY_MS_MAX)}`, {
        note: `${String(topology.claims)} claims of ${String(topology.owners)} owners copied as over RPC, adopted, and the first owner drawn, median of ${String(TOPOLOGY_LOADS)}`,
      }),
      {
        name: "ranges.listed",
        value: Math.round(listedMs) / 1_000,
        unit: "s",
        note: `${String(SERVICES + WARM_UP)} Services with their IPAddresses and the ServiceCIDRs`,
      },
      {
        name: "ranges.repaired",
        value: Math.round(sweepMs) / 1_000,
        unit: "s",
        note: "a repair of everything in that cluster, asked for with POST /check",
      },
      {
        name: "ranges.violations",
        value: violations.length,
        unit: "violations",
        target: "0",
        ok: violations.length === 0,
        note:
          violations.slice(0, 3).join("; ") ||
          "addresses unique, paired with their IPAddress and covered; the owners' rows and bitmaps agree",
      },
      {
        name: "ranges.released",
        value: Math.round(releasedMs) / 1_000,
        unit: "s",
        note: "then all of them deleted until no IPAddress is left",
      },
    ];
  });
}

/** All rounds of one cluster. */
class Side {
  #elapsedMs = 0;
  #cpuMs = 0;
  readonly #latenciesMs: number[] = [];

  /** `cpu`: CPU time of the runtime meanwhile, in milliseconds; NaN where the system does not show it */
  add({ elapsedMs, latenciesMs }: { elapsedMs: number; latenciesMs: number[] }, cpu: number): void {
    this.#elapsedMs += elapsedMs;
    this.#cpuMs += cpu;
    this.#latenciesMs.push(...latenciesMs);
  }

  get rate(): number {
    return this.#latenciesMs.length / (this.#elapsedMs / 1_000);
  }

  get p99(): number {
    return quantile(
      this.#latenciesMs.sort((a, b) => a - b),
      0.99,
    );
  }

  /** microseconds for each Service */
  get cpuUs(): number {
    return (this.#cpuMs / this.#latenciesMs.length) * 1_000;
  }
}

function row(name: string, value: number, unit: string, ok: boolean, target: string, { note }: { note: string }): BenchRow {
  return { name, value: Math.round(value * 100) / 100, unit, target, ok, note };
}

interface TopologyLoading {
  /** median */
  ms: number;
  claims: number;
  owners: number;
}

/** A router with the answer of the Coordinator: it copies the answer, adopts the counts and draws an owner. */
async function topologyLoading(server: Server): Promise<TopologyLoading> {
  const topology = await currentTopology(server);
  const random = seededRandom(SEED);
  const full = { dynamic: new Set<string>(), static: new Set<string>() };
  const times = Array.from({ length: TOPOLOGY_LOADS }, () => {
    const startedAt = performance.now();
    // RPC serializes the answer at one end and reads it at the other.
    const copy = structuredClone(topology);
    const counts = new FreeCounts();
    counts.adopt(copy);
    const draw = drawOwner(copy, "IPv4", { random, full, freeOf: counts.freeOf.bind(counts) });
    if (!draw) throw new Error("the topology has no free address");
    return performance.now() - startedAt;
  });
  const ms = quantile(
    times.sort((a, b) => a - b),
    0.5,
  );
  return { ms, claims: topology.claims.length, owners: topology.owners.length };
}

/**
 * The topology that the server's Coordinator answers now: claims from GET /check/owners, ranges from the ServiceCIDRs, which are all Ready. No view
 * shows epochs and free counts; they are filled in for every owner, so that the real answer is never larger.
 */
async function currentTopology(server: Server): Promise<Topology> {
  const { epoch, claims } = await getJson<{ epoch: number; claims: Claim[] }>(`${server.url}/check/owners`);
  const { serviceCIDRs } = await observe(server.url);
  const ranges = serviceCIDRs.flatMap(({ metadata, spec }) =>
    (spec?.cidrs ?? []).map((prefix) => ({ prefix, name: metadata?.name ?? "" })),
  );
  if (claims.length < RANGES - OVERLAPPING || ranges.length <= RANGES) {
    throw new Error(`the topology is too small: ${String(claims.length)} claims, ${String(ranges.length)} ranges`);
  }
  const owners = [...new Set(claims.map(({ ownerUid }) => ownerUid))].map((uid) => ({ uid, epoch }));
  const uncounted: Topology = { epoch, claims, ranges, owners, free: [] };
  const free = owners.map(({ uid }) => ({
    ownerUid: uid,
    IPv4: sizesOf(uncounted, uid, "IPv4"),
    IPv6: sizesOf(uncounted, uid, "IPv6"),
  }));
  return { ...uncounted, free };
}

/** Lists everything as a client does, in milliseconds; throws unless every Service that was created is there. */
async function listAll(server: Server): Promise<number> {
  const startedAt = performance.now();
  const { services } = await observe(server.url);
  const elapsedMs = performance.now() - startedAt;
  // The server's own Service is there as well.
  const expected = SERVICES + WARM_UP + 1;
  if (services.length !== expected) throw new Error(`${String(services.length)} Services are listed, not ${String(expected)}`);
  return elapsedMs;
}

/** Deletes every Service but the server's own; answers when no IPAddress of another is left, in milliseconds. */
async function releaseAll(server: Server): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(`${server.url}/api/v1/namespaces/default/services?labelSelector=component!%3Dapiserver`, { method: "DELETE" });
  if (answer.status !== 200) throw new Error(`deletecollection: ${String(answer.status)} ${await answer.text()}`);
  await answer.arrayBuffer();
  await until(async () => {
    const { items } = (await (await fetch(`${server.url}/apis/networking.k8s.io/v1/ipaddresses`)).json()) as { items: unknown[] };
    return items.length === 1;
  });
  return performance.now() - startedAt;
}
