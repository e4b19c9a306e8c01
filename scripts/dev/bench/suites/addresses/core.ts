/**
 * The pure address core: picks from a /12 at four degrees of filling, picks from an IPv6 /64, the memory of a full /12.
 * `node --expose-gc scripts/run.mjs scripts/dev/bench.ts --only core` makes the memory figures exact.
 */
import { Pool } from "../../../../../src/addresses/alloc/pool";
import { DenseBitmap } from "../../../../../src/core/bitmap/dense-bitmap";
import type { Family } from "../../../../../src/core/net/family";
import { parsePrefix, type Prefix } from "../../../../../src/core/net/prefix";
import { usableOf } from "../../../../../src/core/net/usable";
import { seededRandom } from "../../../../../test/support/sim/platform/seeded-random";
import { round } from "../../figures";
import type { BenchRow } from "../../row";

const SEED = 20_260_601;
const MEASURE_MS = 400;
const RATE_MIN = 500_000;
const RATE_IPV6_MIN = 200_000;
const SLOWEST_MAX = 3;
const FULL_BYTES_MAX = 1024 * 1024;
const BITS_OF_A_12 = 20;

export async function benchCore(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  warmUp();
  const rates: number[] = [];
  for (const percent of [0, 50, 99, 99.99]) {
    const rate = rateOfIPv4(percent);
    rates.push(rate);
    rows.push({
      name: `core.allocateNext./12.${percent}%`,
      value: Math.round(rate),
      unit: "1/s",
      target: `>= ${RATE_MIN}`,
      ok: rate >= RATE_MIN,
      note: "a pick and its mark; releases between the rounds are not timed",
    });
  }
  const spread = Math.max(...rates) / Math.min(...rates);
  rows.push({
    name: "core.allocateNext./12.spread",
    value: round(spread),
    unit: "x",
    target: `<= ${SLOWEST_MAX}`,
    ok: spread <= SLOWEST_MAX,
  });
  const rate = rateOfIPv6();
  rows.push({
    name: "core.allocateNext./64.100000taken",
    value: Math.round(rate),
    unit: "1/s",
    target: `>= ${RATE_IPV6_MIN}`,
    ok: rate >= RATE_IPV6_MIN,
  });
  rows.push(...memoryRows());
  return rows;
}

function warmUp(): void {
  const pool = poolOf("10.0.0.0/20");
  const kept = fill(pool, "IPv4", 2000);
  measure(pool, "IPv4", kept, 100);
}

function rateOfIPv4(percent: number): number {
  const pool = poolOf("10.0.0.0/12");
  const usable = usableOf(prefixOf("10.0.0.0/12"));
  const size = usable === undefined ? 0 : Number(usable.last - usable.first + 1n);
  const kept = fill(pool, "IPv4", Math.floor((size * percent) / 100));
  return measure(pool, "IPv4", kept, MEASURE_MS);
}

function rateOfIPv6(): number {
  const pool = poolOf("fd00:10:96::/64");
  const kept = fill(pool, "IPv6", 100_000);
  return measure(pool, "IPv6", kept, MEASURE_MS);
}

/** Picks per second. Only the picks are timed: in rounds, after each of which as many addresses are released, so that the filling stays. */
function measure(pool: Pool, family: Family, kept: bigint[], durationMs: number): number {
  const round = Math.max(1, Math.min(2000, Math.floor(pool.free(family).dynamic + pool.free(family).static) - 1));
  const random = seededRandom(SEED + 1);
  let spentMs = 0;
  let picks = 0;
  while (spentMs < durationMs) {
    const taken: bigint[] = [];
    const start = performance.now();
    for (let i = 0; i < round; i++) {
      const pick = pool.allocateDynamic(family);
      if (pick === undefined) throw new Error("full before the end of a round");
      taken.push(pick.address);
    }
    spentMs += performance.now() - start;
    picks += round;
    for (const address of taken) {
      // Release an older address and keep the new one, so that the pattern of free addresses moves.
      const i = kept.length === 0 ? -1 : random.below(kept.length);
      const released = i < 0 ? address : kept[i];
      if (released === undefined || !pool.release(family, released)) throw new Error("released a free address");
      if (i >= 0) kept[i] = address;
    }
    pool.takeDirtyPages();
  }
  return (picks / spentMs) * 1000;
}

/** Allocates `count` addresses; they are returned. */
function fill(pool: Pool, family: Family, count: number): bigint[] {
  const kept: bigint[] = [];
  for (let i = 0; i < count; i++) {
    const pick = pool.allocateDynamic(family);
    if (pick === undefined) throw new Error("full while filling");
    kept.push(pick.address);
  }
  pool.takeDirtyPages();
  return kept;
}

/** Heap and array buffers of a /12 bitmap: all taken, and with every second address taken, the form that needs most. */
function memoryRows(): BenchRow[] {
  return [
    { name: "core.bitmap./12.full", step: 1 },
    { name: "core.bitmap./12.everySecond", step: 2 },
  ].map(({ name, step }) => {
    const copies = 8;
    const before = bytesUsed();
    const bitmaps = Array.from({ length: copies }, () => {
      const bitmap = new DenseBitmap(BITS_OF_A_12);
      for (let offset = 0; offset < 2 ** BITS_OF_A_12; offset += step) bitmap.take(offset);
      bitmap.takeDirtyPages();
      return bitmap;
    });
    const bytes = Math.max(0, bytesUsed() - before) / bitmaps.length;
    const note = globalThis.gc === undefined ? "garbage included; node --expose-gc is exact" : undefined;
    return { name, value: round(bytes / 1024), unit: "KiB", target: "<= 1024", ok: bytes <= FULL_BYTES_MAX, note };
  });
}

function bytesUsed(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function poolOf(cidr: string): Pool {
  const pool = new Pool(seededRandom(SEED));
  pool.configure([prefixOf(cidr)], [prefixOf(cidr)]);
  return pool;
}

function prefixOf(cidr: string): Prefix {
  const prefix = parsePrefix(cidr);
  if (!prefix.ok) throw new Error(`${cidr}: ${prefix.error.reason}`);
  return prefix.value;
}
