import { describe, expect, it } from "vitest";
import {
  containsAddress,
  formatPrefix,
  halves,
  lastOf,
  parsePrefix,
  type Prefix,
  prefixAround,
  prefixErrorText,
  prefixesIn,
  relation,
} from "../../../../src/core/net/prefix";
import { prefixOf } from "../../../model/prefix-of";

describe("parsePrefix: accepts canonical text", () => {
  it.each(["0.0.0.0/0", "10.0.0.0/8", "10.96.0.0/12", "192.168.0.1/32", "::/0", "fd00:10:96::/112", "2001:db8::/64", "::1/128"])(
    "%s: family, address and length",
    (text) => {
      expect(formatPrefix(prefixOf(text))).toBe(text);
    },
  );
});

it("prefixesIn: the canonical texts, in their order", () => {
  const texts = ["fd00::/64", "10.0.0.1/8", "10.0.0.0/8", "FD00::/64", "", "no prefix", "10.0.0.0/24"];
  expect(prefixesIn(texts).map(formatPrefix)).toEqual(["fd00::/64", "10.0.0.0/8", "10.0.0.0/24"]);
});

describe("parsePrefix: refuses with upstream's text", () => {
  const unparsable = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  const zeros = "must not have leading 0s in IP or prefix length";
  const mapped = "must not have an IPv4-mapped IPv6 address";
  const hostBits = "must not have bits set beyond the prefix length";
  it.each([
    ["", unparsable],
    ["10.0.0.0", unparsable],
    ["10.0.0.0/", unparsable],
    ["/8", unparsable],
    ["10.0.0.0/33", unparsable],
    ["10.0.0.0/-1", unparsable],
    ["10.0.0.0/+8", unparsable],
    ["10.0.0.0/8 ", unparsable],
    ["10.0.0.0/8/8", unparsable],
    ["10.0.0.0/255.0.0.0", unparsable],
    ["10.0.0/8", unparsable],
    ["0x0a.0.0.0/8", unparsable],
    ["fd00::/129", unparsable],
    ["fe80::%eth0/64", unparsable],
    ["010.0.0.0/8", zeros],
    ["10.0.0.0/08", zeros],
    ["fd00::/064", zeros],
    ["::ffff:010.0.0.0/104", zeros],
    ["::ffff:10.0.0.0/104", mapped],
    ["::ffff:10.0.0.1/104", mapped],
    ["10.0.0.1/8", hostBits],
    ["192.168.0.1/31", hostBits],
    ["fd00::1/64", hostBits],
    ["FD00:1234::/64", 'must be in canonical form ("fd00:1234::/64")'],
    ["fd00:1234:0:0:0:0:0:0/64", 'must be in canonical form ("fd00:1234::/64")'],
  ])("%j: %s", (text, want) => {
    const parsed = parsePrefix(text);
    expect(parsed.ok ? "accepted" : prefixErrorText(parsed.error)).toBe(want);
  });
});

describe("prefix arithmetic", () => {
  it.each([
    ["10.0.0.0/8", "10.0.0.0/8", "equal"],
    ["10.0.0.0/8", "10.1.0.0/16", "contains"],
    ["10.1.0.0/16", "10.0.0.0/8", "inside"],
    ["10.0.0.0/9", "10.128.0.0/9", "disjoint"],
    ["0.0.0.0/0", "255.255.255.255/32", "contains"],
    ["0.0.0.0/0", "::/0", "disjoint"],
    ["::/0", "fd00::/64", "contains"],
    ["::/96", "0.0.0.0/0", "disjoint"],
  ])("relation of %s to %s: %s", (a, b, want) => {
    expect(relation(prefixOf(a), prefixOf(b))).toBe(want);
  });

  it("lastOf and containsAddress: both ends belong to the prefix", () => {
    const prefix = prefixOf("10.0.0.0/30");
    expect(lastOf(prefix)).toBe(0x0a000003n);
    expect([0x09ffffffn, 0x0a000000n, 0x0a000003n, 0x0a000004n].map((address) => containsAddress(prefix, "IPv4", address))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(containsAddress(prefix, "IPv6", 0x0a000001n)).toBe(false);
    expect(lastOf(prefixOf("::/0"))).toBe(2n ** 128n - 1n);
  });

  it("halves: the lower and the upper one; of a single address: none", () => {
    const texts = (prefix: Prefix) => halves(prefix).map(formatPrefix);
    expect(texts(prefixOf("10.0.0.0/8"))).toEqual(["10.0.0.0/9", "10.128.0.0/9"]);
    expect(texts(prefixOf("::/0"))).toEqual(["::/1", "8000::/1"]);
    expect(texts(prefixOf("::2/127"))).toEqual(["::2/128", "::3/128"]);
    expect(() => halves(prefixOf("10.0.0.1/32"))).toThrow("cannot be cut");
  });

  it("prefixAround an address: the aligned prefix", () => {
    expect(formatPrefix(prefixAround("IPv4", 0x0a636363n, 12))).toBe("10.96.0.0/12");
    expect(formatPrefix(prefixAround("IPv6", 5n, 0))).toBe("::/0");
  });
});
