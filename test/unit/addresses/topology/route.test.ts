import { describe, expect, it } from "vitest";
import { parseAddress } from "../../../../src/core/net/address";
import { bandsOf } from "../../../../src/core/net/band";
import { FAMILIES } from "../../../../src/core/net/family";
import { type Interval, intersect, normalize, sizeOf } from "../../../../src/core/net/interval";
import { formatPrefix, lastOf } from "../../../../src/core/net/prefix";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import { claimUnowned } from "../../../../src/addresses/topology/claim";
import { bandOf, type DrawChoice, drawOwner, ownerOf, rangeOf, sizesOf } from "../../../../src/addresses/topology/route";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { randomPrefix } from "./random-prefix";

const NONE = { dynamic: 0, static: 0 };

function topology(overrides: Partial<Topology> = {}): Topology {
  return {
    epoch: 7,
    claims: [
      { prefix: "10.0.0.0/24", ownerUid: "a" },
      { prefix: "10.0.1.0/24", ownerUid: "b" },
      { prefix: "fd00::/112", ownerUid: "a" },
    ],
    ranges: [
      { prefix: "10.0.0.0/24", name: "first" },
      { prefix: "10.0.1.0/24", name: "second" },
      { prefix: "fd00::/112", name: "first" },
    ],
    owners: [
      { uid: "a", epoch: 7 },
      { uid: "b", epoch: 7 },
    ],
    free: [],
    ...overrides,
  };
}

type Counts = Record<string, { dynamic: number; static: number }>;

/** Draws with these counts; an owner without counts is as free as it is large. */
function choice(counts: Counts = {}, full: { dynamic?: string[]; static?: string[] } = {}): DrawChoice {
  return {
    random: seededRandom(11),
    freeOf: (ownerUid, _family, size) => counts[ownerUid] ?? size,
    full: { dynamic: new Set(full.dynamic), static: new Set(full.static) },
  };
}

/** How often each owner was drawn for which band. */
function draws(of: Topology, count: number, chosen: DrawChoice = choice(), family: "IPv4" | "IPv6" = "IPv4"): Record<string, number> {
  const seen: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const draw = drawOwner(of, family, chosen);
    const key = draw ? `${draw.ownerUid} ${draw.band}` : "nobody";
    seen[key] = (seen[key] ?? 0) + 1;
  }
  return seen;
}

describe("ownerOf", () => {
  it.each([
    { address: "10.0.0.0", want: "a" },
    { address: "10.0.0.77", want: "a" },
    { address: "10.0.1.255", want: "b" },
    { address: "10.0.2.0", want: undefined },
    { address: "fd00::9", want: "a" },
    { address: "fd01::9", want: undefined },
    { address: "nonsense", want: undefined },
  ])("$address: the owner of its claim, if any", ({ address, want }) => {
    expect(ownerOf(topology(), address)).toBe(want);
  });
});

