import { describe, expect, it } from "vitest";
import { formatAddress, parseAddress } from "../../../../src/core/net/address";
import { bandOffset, bandsOf, dynamicBandOf, staticBandOf } from "../../../../src/core/net/band";
import { type Interval, memberAt, normalize, sizeOf, subtract } from "../../../../src/core/net/interval";
import { containsPrefix, IPV4_MAPPED, lastOf, type Prefix, prefixAround } from "../../../../src/core/net/prefix";
import { isUsableIn, usableOf, usableSizeOf } from "../../../../src/core/net/usable";
import { prefixOf } from "../../../model/prefix-of";
import { upstreamRow } from "../../../conformance/upstream-row";

function text(prefix: Prefix, interval: Interval | undefined): string {
  return interval === undefined ? "none" : `${formatAddress(prefix.family, interval.first)}-${formatAddress(prefix.family, interval.last)}`;
}

upstreamRow("Test_hostsPerNetwork, Test_calculateRangeOffset", () => {
  const rows: [cidr: string, usable: string, size: bigint, offset: number, staticBand: string, dynamicBand: string][] = [
    ["10.0.0.5/32", "none", 0n, 0, "none", "none"],
    ["10.0.0.4/31", "none", 0n, 0, "none", "none"],
    ["10.0.0.0/30", "10.0.0.1-10.0.0.2", 2n, 0, "none", "10.0.0.1-10.0.0.2"],
    ["10.0.0.0/29", "10.0.0.1-10.0.0.6", 6n, 0, "none", "10.0.0.1-10.0.0.6"],
    ["10.0.0.0/28", "10.0.0.1-10.0.0.14", 14n, 0, "none", "10.0.0.1-10.0.0.14"],
    ["10.0.0.0/27", "10.0.0.1-10.0.0.30", 30n, 16, "10.0.0.1-10.0.0.16", "10.0.0.17-10.0.0.30"],
    ["10.0.0.0/26", "10.0.0.1-10.0.0.62", 62n, 16, "10.0.0.1-10.0.0.16", "10.0.0.17-10.0.0.62"],
    ["10.0.0.0/25", "10.0.0.1-10.0.0.126", 126n, 16, "10.0.0.1-10.0.0.16", "10.0.0.17-10.0.0.126"],
    ["10.0.0.0/24", "10.0.0.1-10.0.0.254", 254n, 16, "10.0.0.1-10.0.0.16", "10.0.0.17-10.0.0.254"],
    ["10.0.0.0/23", "10.0.0.1-10.0.1.254", 510n, 32, "10.0.0.1-10.0.0.32", "10.0.0.33-10.0.1.254"],
    ["10.0.0.0/22", "10.0.0.1-10.0.3.254", 1022n, 64, "10.0.0.1-10.0.0.64", "10.0.0.65-10.0.3.254"],
    ["10.0.0.0/21", "10.0.0.1-10.0.7.254", 2046n, 128, "10.0.0.1-10.0.0.128", "10.0.0.129-10.0.7.254"],
    ["10.0.0.0/20", "10.0.0.1-10.0.15.254", 4094n, 256, "10.0.0.1-10.0.1.0", "10.0.1.1-10.0.15.254"],
    ["10.1.0.0/16", "10.1.0.1-10.1.255.254", 65534n, 256, "10.1.0.1-10.1.1.0", "10.1.1.1-10.1.255.254"],
    ["10.0.0.0/12", "10.0.0.1-10.15.255.254", 2n ** 20n - 2n, 256, "10.0.0.1-10.0.1.0", "10.0.1.1-10.15.255.254"],
    ["10.0.0.0/8", "10.0.0.1-10.255.255.254", 2n ** 24n - 2n, 256, "10.0.0.1-10.0.1.0", "10.0.1.1-10.255.255.254"],
    ["0.0.0.0/2", "0.0.0.1-63.255.255.254", 2n ** 30n - 2n, 256, "0.0.0.1-0.0.1.0", "0.0.1.1-63.255.255.254"],
    ["0.0.0.0/1", "0.0.0.1-127.255.255.254", 2n ** 31n - 2n, 0, "none", "0.0.0.1-127.255.255.254"],
    ["0.0.0.0/0", "0.0.0.1-255.255.255.254", 2n ** 32n - 2n, 0, "none", "0.0.0.1-255.255.255.254"],
    ["fd00::5/128", "none", 0n, 0, "none", "none"],
    ["fd00::4/127", "fd00::5-fd00::5", 1n, 0, "none", "fd00::5-fd00::5"],
    ["fd00::/126", "fd00::1-fd00::3", 3n, 0, "none", "fd00::1-fd00::3"],
    ["fd00::/125", "fd00::1-fd00::7", 7n, 0, "none", "fd00::1-fd00::7"],
    ["fd00::/124", "fd00::1-fd00::f", 15n, 0, "none", "fd00::1-fd00::f"],
    ["fd00::/123", "fd00::1-fd00::1f", 31n, 16, "fd00::1-fd00::10", "fd00::11-fd00::1f"],
    ["fd00::/122", "fd00::1-fd00::3f", 63n, 16, "fd00::1-fd00::10", "fd00::11-fd00::3f"],
    ["fd00::/120", "fd00::1-fd00::ff", 255n, 16, "fd00::1-fd00::10", "fd00::11-fd00::ff"],
    ["fd00::/118", "fd00::1-fd00::3ff", 1023n, 64, "fd00::1-fd00::40", "fd00::41-fd00::3ff"],
    ["fd00::/116", "fd00::1-fd00::fff", 4095n, 256, "fd00::1-fd00::100", "fd00::101-fd00::fff"],
    ["fd00::/112", "fd00::1-fd00::ffff", 65535n, 256, "fd00::1-fd00::100", "fd00::101-fd00::ffff"],
    ["fd00::/65", "fd00::1-fd00::7fff:ffff:ffff:ffff", 2n ** 63n - 1n, 256, "fd00::1-fd00::100", "fd00::101-fd00::7fff:ffff:ffff:ffff"],
    ["fd00::/64", "fd00::1-fd00::ffff:ffff:ffff:ffff", 2n ** 64n - 1n, 256, "fd00::1-fd00::100", "fd00::101-fd00::ffff:ffff:ffff:ffff"],
  ];
  it.each(rows)("%s: usable addresses and bands as upstream", (cidr, usable, size, offset, staticBand, dynamicBand) => {
    const prefix = prefixOf(cidr);
    expect(text(prefix, usableOf(prefix))).toBe(usable);
    expect(usableSizeOf(prefix)).toBe(size);
    expect(bandOffset(prefix)).toBe(offset);
    expect(text(prefix, staticBandOf(prefix))).toBe(staticBand);
    expect(text(prefix, dynamicBandOf(prefix))).toBe(dynamicBand);
  });

  const lengths = [
    ...Array.from({ length: 33 }, (_, length) => ({ family: "IPv4" as const, width: 32, length })),
    ...Array.from({ length: 129 }, (_, length) => ({ family: "IPv6" as const, width: 128, length })),
  ];
  it.each(lengths)("$family /$length: the bands are what is usable, cut at the offset", ({ family, width, length }) => {
    const prefix = prefixAround(family, 1n << BigInt(width - 3), length);
    const usable = usableOf(prefix);
    const size = usableSizeOf(prefix);
    const hosts = 2n ** BigInt(width - length);
    expect(size).toBe(hosts - (family === "IPv4" ? 2n : 1n) > 0n ? hosts - (family === "IPv4" ? 2n : 1n) : 0n);
    expect(usable !== undefined).toBe(size > 0n);
    const overflow = family === "IPv4" && length <= 1;
    const sixteenth = hosts / 16n > 256n ? 256 : Math.max(16, Number(hosts / 16n));
    expect(bandOffset(prefix)).toBe(hosts <= 16n || overflow ? 0 : sixteenth);
    const bands = bandsOf([prefix]);
    expect(sizeOf(bands.static)).toBe(BigInt(bandOffset(prefix)));
    const withoutText =
      family === "IPv6" && containsPrefix(prefix, IPV4_MAPPED) ? [{ first: IPV4_MAPPED.base, last: lastOf(IPV4_MAPPED) }] : [];
    expect(normalize([...bands.static, ...bands.dynamic])).toEqual(subtract(usable ? [usable] : [], withoutText));
  });

  it.each(["::/0", "::/64", "::/80", "::fffe:0:0/95"])("%s: no IPv4-mapped address is given out", (cidr) => {
    const { dynamic } = bandsOf([prefixOf(cidr)]);
    expect(memberAt(dynamic, 0xffff_0000_0000n)).toBeUndefined();
    expect(memberAt(dynamic, 0xffff_ffff_ffffn)).toBeUndefined();
    expect(memberAt(dynamic, 0xfffe_ffff_ffffn)).toBeDefined();
    expect(sizeOf(dynamic)).toBe(usableSizeOf(prefixOf(cidr)) - 256n - 2n ** 32n);
  });
});

describe("isUsableIn", () => {
  it.each([
    ["10.0.0.0/24", "10.0.0.0", false],
    ["10.0.0.0/24", "10.0.0.1", true],
    ["10.0.0.0/24", "10.0.0.254", true],
    ["10.0.0.0/24", "10.0.0.255", false],
    ["10.0.0.0/16", "10.0.0.255", true],
    ["10.0.0.4/31", "10.0.0.5", false],
    ["fd00::/116", "fd00::", false],
    ["fd00::/116", "fd00::fff", true],
    ["fd00::/116", "10.0.0.1", false],
  ])("%s has %s: %s", (cidr, address, want) => {
    const parsed = parseAddress(address);
    if (!parsed.ok) throw new Error(address);
    expect(isUsableIn(prefixOf(cidr), parsed.value.family, parsed.value.value)).toBe(want);
  });
});
