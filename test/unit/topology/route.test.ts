import { describe, expect, it } from "vitest";
import type { Topology } from "../../../src/rpc/coordinator";
import { drawOwner, ownerOf } from "../../../src/topology/route";
import { seededRandom } from "../../support/seeded-random";

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
    free: [],
    ...overrides,
  };
}

function draws(of: Topology, count: number, family: "IPv4" | "IPv6" = "IPv4"): Record<string, number> {
  const random = seededRandom(11);
  const seen: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const owner = drawOwner(of, family, random, new Set()) ?? "nobody";
    seen[owner] = (seen[owner] ?? 0) + 1;
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
  ])("$address", ({ address, want }) => {
    expect(ownerOf(topology(), address)).toBe(want);
  });
});

describe("drawOwner", () => {
  it("draws in proportion to the free addresses of the dynamic band", () => {
    const free = [
      { ownerUid: "a", IPv4: { dynamic: 300, static: 0 }, IPv6: NONE },
      { ownerUid: "b", IPv4: { dynamic: 100, static: 1_000 }, IPv6: NONE },
    ];
    const seen = draws(topology({ free }), 4_000);
    // 3,000 expected; the standard deviation is 27.
    expect(seen.a).toBeGreaterThan(2_850);
    expect(seen.a).toBeLessThan(3_150);
  });

  it("never enters a static band while some owner has a dynamic address", () => {
    const free = [
      { ownerUid: "a", IPv4: { dynamic: 0, static: 200 }, IPv6: NONE },
      { ownerUid: "b", IPv4: { dynamic: 1, static: 0 }, IPv6: NONE },
    ];
    expect(draws(topology({ free }), 100)).toEqual({ b: 100 });
  });

  it("enters the static bands in proportion when no dynamic address is left", () => {
    const free = [
      { ownerUid: "a", IPv4: { dynamic: 0, static: 5 }, IPv6: NONE },
      { ownerUid: "b", IPv4: NONE, IPv6: NONE },
    ];
    expect(draws(topology({ free }), 100)).toEqual({ a: 100 });
  });

  it("still asks owners whose counts say full: counts are hints", () => {
    const free = ["a", "b"].map((ownerUid) => ({ ownerUid, IPv4: NONE, IPv6: NONE }));
    expect(Object.keys(draws(topology({ free }), 100)).sort()).toEqual(["a", "b"]);
  });

  it("follows counts that are updated in place", () => {
    const full = { dynamic: 0, static: 0 };
    const free = [
      { ownerUid: "a", IPv4: { dynamic: 10, static: 0 }, IPv6: NONE },
      { ownerUid: "b", IPv4: full, IPv6: NONE },
    ];
    const value = topology({ free });
    expect(draws(value, 10)).toEqual({ a: 10 });
    value.free[0] = { ownerUid: "a", IPv4: NONE, IPv6: NONE };
    value.free[1] = { ownerUid: "b", IPv4: { dynamic: 3, static: 0 }, IPv6: NONE };
    expect(draws(value, 10)).toEqual({ b: 10 });
  });

  it("weighs an owner without counts by the size of what it may give out", () => {
    const claims = [
      { prefix: "10.0.0.0/24", ownerUid: "a" },
      { prefix: "10.0.1.0/28", ownerUid: "b" },
    ];
    const ranges = claims.map(({ prefix }) => ({ prefix, name: prefix }));
    const seen = draws(topology({ claims, ranges }), 2_000);
    expect((seen.a ?? 0) / 2_000).toBeGreaterThan(0.9);
    expect(seen.b).toBeGreaterThan(0);
  });

  it("excludes owners and those without an allocatable address of the family", () => {
    const random = seededRandom(3);
    expect(draws(topology(), 20, "IPv6")).toEqual({ a: 20 });
    expect(drawOwner(topology(), "IPv4", random, new Set(["a"]))).toBe("b");
    expect(drawOwner(topology(), "IPv4", random, new Set(["a", "b"]))).toBeUndefined();
    expect(drawOwner(topology({ ranges: [{ prefix: "10.0.1.0/24", name: "second" }] }), "IPv4", random, new Set())).toBe("b");
    expect(drawOwner(topology({ ranges: [] }), "IPv4", random, new Set())).toBeUndefined();
    expect(drawOwner(topology({ ranges: [{ prefix: "10.0.0.0/31", name: "tiny" }] }), "IPv4", random, new Set())).toBeUndefined();
  });
});
