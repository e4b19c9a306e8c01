import { describe, expect, it } from "vitest";
import { formatPrefix, lastOf, relation, type Prefix } from "../../../../src/core/net/prefix";
import { claimUnowned, largestOf, mergeSiblings } from "../../../../src/addresses/topology/claim";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { randomPrefix } from "./random-prefix";

describe("claimUnowned", () => {
  it.each([
    { name: "nothing is owned", wanted: ["10.0.0.0/24"], claims: [], want: ["10.0.0.0/24"] },
    { name: "equal", wanted: ["10.0.0.0/24"], claims: ["10.0.0.0/24"], want: [] },
    { name: "inside an owned one", wanted: ["10.0.0.64/26"], claims: ["10.0.0.0/24"], want: [] },
    { name: "around an owned one", wanted: ["10.0.0.0/24"], claims: ["10.0.0.64/26"], want: ["10.0.0.0/26", "10.0.0.128/25"] },
    { name: "one of two families is owned", wanted: ["10.0.0.0/24", "fd00::/112"], claims: ["10.0.0.0/16"], want: ["fd00::/112"] },
    { name: "other families do not meet", wanted: ["fd00::/112"], claims: ["0.0.0.0/0"], want: ["fd00::/112"] },
    {
      name: "what is left has no text: IPv4-mapped",
      wanted: ["::/80"],
      claims: [
        "::/81",
        "::8000:0:0/82",
        "::c000:0:0/83",
        "::e000:0:0/84",
        "::f000:0:0/85",
        "::f800:0:0/86",
        "::fc00:0:0/87",
        "::fe00:0:0/88",
        "::ff00:0:0/89",
        "::ff80:0:0/90",
        "::ffc0:0:0/91",
        "::ffe0:0:0/92",
        "::fff0:0:0/93",
        "::fff8:0:0/94",
        "::fffc:0:0/95",
        "::fffe:0:0/96",
      ],
      want: [],
    },
    { name: "around two", wanted: ["10.0.0.0/30"], claims: ["10.0.0.0/32", "10.0.0.3/32"], want: ["10.0.0.1/32", "10.0.0.2/32"] },
  ])("$name: claims the addresses that nobody owns", ({ wanted, claims, want }) => {
    expect(claimUnowned(wanted.map(storedPrefix), claims.map(storedPrefix)).map(formatPrefix)).toEqual(want);
  });

  it("random creations in any order: every address has one owner for ever", () => {
    const seed = 4242;
    const random = seededRandom(seed);
    for (let history = 0; history < 60; history++) {
      const model = new Map<string, number>();
      let claims: { prefix: Prefix; owner: number }[] = [];
      for (let owner = 0; owner < 12; owner++) {
        const wanted = [randomPrefix(random)];
        for (const address of addressesOf(wanted)) if (!model.has(address)) model.set(address, owner);
        const added = claimUnowned(
          wanted,
          claims.map((claim) => claim.prefix),
        );
        claims = [...claims, ...added.map((prefix) => ({ prefix, owner }))];
      }
      const owned = claims.flatMap((claim) => addressesOf([claim.prefix]).map((address) => [address, claim.owner] as const));
      expect(new Map(owned), `seed ${seed}, history ${history}`).toEqual(model);
      expect(owned.length, `seed ${seed}, history ${history}: claims are disjoint`).toBe(model.size);
      expect(claims.every((a) => claims.every((b) => a === b || relation(a.prefix, b.prefix) === "disjoint"))).toBe(true);
    }
  });
});

function addressesOf(prefixes: Prefix[]): string[] {
  return prefixes.flatMap((prefix) => {
    const count = Number(lastOf(prefix) - prefix.base) + 1;
    return Array.from({ length: count }, (_, i) => `${prefix.family} ${prefix.base + BigInt(i)}`);
  });
}

describe("largestOf", () => {
  it.each<[string, string[], number, string[]]>([
    ["as many as may be: all", ["10.0.0.0/24", "10.0.2.0/23"], 2, ["10.0.0.0/24", "10.0.2.0/23"]],
    ["one too many: the smallest is left out", ["10.0.0.0/24", "10.0.1.0/28", "10.0.2.0/23"], 2, ["10.0.0.0/24", "10.0.2.0/23"]],
    ["equal ones: the first, in address order", ["10.0.0.0/26", "10.0.1.0/24", "10.0.3.0/26"], 2, ["10.0.0.0/26", "10.0.1.0/24"]],
    ["two families: by addresses, not by the length of the prefix", ["10.0.0.0/8", "fd00::/64"], 1, ["fd00::/64"]],
    ["no room: none", ["10.0.0.0/24"], -1, []],
  ])("%s", (_, prefixes, max, want) => {
    expect(largestOf(prefixes.map(storedPrefix), max).map(formatPrefix)).toEqual(want);
  });
});

describe("mergeSiblings", () => {
  it.each<[string, string[], [string, string[]][]]>([
    ["none", ["10.0.0.0/24", "10.0.2.0/24"], []],
    ["two halves, in any order", ["10.0.1.0/24", "10.0.0.0/24"], [["10.0.0.0/23", ["10.0.0.0/24", "10.0.1.0/24"]]]],
    ["neighbours that are no halves of one", ["10.0.1.0/24", "10.0.2.0/24"], []],
    [
      "all the way up",
      ["10.0.0.0/24", "10.0.1.0/25", "10.0.1.128/25", "10.0.2.0/23"],
      [["10.0.0.0/22", ["10.0.0.0/24", "10.0.1.0/25", "10.0.1.128/25", "10.0.2.0/23"]]],
    ],
    [
      "families apart",
      ["0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1"],
      [
        ["0.0.0.0/0", ["0.0.0.0/1", "128.0.0.0/1"]],
        ["::/0", ["::/1", "8000::/1"]],
      ],
    ],
    ["a whole family has no sibling", ["0.0.0.0/0", "::/0"], []],
  ])("%s: siblings are merged, the addresses stay", (_, claims, merged) => {
    const named = claims.map((prefix) => ({ prefix, parsed: storedPrefix(prefix) }));
    expect(mergeSiblings(named)).toEqual(merged.map(([prefix, parts]) => ({ merged: prefix, parts })));
  });
});
