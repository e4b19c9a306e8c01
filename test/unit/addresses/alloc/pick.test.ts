import { describe, expect, it } from "vitest";
import { Pool } from "../../../../src/addresses/alloc/pool";
import { dynamicBandOf } from "../../../../src/core/net/band";
import type { Family } from "../../../../src/core/net/family";
import { lastOf, prefixAround } from "../../../../src/core/net/prefix";
import { chiSquareDeviation, DEVIATION_MAX } from "../../../model/chi-square";
import { prefixOf } from "../../../model/prefix-of";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

interface Given {
  owned: string[];
  ranges?: string[];
  seed: number;
}

function poolOf({ owned, ranges = owned, seed }: Given): Pool {
  const pool = new Pool(seededRandom(seed));
  pool.configure(owned.map(prefixOf), ranges.map(prefixOf));
  return pool;
}

/** Picks an address and frees it again: the state is the same for every pick. */
function pickAndReturn(pool: Pool, family: Family): bigint {
  const pick = pool.allocateDynamic(family);
  if (pick === undefined) throw new Error("full");
  pool.release(family, pick.address);
  return pick.address;
}

/** Counts picks per free address of the list; a pick outside it fails. */
function picksPer(pool: Pool, family: Family, free: readonly bigint[], picksPerAddress: number): number[] {
  const position = new Map(free.map((address, i) => [address, i]));
  const counts = new Array<number>(free.length).fill(0);
  for (let i = 0; i < free.length * picksPerAddress; i++) {
    const at = position.get(pickAndReturn(pool, family));
    if (at === undefined) throw new Error("picked an address that is not free in the band");
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

/** All addresses of the dynamic band. */
function bandOf(cidr: string): bigint[] {
  const band = dynamicBandOf(prefixOf(cidr));
  if (band === undefined) throw new Error(cidr);
  return Array.from({ length: Number(band.last - band.first) + 1 }, (_, i) => band.first + BigInt(i));
}

/** Takes a share of the addresses and answers the rest: at random places, or in one run from the start, behind which a scan would pile up. */
function takeShare(
  pool: Pool,
  family: Family,
  addresses: readonly bigint[],
  share: number,
  how: "scattered" | "run",
  seed: number,
): bigint[] {
  const random = seededRandom(seed);
  const order = addresses.map((address) => ({ address, key: how === "run" ? 0 : random.next() })).sort((a, b) => a.key - b.key);
  const taken = order.slice(0, Math.floor(addresses.length * share));
  for (const { address } of taken) pool.take(family, address);
  return order.slice(taken.length).map(({ address }) => address);
}

function expectUniform(counts: readonly number[], seed: number): void {
  const deviation = chiSquareDeviation(counts);
  expect(Math.abs(deviation), `seed ${seed}: ${deviation} standard deviations from uniform`).toBeLessThan(DEVIATION_MAX);
}

/** Cells of (class of a pick, class of the next one), 6 x 6 of equal probability when picks are independent. */
function pairCounts(classOf: (address: bigint) => number, pick: () => bigint, pairs: number): number[] {
  const counts = new Array<number>(36).fill(0);
  let previous = classOf(pick());
  for (let i = 0; i < pairs; i++) {
    const next = classOf(pick());
    counts[previous * 6 + next] = (counts[previous * 6 + next] ?? 0) + 1;
    previous = next;
  }
  return counts;
}

describe("dynamic picks: uniform over the free addresses of the band", () => {
  it.each([
    ["10.0.0.0/22", 0, "scattered", 5001],
    ["10.0.0.0/22", 0.5, "scattered", 5002],
    ["10.0.0.0/22", 0.5, "run", 5003],
    ["10.0.0.0/22", 0.99, "scattered", 5004],
    ["10.0.0.0/22", 0.99, "run", 5005],
    ["fd00::/118", 0.5, "scattered", 5006],
  ] as const)("%s with %f of the band taken, %s: uniform (seed %i)", (cidr, share, how, seed) => {
    const pool = poolOf({ owned: [cidr], seed });
    const family = prefixOf(cidr).family;
    const free = takeShare(pool, family, bandOf(cidr), share, how, seed + 1000);
    expectUniform(picksPer(pool, family, free, Math.max(40, Math.floor(20_000 / free.length))), seed);
  });

  // The owner of a /64 with a small Ready range in it has the bitmap that cannot count its whole space.
  it.each([
    [0, 5011],
    [0.5, 5012],
    [0.99, 5013],
  ])("a /118 inside an owned /64 with %f taken: uniform (seed %i)", (share, seed) => {
    const pool = poolOf({ owned: ["fd00::/64"], ranges: ["fd00::/118"], seed });
    const free = takeShare(pool, "IPv6", bandOf("fd00::/118"), share, "scattered", seed + 1000);
    expectUniform(picksPer(pool, "IPv6", free, Math.max(30, Math.floor(10_000 / free.length))), seed);
  });

  it("a whole /64: upper and lower bits of the offset are uniform (seed 5021)", () => {
    const pool = poolOf({ owned: ["fd00::/64"], seed: 5021 });
    const upper = new Array<number>(256).fill(0);
    const lower = new Array<number>(256).fill(0);
    for (let i = 0; i < 20_000; i++) {
      const { address } = pool.allocateDynamic("IPv6") ?? { address: 0n };
      const [high, low] = [Number((address >> 56n) & 255n), Number(address & 255n)];
      upper[high] = (upper[high] ?? 0) + 1;
      lower[low] = (lower[low] ?? 0) + 1;
    }
    expect(pool.takenCount()).toBe(20_000);
    expectUniform(upper, 5021);
    expectUniform(lower, 5021);
  });

  // Deviations of 162 draws, each with the bound of a single draw; the seeds are fixed.
  it.each([
    ...Array.from({ length: 33 }, (_, length) => ["IPv4", length, 5200 + length] as const),
    ...Array.from({ length: 129 }, (_, length) => ["IPv6", length, 5300 + length] as const),
  ])("%s /%i: inside the prefix, and each end of the offset uniform (seed %i)", (family, length, seed) => {
    const prefix = prefixAround(family, family === "IPv4" ? 0xac10_1234n : 0x2001_0db8_0000_0000_1234_5678_9abc_def0n, length);
    const pool = new Pool(seededRandom(seed));
    pool.configure([prefix], [prefix]);
    const band = dynamicBandOf(prefix);
    if (band === undefined) return expect(pool.allocateDynamic(family)).toBeUndefined();
    const size = band.last - band.first + 1n;
    const cells = size < 16n ? size : 16n;
    const upper = new Array<number>(Number(cells)).fill(0);
    const lower = new Array<number>(Number(cells)).fill(0);
    for (let i = 0; i < 3_200; i++) {
      const address = pickAndReturn(pool, family);
      const offset = address - band.first;
      if (offset < 0n || address > band.last) throw new Error(`seed ${seed}: picked outside the band`);
      const high = Number((offset * cells) / size);
      upper[high] = (upper[high] ?? 0) + 1;
      // The last, shorter group of residues would be drawn less often.
      if (offset < size - (size % cells)) lower[Number(offset % cells)] = (lower[Number(offset % cells)] ?? 0) + 1;
    }
    if (cells === 1n) return expect(upper).toEqual([3_200]);
    if (size % cells === 0n || size > 1_000n) expectUniform(upper, seed);
    expectUniform(lower, seed);
  });

  it("several segments of different size and filling: weighed by their free addresses (seed 5031)", () => {
    const owned = ["10.0.0.0/24", "10.2.0.0/26", "10.4.0.0/28"];
    const pool = poolOf({ owned, seed: 5031 });
    const free = [0.9, 0.1, 0].flatMap((share, i) => takeShare(pool, "IPv4", bandOf(owned[i] ?? ""), share, "scattered", 6031 + i));
    expectUniform(picksPer(pool, "IPv4", free, 200), 5031);
  });

  it("small IPv6 segment beside a /64: seldom drawn while the /64 is a range (seed 5041)", () => {
    const owned = ["fd00::/64", "fd00:1::/118"];
    const pool = poolOf({ owned, seed: 5041 });
    for (let i = 0; i < 1000; i++) expect(pickAndReturn(pool, "IPv6") >> 64n).toBe(0xfd00_0000_0000_0000n);
    pool.configure(owned.map(prefixOf), ["fd00::/118", "fd00:1::/118"].map(prefixOf));
    expectUniform(picksPer(pool, "IPv6", [...bandOf("fd00::/118"), ...bandOf("fd00:1::/118")], 20), 5041);
  });

  it("dynamic band cut by an inner static band: uniform (seed 5051)", () => {
    const pool = poolOf({ owned: ["10.0.0.0/23"], ranges: ["10.0.0.0/23", "10.0.0.128/25"], seed: 5051 });
    const free = bandOf("10.0.0.0/23").filter((address) => pool.bandOf("IPv4", address) === "dynamic");
    expect(free.length).toBe(510 - 32 - 16);
    expectUniform(picksPer(pool, "IPv4", free, 60), 5051);
  });
});

describe("picks of the static band, once the dynamic one is used up: uniform too", () => {
  it.each([
    [0, 5061],
    [0.5, 5062],
  ])("10.0.0.0/22 with %f of the static band taken: uniform (seed %i)", (share, seed) => {
    const pool = poolOf({ owned: ["10.0.0.0/22"], seed });
    takeShare(pool, "IPv4", bandOf("10.0.0.0/22"), 1, "run", 0);
    const band = Array.from({ length: 64 }, (_, i) => prefixOf("10.0.0.0/22").base + 1n + BigInt(i));
    expectUniform(picksPer(pool, "IPv4", takeShare(pool, "IPv4", band, share, "scattered", seed), 200), seed);
  });
});

describe("dynamic picks: independent of the previous one", () => {
  it.each([
    [0, 5071],
    [0.5, 5072],
    [0.99, 5073],
  ])("10.0.0.0/21 with %f taken: the class of a pick says nothing about the next (seed %i)", (share, seed) => {
    const pool = poolOf({ owned: ["10.0.0.0/21"], seed });
    const all = takeShare(pool, "IPv4", bandOf("10.0.0.0/21"), share, "scattered", seed + 1000).sort((a, b) => (a < b ? -1 : 1));
    // Six classes of neighbours with equally many free addresses in each; the remaining ones are taken.
    const perClass = Math.floor(all.length / 6);
    for (const address of all.slice(perClass * 6)) pool.take("IPv4", address);
    const classOf = new Map(all.slice(0, perClass * 6).map((address, i) => [address, Math.floor(i / perClass)]));
    expectUniform(
      pairCounts(
        (address) => classOf.get(address) ?? -1,
        () => pickAndReturn(pool, "IPv4"),
        20_000,
      ),
      seed,
    );
  });

  it("pick that stays taken: the next one is not near it more often (seed 5081)", () => {
    const pool = poolOf({ owned: ["10.0.0.0/12"], seed: 5081 });
    const { base } = prefixOf("10.0.0.0/12");
    const size = lastOf(prefixOf("10.0.0.0/12")) - base + 1n;
    const pick = () => pool.allocateDynamic("IPv4")?.address ?? base;
    expectUniform(
      pairCounts((address) => Number(((address - base) * 6n) / size), pick, 20_000),
      5081,
    );
    const distances = new Array<number>(8).fill(0);
    let previous = pick();
    for (let i = 0; i < 20_000; i++) {
      const next = pick();
      const distance = Number((((next - previous + size) % size) * 8n) / size);
      distances[distance] = (distances[distance] ?? 0) + 1;
      previous = next;
    }
    expectUniform(distances, 5081);
  });

  it("/64: the next pick is independent (seed 5091)", () => {
    const pool = poolOf({ owned: ["fd00::/64"], seed: 5091 });
    const { base } = prefixOf("fd00::/64");
    expectUniform(
      pairCounts(
        (address) => Number(((address - base) * 6n) >> 64n),
        () => pickAndReturn(pool, "IPv6"),
        20_000,
      ),
      5091,
    );
  });
});

describe("chiSquareDeviation", () => {
  it("scan with wrap-around behind a run of taken addresses: noticed", () => {
    const random = seededRandom(5101);
    const counts = new Array<number>(50).fill(0);
    for (let i = 0; i < 5000; i++) {
      // 100 addresses, the first 50 taken: a scan from a random start hits the 51st half of the time.
      const at = Math.max(50, random.below(100)) - 50;
      counts[at] = (counts[at] ?? 0) + 1;
    }
    expect(chiSquareDeviation(counts)).toBeGreaterThan(DEVIATION_MAX);
    expect(chiSquareDeviation(new Array<number>(50).fill(100))).toBeLessThan(-DEVIATION_MAX);
  });
});
