/**
 * A cluster with 1,000 ServiceCIDRs against one with a single range: how fast the ranges come, what a Service costs among them, and that
 * everything is still found, consistent and released.
 */
import { observe } from "../../test/e2e/observe";
import type { Server } from "../../test/e2e/server";
import { checkState } from "../../test/support/checkers";
import type { Topology } from "../../src/rpc/coordinator";
import { ownersWith } from "../../src/topology/route";
import type { BenchRow } from "./row";
import { countReady, createServiceCIDR, until } from "./service-cidrs";
import { createServices, quantile, withServer } from "./started";

const RANGES = 1_000;
const OVERLAPPING = 200;
const SERVICES = 10_000;
const WARM_UP = 3_000;
const CONNECTIONS = 100;
/** clients that create ServiceCIDRs at the same time */
const OPERATORS = 10;
const ALL_READY_MS_MAX = 30_000;
const RATE_RATIO_MIN = 0.8;
const P99_RATIO_MAX = 1.5;
const TOPOLOGY_MS_MAX = 20;
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
    await createServices(server, { ...load, cluster: "warm-up", count: WARM_UP, prefix: "warm" });
    const startedAt = performance.now();
    await createAll(server, mixedPrefixes());
    await until(async () => (await countReady(server)) === RANGES + 1);
    const readyMs = performance.now() - startedAt;

    // In turn, so that both see the same machine.
    const one: Figures[] = [];
    const many: Figures[] = [];
    for (const round of [1, 2]) {
      one.push(figuresOf(await createServices(server, { ...load, cluster: "one", count: SERVICES / 2, prefix: `one-${String(round)}` })));
      many.push(
        figuresOf(await createServices(server, { ...load, cluster: "default", count: SERVICES / 2, prefix: `many-${String(round)}` })),
      );
    }
    const rateRatio = mean(many.map(({ rate }) => rate)) / mean(one.map(({ rate }) => rate));
    const p99Ratio = mean(many.map(({ p99 }) => p99)) / mean(one.map(({ p99 }) => p99));
    const topologyMs = await topologyLoading(server);
    const violations = checkState(await observe(server.url), []);
    if (violations.length > 0) throw new Error(`with ${String(RANGES)} ranges:\n${violations.slice(0, 10).join("\n")}`);
    const releasedMs = await releaseAll(server);
    return [
      row("ranges.allReady", readyMs / 1_000, "s", readyMs <= ALL_READY_MS_MAX, `<= ${String(ALL_READY_MS_MAX / 1_000)}`, {
        note: `${String(RANGES)} ServiceCIDRs of mixed sizes, ${String(OVERLAPPING)} of them overlapping, ${String(OPERATORS)} clients`,
      }),
      row("ranges.createRateRatio", rateRatio, "x", rateRatio >= RATE_RATIO_MIN, `>= ${String(RATE_RATIO_MIN)}`, {
        note: `${Math.round(mean(many.map(({ rate }) => rate))).toLocaleString("en-US")}/s against ${Math.round(mean(one.map(({ rate }) => rate))).toLocaleString("en-US")}/s with one range`,
      }),
      row("ranges.createP99Ratio", p99Ratio, "x", p99Ratio <= P99_RATIO_MAX, `<= ${String(P99_RATIO_MAX)}`, {
        note: `${mean(many.map(({ p99 }) => p99)).toFixed(0)} ms against ${mean(one.map(({ p99 }) => p99)).toFixed(0)} ms`,
      }),
      row("ranges.topology", topologyMs, "ms", topologyMs <= TOPOLOGY_MS_MAX, `<= ${String(TOPOLOGY_MS_MAX)}`, {
        note: "the router's first decision on a topology with these ranges, median of 21",
      }),
      {
        name: "ranges.released",
        value: Math.round(releasedMs) / 1_000,
        unit: "s",
        note: `${String(SERVICES)} Services checked (addresses, IPAddresses, cover), then deleted until no IPAddress is left`,
      },
    ];
  });
}

interface Figures {
  rate: number;
  p99: number;
}

function figuresOf({ elapsedMs, latenciesMs }: { elapsedMs: number; latenciesMs: number[] }): Figures {
  return { rate: latenciesMs.length / (elapsedMs / 1_000), p99: quantile(latenciesMs, 0.99) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function row(name: string, value: number, unit: string, ok: boolean, target: string, { note }: { note: string }): BenchRow {
  return { name, value: Math.round(value * 100) / 100, unit, target, ok, note };
}

async function createAll(server: Server, prefixes: readonly string[]): Promise<void> {
  let next = 0;
  const operator = async (): Promise<void> => {
    for (let i = next++; i < prefixes.length; i = next++) await createServiceCIDR(server, `range-${String(i)}`, prefixes[i] ?? "");
  };
  await Promise.all(Array.from({ length: OPERATORS }, operator));
}

/** Reads the topology as a router gets it (a copy of its own each time, as over RPC) and makes the first decision on it. */
async function topologyLoading(server: Server): Promise<number> {
  const { items } = (await (await fetch(`${server.url}/apis/networking.k8s.io/v1/servicecidrs`)).json()) as {
    items: { metadata: { name: string; uid: string }; spec: { cidrs: string[] } }[];
  };
  const ranges = items.flatMap(({ metadata, spec }) => spec.cidrs.map((prefix) => ({ prefix, name: metadata.name })));
  const topology: Topology = {
    epoch: 1,
    claims: mixedPrefixes()
      .slice(0, RANGES - OVERLAPPING)
      .map((prefix, i) => ({ prefix, ownerUid: String(i) })),
    ranges,
    owners: items.map(({ metadata }) => ({ uid: metadata.uid, epoch: 1 })),
    free: [],
  };
  const times = Array.from({ length: 21 }, () => {
    const copy = structuredClone(topology);
    const startedAt = performance.now();
    ownersWith(copy, "IPv4");
    return performance.now() - startedAt;
  });
  return quantile(
    times.sort((a, b) => a - b),
    0.5,
  );
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
