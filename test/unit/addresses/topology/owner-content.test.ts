import { describe, expect, it } from "vitest";
import { ownerContent } from "../../../../src/addresses/topology/owner-content";
import { PrefixIndex } from "../../../../src/addresses/topology/prefix-index";
import { storedPrefix, type NamedPrefix } from "../../../../src/addresses/topology/stored-prefix";

const named = (prefix: string): NamedPrefix => ({ prefix, parsed: storedPrefix(prefix) });

const content = (owned: string[], allocatable: string[]): ReturnType<typeof ownerContent> => {
  const index = new PrefixIndex(allocatable.map(named).map((value) => ({ prefix: value.parsed, value })));
  return ownerContent({ owned: owned.map(named), frozen: [], receiving: [], withStatic: true }, (prefix) => index.intersecting(prefix));
};

describe("ownerContent", () => {
  it("ranges that intersect owned segments: named, be they inside, around or equal", () => {
    const { owned, ranges } = content(
      ["10.0.1.0/24", "10.0.0.0/24"],
      ["10.0.0.0/16", "10.0.1.0/24", "10.0.1.128/25", "10.1.0.0/16", "fd00::/112"],
    );
    expect(owned).toEqual(["10.0.0.0/24", "10.0.1.0/24"]);
    expect(ranges).toEqual(["10.0.0.0/16", "10.0.1.0/24", "10.0.1.128/25"]);
  });

  it("prefix of several ServiceCIDRs: named once, so that a duplicate changes nothing for the owner", () => {
    expect(content(["10.0.0.0/24"], ["10.0.0.0/24", "10.0.0.0/24"])).toEqual(content(["10.0.0.0/24"], ["10.0.0.0/24"]));
  });

  it("input in another order: same content", () => {
    const one = content(["10.0.0.0/25", "fd00::/112"], ["10.0.0.0/24", "fd00::/64"]);
    const other = content(["fd00::/112", "10.0.0.0/25"], ["fd00::/64", "10.0.0.0/24"]);
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
    const none = (): NamedPrefix[] => [];
    const moving = (frozen: string[], handoffs: number[]) =>
      ownerContent({ owned: [], frozen, receiving: handoffs.map((handoff) => ({ handoff, prefixes: [] })), withStatic: true }, none);
    expect(moving(["10.0.1.0/24", "10.0.0.0/24"], [2, 1])).toEqual(moving(["10.0.0.0/24", "10.0.1.0/24"], [1, 2]));
  });
});
