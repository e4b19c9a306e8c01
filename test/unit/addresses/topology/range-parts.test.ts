import { describe, expect, it } from "vitest";
import { partsOfRanges } from "../../../../src/addresses/topology/range-parts";

describe("partsOfRanges", () => {
  it("overlapping ranges and owners: each owner has its usable addresses of every range, equal ranges once", () => {
    const ranges = ["10.0.0.0/23", "10.0.0.0/24", "10.0.0.0/24", "10.0.9.0/31", "fd00::/64"].map((prefix, i) => ({
      prefix,
      name: `n${i}`,
    }));
    const parts = partsOfRanges({
      epoch: 1,
      claims: [
        { prefix: "10.0.0.0/24", ownerUid: "a" },
        { prefix: "10.0.1.0/24", ownerUid: "b" },
        { prefix: "10.0.9.0/31", ownerUid: "b" },
        { prefix: "fd00::/64", ownerUid: "c" },
        { prefix: "10.7.0.0/24", ownerUid: "idle" },
      ],
      ranges,
      owners: [],
      free: [],
    });
    expect(parts.ranges).toEqual([
      { cidr: "10.0.0.0/23", size: 510n },
      { cidr: "10.0.0.0/24", size: 254n },
      { cidr: "10.0.9.0/31", size: 0n },
      { cidr: "fd00::/64", size: 2n ** 64n - 1n },
    ]);
    expect(Object.fromEntries(parts.byOwner)).toEqual({
      a: [
        { cidr: "10.0.0.0/23", first: "10.0.0.1", last: "10.0.0.255" },
        { cidr: "10.0.0.0/24", first: "10.0.0.1", last: "10.0.0.254" },
      ],
      b: [{ cidr: "10.0.0.0/23", first: "10.0.1.0", last: "10.0.1.254" }],
      c: [{ cidr: "fd00::/64", first: "fd00::1", last: "fd00::ffff:ffff:ffff:ffff" }],
      idle: [],
    });
  });
});
