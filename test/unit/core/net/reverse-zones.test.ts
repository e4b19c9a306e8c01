import { describe, expect, it } from "vitest";
import { reverseZonesOf } from "../../../../src/core/net/reverse-zones";
import { prefixOf } from "../../../model/prefix-of";

const zeros = (count: number): string => "0.".repeat(count);

describe("reverse zones", () => {
  it.each([
    ["10.96.0.0/24", ["0.96.10.in-addr.arpa"]],
    ["10.96.0.0/16", ["96.10.in-addr.arpa"]],
    ["10.0.0.0/8", ["10.in-addr.arpa"]],
    ["0.0.0.0/0", ["in-addr.arpa"]],
    ["10.96.0.0/15", ["96.10.in-addr.arpa", "97.10.in-addr.arpa"]],
    ["10.96.2.0/23", ["2.96.10.in-addr.arpa", "3.96.10.in-addr.arpa"]],
    ["192.0.2.254/31", ["254.2.0.192.in-addr.arpa", "255.2.0.192.in-addr.arpa"]],
    ["255.255.255.255/32", ["255.255.255.255.in-addr.arpa"]],
    ["fd00::/8", ["d.f.ip6.arpa"]],
    ["2001:db8::/32", ["8.b.d.0.1.0.0.2.ip6.arpa"]],
    ["2001:db8::/31", ["8.b.d.0.1.0.0.2.ip6.arpa", "9.b.d.0.1.0.0.2.ip6.arpa"]],
    ["2001:db8:0:ab00::/56", ["b.a.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"]],
    ["::/0", ["ip6.arpa"]],
    ["fd00::1/128", [`1.${zeros(29)}d.f.ip6.arpa`]],
  ])("%s: the zones of its octets or nibbles", (prefix, want) => {
    expect(reverseZonesOf(prefixOf(prefix))).toEqual(want);
  });

  it.each([
    ["10.0.0.0/9", 128, "0.10.in-addr.arpa", "127.10.in-addr.arpa"],
    ["10.96.0.128/25", 128, "128.0.96.10.in-addr.arpa", "255.0.96.10.in-addr.arpa"],
    ["10.96.0.0/12", 16, "96.10.in-addr.arpa", "111.10.in-addr.arpa"],
    ["128.0.0.0/1", 128, "128.in-addr.arpa", "255.in-addr.arpa"],
    ["8000::/1", 8, "8.ip6.arpa", "f.ip6.arpa"],
    ["fd00::/125", 8, `${zeros(30)}d.f.ip6.arpa`, `7.${zeros(29)}d.f.ip6.arpa`],
  ])("%s: %i zones, from %s to %s", (prefix, count, first, last) => {
    const zones = reverseZonesOf(prefixOf(prefix));
    expect([zones.length, new Set(zones).size, zones[0], zones.at(-1)]).toEqual([count, count, first, last]);
  });
});
