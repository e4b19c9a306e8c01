/**
 * How long a ServiceCIDR object with a nearly full /16 takes to answer its first allocation after a restart, on a real workerd with its data
 * on disk.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";
import { median, round } from "../figures";
import type { BenchRow } from "../row";

const RANGE = "10.0.0.0/16";
const TAKEN = 65_000;
const ITEMS_PER_CALL = 1_000;
const RESTARTS = 7;
const FIRST_ALLOCATION_MS_MAX = 100;

export async function benchRestart(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), "servicenet-bench-restart-"));
  try {
    const script = await bundle();
    await withRuntime(script, folder, fill);
    const starts: number[] = [];
    const cold: number[] = [];
    const warm: number[] = [];
    for (let i = 0; i < RESTARTS; i++) {
      const began = performance.now();
      await withRuntime(script, folder, async (runtime) => {
        // Starts workerd, compiles the script and wakes an object: the measured rest is the full object alone.
        await call(runtime, "/allocate/other?count=1");
        starts.push(performance.now() - began);
        cold.push((await call(runtime, "/allocate/full?count=1")).milliseconds);
        warm.push((await call(runtime, "/allocate/full?count=1")).milliseconds);
      });
    }
    return rowsOf({ starts, cold, warm });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(runtime: Miniflare): Promise<void> {
  await call(runtime, `/configure/full?range=${RANGE}`);
  await call(runtime, `/configure/other?range=10.1.0.0/24`);
  for (let taken = 0; taken < TAKEN; taken += ITEMS_PER_CALL) {
    const { given } = await call(runtime, `/allocate/full?count=${ITEMS_PER_CALL}`);
    if (given !== ITEMS_PER_CALL) throw new Error(`the object gave ${given} of ${ITEMS_PER_CALL} addresses`);
  }
}

function rowsOf({ starts, cold, warm }: { starts: number[]; cold: number[]; warm: number[] }): BenchRow[] {
  const slowest = Math.max(...cold);
  return [
    {
      name: "restart.firstAllocation",
      value: round(slowest),
      unit: "ms",
      target: `<= ${FIRST_ALLOCATION_MS_MAX}`,
      ok: slowest <= FIRST_ALLOCATION_MS_MAX,
      note: `slowest of ${RESTARTS} restarts with ${TAKEN} taken addresses, median ${round(median(cold))}; load, allocation and commit, as its caller sees it`,
    },
    { name: "restart.nextAllocation", value: round(median(warm)), unit: "ms", note: "the same call once more, median" },
    {
      name: "restart.runtimeStart",
      value: round(median(starts)),
      unit: "ms",
      note: "before that, median: process, script and the first call to another object",
    },
  ];
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [new URL("../../../../test/support/objects/restart-bench-worker.ts", import.meta.url).pathname],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
  });
  const [file] = outputFiles;
  if (!file) throw new Error("esbuild wrote no bundle");
  return file.text;
}

async function withRuntime(script: string, folder: string, body: (runtime: Miniflare) => Promise<void>): Promise<void> {
  const runtime = new Miniflare({
    name: "restart-bench",
    cf: false,
    logRequests: false,
    log: new Log(LogLevel.ERROR),
    handleRuntimeStdio: (stdout, stderr) => {
      stdout.resume();
      stderr.resume();
    },
    modules: [{ type: "ESModule", path: "index.js", contents: script }],
    compatibilityDate: "2026-04-26",
    durableObjects: { SERVICE_CIDR: { className: "ServiceCIDR", useSQLite: true } },
    durableObjectsPersist: folder,
  });
  try {
    await runtime.ready;
    await body(runtime);
  } finally {
    await runtime.dispose();
  }
}

async function call(runtime: Miniflare, path: string): Promise<{ milliseconds: number; given: number }> {
  const response = await runtime.dispatchFetch(`http://bench${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { milliseconds: number; given: number };
}