describe("drawOwner", () => {
  it("draw: in proportion to the free addresses of the dynamic band", () => {
    const free = [600, 300, 80, 20, 0];
    const owners = free.map((_, i) => `owner-${i}`);
    const claims = owners.map((ownerUid, i) => ({ ownerUid, prefix: `10.0.${i * 4}.0/22` }));
    const ranges = claims.map(({ prefix }) => ({ prefix, name: prefix }));
    const counts = Object.fromEntries(owners.map((uid, i) => [uid, { dynamic: free[i] ?? 0, static: 64 }]));
    const seen = draws(topology({ claims, ranges }), 20_000, choice(counts));
    const statistic = owners.reduce((total, uid, i) => {
      const expected = ((free[i] ?? 0) / 1_000) * 20_000;
      return expected === 0 ? total : total + ((seen[`${uid} dynamic`] ?? 0) - expected) ** 2 / expected;
    }, 0);
    // Chi-square with three degrees of freedom: beyond 21.1 once in 10,000.
    expect(statistic).toBeLessThan(21.1);
    expect(seen["owner-4 dynamic"]).toBeUndefined();
  });

  it("dynamic address left at some owner: no static band is drawn", () => {
    const counts = { a: { dynamic: 0, static: 200 }, b: { dynamic: 1, static: 0 } };
    expect(draws(topology(), 100, choice(counts))).toEqual({ "b dynamic": 100 });
  });

  it("no dynamic address left: static bands are drawn in proportion", () => {
    const counts = { a: { dynamic: 0, static: 5 }, b: NONE };
    expect(draws(topology(), 100, choice(counts))).toEqual({ "a static": 100 });
    const said = { a: { dynamic: 9, static: 5 }, b: { dynamic: 9, static: 0 } };
    expect(draws(topology(), 100, choice(said, { dynamic: ["a", "b"] }))).toEqual({ "a static": 100 });
  });

  it("all counts say full: no owner", () => {
    expect(draws(topology(), 10, choice({ a: NONE, b: NONE }))).toEqual({ nobody: 10 });
  });

  it("owner without counts: weighed by the addresses that it may give out, ranges over one claim as their union", () => {
    const claims = [
      { prefix: "10.0.0.0/24", ownerUid: "a" },
      { prefix: "10.0.1.0/28", ownerUid: "b" },
    ];
    const ranges = ["10.0.0.0/26", "10.0.0.64/26", "10.0.1.0/28"].map((prefix) => ({ prefix, name: prefix }));
    expect(sizesOf(topology({ claims, ranges }), "a", "IPv4")).toEqual({ dynamic: 2 * 46, static: 2 * 16 });
    expect(sizesOf(topology({ claims, ranges }), "b", "IPv4")).toEqual({ dynamic: 14, static: 0 });
    const outer = { prefix: "10.0.0.0/24", name: "outer" };
    expect(sizesOf(topology({ claims, ranges: [...ranges, outer] }), "a", "IPv4")).toEqual({ dynamic: 254 - 32, static: 32 });
    const seen = draws(topology({ claims, ranges }), 2_000);
    expect((seen["a dynamic"] ?? 0) / 2_000).toBeGreaterThan(0.8);
    expect(seen["b dynamic"]).toBeGreaterThan(0);
  });

  it("segment that is one whole range: its size is that of its bands", () => {
    for (const [base, width] of [
      ["10.0.0.0", 32],
      ["fd00::", 128],
      ["::", 128],
    ] as const) {
      for (let length = base === "::" ? 0 : 8; length <= width; length++) {
        const prefix = `${base}/${length}`;
        const family = base === "10.0.0.0" ? "IPv4" : "IPv6";
        const whole = topology({ claims: [{ prefix, ownerUid: "a" }], ranges: [{ prefix, name: "a" }] });
        const bands = bandsOf([storedPrefix(prefix)]);
        const want = { dynamic: Number(sizeOf(bands.dynamic)), static: Number(sizeOf(bands.static)) };
        expect([prefix, sizesOf(whole, "a", family)]).toEqual([prefix, want]);
      }
    }
  });

  const seed = 20_261_122;
  it(`segments among overlapping ranges: sized by the bands inside (seed ${seed})`, () => {
    const random = seededRandom(seed);
    for (let round = 0; round < 300; round++) {
      const ranges = Array.from({ length: 1 + random.below(6) }, () => randomPrefix(random));
      const claims = claimUnowned([randomPrefix(random), randomPrefix(random), randomPrefix(random)], [randomPrefix(random)]);
      const withoutBands = random.below(4) === 0;
      const some = topology({
        claims: claims.map((prefix) => ({ prefix: formatPrefix(prefix), ownerUid: "a" })),
        ranges: ranges.map((prefix) => ({ prefix: formatPrefix(prefix), name: "some" })),
        ...(withoutBands && { withoutBands }),
      });
      for (const family of FAMILIES) {
        const bands = bandsOf(
          ranges.filter((range) => range.family === family),
          !withoutBands,
        );
        const inside = claims.filter((claim) => claim.family === family).map((claim) => ({ first: claim.base, last: lastOf(claim) }));
        const sizeIn = (band: readonly Interval[]): number => Number(sizeOf(intersect(band, normalize(inside))));
        const want = { dynamic: sizeIn(bands.dynamic), static: sizeIn(bands.static) };
        expect(sizesOf(some, "a", family), `round ${round}`).toEqual(want);
      }
    }
  });

  it("sizes beyond 2^53: keep their proportion", () => {
    const claims = [
      { prefix: "fd00::/62", ownerUid: "a" },
      { prefix: "fd01::/64", ownerUid: "b" },
    ];
    const seen = draws(topology({ claims, ranges: claims.map(({ prefix }) => ({ prefix, name: prefix })) }), 5_000, choice(), "IPv6");
    // 4,000 expected of a; the standard deviation is 28.
    expect(Math.abs((seen["a dynamic"] ?? 0) - 4_000)).toBeLessThan(5 * 28);
  });

  it("owners that are full, or have no allocatable address of the family: not drawn", () => {
    expect(draws(topology(), 20, choice(), "IPv6")).toEqual({ "a dynamic": 20 });
    expect(draws(topology(), 20, choice({}, { dynamic: ["a"] }))).toEqual({ "b dynamic": 20 });
    expect(draws(topology(), 1, choice({}, { dynamic: ["a", "b"], static: ["a", "b"] }))).toEqual({ nobody: 1 });
    expect(draws(topology({ ranges: [{ prefix: "10.0.1.0/24", name: "second" }] }), 20)).toEqual({ "b dynamic": 20 });
    expect(draws(topology({ ranges: [] }), 1)).toEqual({ nobody: 1 });
    expect(draws(topology({ ranges: [{ prefix: "10.0.0.0/31", name: "tiny" }] }), 1)).toEqual({ nobody: 1 });
  });
});

describe("rangeOf and bandOf", () => {
  const ranges = ["10.0.0.0/24", "10.0.0.0/26", "10.0.1.0/24", "fd00::/112"].map((prefix) => ({ prefix, name: prefix }));
  it.each([
    { address: "10.0.0.20", range: "10.0.0.0/26", scope: "dynamic" },
    { address: "10.0.0.16", range: "10.0.0.0/26", scope: "static" },
    { address: "10.0.0.63", range: "10.0.0.0/24", scope: "dynamic" },
    { address: "10.0.0.200", range: "10.0.0.0/24", scope: "dynamic" },
    { address: "fd00::1", range: "fd00::/112", scope: "static" },
  ])("$address: the innermost range is $range, the band $scope", ({ address, range, scope }) => {
    const parsed = parseAddress(address);
    if (!parsed.ok) throw new Error(address);
    expect(rangeOf(topology({ ranges }), "a", parsed.value.family, address)).toBe(range);
    expect(bandOf(topology({ ranges }), parsed.value.family, parsed.value.value)).toBe(scope);
  });

  it("address that no range gives out: no band", () => {
    expect(bandOf(topology(), "IPv4", 0x0a00_0000n)).toBeUndefined();
  });
});
