import { describe, expect, it } from "vitest";
import { relation } from "../../../../src/core/net/prefix";
import { movesOf, remaindersOf } from "../../../../src/addresses/topology/moves";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";

function moves(claims: string[], covers: [prefix: string, uid: string][]): [prefix: string, uid: string, claim: string][] {
  const named = (prefix: string) => ({ prefix, parsed: storedPrefix(prefix) });
  const found = movesOf(claims.map(named), (segment) =>
    covers.map(([prefix, uid]) => ({ ...named(prefix), uid })).filter(({ parsed }) => relation(parsed, segment) !== "disjoint"),
  );
  return found.map(({ prefix, targetUid, claim }) => [prefix, targetUid, claim]);
}

describe("remaindersOf", () => {
  const left = (claims: string[], names: string[]) => {
    const named = (prefix: string) => ({ prefix, parsed: storedPrefix(prefix) });
    return remaindersOf(claims.map(named), (segment) =>
      names.map((prefix) => ({ ...named(prefix), uid: "" })).filter(({ parsed }) => relation(parsed, segment) !== "disjoint"),
    );
  };

  it.each<{ name: string; claims: string[]; names: string[]; want: unknown[] }>([
    { name: "named as a whole, or by more", claims: ["10.0.0.0/24", "10.0.1.0/24"], names: ["10.0.0.0/24", "10.0.0.0/16"], want: [] },
    {
      name: "named by nobody",
      claims: ["10.0.0.0/24"],
      names: ["10.0.1.0/24"],
      want: [{ claim: "10.0.0.0/24", named: [], gaps: [{ first: "10.0.0.0", last: "10.0.0.255" }] }],
    },
    {
      name: "parts of it, one in the other",
      claims: ["10.0.0.0/24"],
      names: ["10.0.0.192/26", "10.0.0.16/28", "10.0.0.200/29"],
      want: [
        {
          claim: "10.0.0.0/24",
          named: ["10.0.0.16/28", "10.0.0.192/26"],
          gaps: [
            { first: "10.0.0.0", last: "10.0.0.15" },
            { first: "10.0.0.32", last: "10.0.0.191" },
          ],
        },
      ],
    },
    { name: "all parts of it", claims: ["fd00::/64"], names: ["fd00::/65", "fd00::8000:0:0:0/65"], want: [] },
  ])("$name: remains what no ServiceCIDR names", ({ claims, names, want }) => {
    expect(left(claims, names)).toEqual(want);
  });
});

describe("movesOf", () => {
  it("ranges around a segment: it goes whole to the largest", () => {
    const covers: [string, string][] = [
      ["10.0.0.0/24", "same"],
      ["10.0.0.0/8", "large"],
      ["10.0.0.0/16", "middle"],
    ];
    expect(moves(["10.0.0.0/24"], covers)).toEqual([["10.0.0.0/24", "large", "10.0.0.0/24"]]);
  });

  it("equal ranges: always the same one", () => {
    const covers: [string, string][] = [
      ["10.0.0.0/16", "b"],
      ["10.0.0.0/16", "a"],
    ];
    expect(moves(["10.0.0.0/24"], covers)).toEqual(moves(["10.0.0.0/24"], covers.toReversed()));
  });

  it("ranges inside a segment: the largest take their parts, in address order; the rest has no move", () => {
    const covers: [string, string][] = [
      ["10.0.0.128/25", "high"],
      ["10.0.0.0/27", "inner"],
      ["10.0.0.0/26", "low"],
    ];
    expect(moves(["10.0.0.0/24", "fd00::/64"], covers)).toEqual([
      ["10.0.0.0/26", "low", "10.0.0.0/24"],
      ["10.0.0.128/25", "high", "10.0.0.0/24"],
    ]);
  });

  it("segment that nobody covers: no move", () => {
    expect(moves(["10.0.0.0/24"], [["10.0.1.0/24", "other"]])).toEqual([]);
  });
});
