import { describe, expect, it } from "vitest";
import { parseAddress } from "../../../../src/core/net/address";
import { prefixesIn } from "../../../../src/core/net/prefix";
import { givesOut, isInside, rangeIndex } from "../../../../src/addresses/topology/range-index";
import { prefixOf } from "../../../model/prefix-of";

const ranges = rangeIndex(prefixesIn(["10.0.0.0/16", "10.0.1.0/24", "10.1.0.0/31", "fd00::/64"]));

describe("ranges", () => {
  it.each([
    ["10.0.0.1", true],
    // the network address of the inner range, and an address of the outer one
    ["10.0.1.0", true],
    ["10.0.0.0", false],
    ["10.0.255.255", false],
    // a range without usable addresses
    ["10.1.0.1", false],
    ["10.2.0.1", false],
    ["fd00::ffff:ffff:ffff:ffff", true],
    ["fd00::", false],
  ])("ranges give out %s: %s", (text, want) => {
    const address = parseAddress(text);
    expect(address.ok && givesOut(ranges, address.value)).toBe(want);
  });

  it.each([
    ["10.0.1.0/24", true],
    ["10.0.0.0/16", true],
    ["10.0.2.0/25", true],
    ["10.0.0.0/15", false],
    ["10.2.0.0/24", false],
    ["fd00::/63", false],
  ])("ranges have %s inside: %s", (text, want) => {
    expect(isInside(ranges, prefixOf(text))).toBe(want);
  });
});
