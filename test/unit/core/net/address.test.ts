import ipaddr from "ipaddr.js";
import { describe, expect, it } from "vitest";
import { canonicalAddress, formatAddress, parseAddress } from "../../../../src/core/net/address";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

describe("parseAddress: accepts", () => {
  it.each([
    ["0.0.0.0", "IPv4", 0n, "0.0.0.0"],
    ["10.9.8.7", "IPv4", 0x0a090807n, "10.9.8.7"],
    ["255.255.255.255", "IPv4", 0xffff_ffffn, "255.255.255.255"],
    ["::", "IPv6", 0n, "::"],
    ["::1", "IPv6", 1n, "::1"],
    ["2001:db8::ffff", "IPv6", (0x20010db8n << 96n) | 0xffffn, "2001:db8::ffff"],
    ["2001:DB8:0:0:0:0:0:FFFF", "IPv6", (0x20010db8n << 96n) | 0xffffn, "2001:db8::ffff"],
    ["2001:0db8::0001", "IPv6", (0x20010db8n << 96n) | 1n, "2001:db8::1"],
    ["1:2:3:4:5:6:7::", "IPv6", 0x0001_0002_0003_0004_0005_0006_0007_0000n, "1:2:3:4:5:6:7:0"],
    ["::2:3:4:5:6:7:8", "IPv6", 0x0000_0002_0003_0004_0005_0006_0007_0008n, "0:2:3:4:5:6:7:8"],
    ["1:0:0:2:0:0:0:3", "IPv6", 0x0001_0000_0000_0002_0000_0000_0000_0003n, "1:0:0:2::3"],
    ["1:0:0:2:3:0:0:4", "IPv6", 0x0001_0000_0000_0002_0003_0000_0000_0004n, "1::2:3:0:0:4"],
    // ipaddr.js alone reads this as ::ffff:1.2.3.4
    ["::1.2.3.4", "IPv6", 0x01020304n, "::102:304"],
    ["64:ff9b::10.0.0.1", "IPv6", (0x64ff9bn << 96n) | 0x0a000001n, "64:ff9b::a00:1"],
    ["1:2:3:4:5:6:7.8.9.10", "IPv6", 0x0001_0002_0003_0004_0005_0006_0708_090an, "1:2:3:4:5:6:708:90a"],
    ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "IPv6", 2n ** 128n - 1n, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ] as const)("%s: the value of the row", (text, family, value, canonical) => {
    expect(parseAddress(text)).toEqual({ ok: true, value: { family, value, canonical } });
  });
});

describe("parseAddress: refuses", () => {
  it.each([
    // texts that no reader takes for an address
    ["", "invalid"],
    ["a", "invalid"],
    ["invalid", "invalid"],
    ["myhost.mydomain", "invalid"],
    ["-1.0.0.0", "invalid"],
    ["1.2.3.4.", "invalid"],
    [".1.2.3.4", "invalid"],
    ["1..3.4", "invalid"],
    ["1.2.3.4.5", "invalid"],
    ["256.1.1.1", "invalid"],
    ["1.2.3.4/32", "invalid"],
    ["[::1]", "invalid"],
    ["1.2.3.4:80", "invalid"],
    [" 1.2.3.4", "invalid"],
    ["1.2.3.4 ", "invalid"],
    ["1.2.3.4\n", "invalid"],
    ["::1\n", "invalid"],
    ["1.2.3.+4", "invalid"],
    ["１.2.3.4", "invalid"],
    // texts that ipaddr.js reads, and upstream does not
    ["1", "invalid"],
    ["16909060", "invalid"],
    ["0x01020304", "invalid"],
    ["1.2", "invalid"],
    ["1.2.3", "invalid"],
    ["1.2.772", "invalid"],
    ["1.2.3.0x4", "invalid"],
    ["0x1.0x2.0x3.0x4", "invalid"],
    ["0x7f.1", "invalid"],
    ["0177.1", "invalid"],
    ["0", "invalid"],
    ["::1%eth0", "invalid"],
    ["fe80::42%1", "invalid"],
    ["::0x1.2.3.4", "invalid"],
    ["::1.2.3", "invalid"],
    ["::1.2.3.256", "invalid"],
    ["::1.2.3.4:5", "invalid"],
    // IPv6 shapes
    [":", "invalid"],
    [":::", "invalid"],
    ["::::", "invalid"],
    ["1::2::3", "invalid"],
    [":1::2", "invalid"],
    ["::1:", "invalid"],
    ["1::2:", "invalid"],
    ["1:2:3:4:5:6:7", "invalid"],
    ["1:2:3:4:5:6:7:", "invalid"],
    ["1:2:3:4:5:6:7:8:", "invalid"],
    ["1:2:3:4:5:6:7:8:9", "invalid"],
    ["1:2:3:4:5:6:7::8", "invalid"],
    ["1:2:3:4:5:6:7:1.2.3.4", "invalid"],
    ["::12345", "invalid"],
    ["::g", "invalid"],
    ["2001:db8:85a3:8d3:1319:8a2e:370:7348:1:1:1:1:1:1:1:1", "invalid"],
    // addresses except for leading zeros
    ["010.002.003.004", "leadingZeros"],
    ["1.2.3.04", "leadingZeros"],
    ["00.0.0.0", "leadingZeros"],
    ["1.2.3.00000000004", "leadingZeros"],
    ["0177.0.0.1", "leadingZeros"],
    ["08.8.8.8", "leadingZeros"],
    ["::ffff:010.0.0.1", "leadingZeros"],
    ["::01.2.3.4", "leadingZeros"],
    ["00001::", "leadingZeros"],
    ["0400.1.1.1", "invalid"],
    // IPv4-mapped addresses
    ["::ffff:1.2.3.4", "ipv4Mapped"],
    ["::FFFF:102:304", "ipv4Mapped"],
    ["0:0:0:0:0:ffff:a00:1", "ipv4Mapped"],
  ] as const)("%j: refused as %s", (text, error) => {
    expect(parseAddress(text)).toEqual({ ok: false, error });
  });
});

describe("address text", () => {
  it.each([
    ["2001:DB8:0::1", "2001:db8::1"],
    ["10.0.0.1", "10.0.0.1"],
    ["10.0.0.256", "10.0.0.256"],
    ["", ""],
  ])("canonicalAddress: %s -> %s", (text, want) => {
    expect(canonicalAddress(text)).toBe(want);
  });

  const seed = 4101;
  it(`IPv4: agrees with ipaddr.js both ways (seed ${seed})`, () => {
    const random = seededRandom(seed);
    for (let i = 0; i < 3000; i++) {
      const value = random.below(2 ** 32);
      const octets = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
      const text = new ipaddr.IPv4(octets).toString();
      expect(formatAddress("IPv4", BigInt(value))).toBe(text);
      expect(parseAddress(text)).toEqual({ ok: true, value: { family: "IPv4", value: BigInt(value), canonical: text } });
    }
  });

  it(`IPv4: damaged text is read as ipaddr.js's four decimal parts, or not at all (seed ${seed + 1})`, () => {
    const random = seededRandom(seed + 1);
    const alphabet = "0123456789.x: ";
    for (let i = 0; i < 5000; i++) {
      const text = Array.from({ length: 4 }, () => random.below(280)).join(".");
      const at = random.below(text.length + 1);
      const damaged =
        random.below(3) === 0
          ? text
          : text.slice(0, at) + (alphabet[random.below(alphabet.length)] ?? "") + text.slice(at + random.below(2));
      const parsed = parseAddress(damaged);
      expect(parsed.ok, damaged).toBe(ipaddr.IPv4.isValidFourPartDecimal(damaged) && ipaddr.IPv4.parse(damaged).toString() === damaged);
    }
  });

  it(`IPv6: text -> value -> text, and the long form means the same (seed ${seed + 2})`, () => {
    const random = seededRandom(seed + 2);
    for (let i = 0; i < 2000; i++) {
      const groups = Array.from({ length: 8 }, () => (random.below(2) === 0 ? 0 : random.below(0x10000)));
      const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
      if (value >> 32n === 0xffffn) continue;
      const canonical = formatAddress("IPv6", value);
      const long = groups.map((group) => group.toString(16).padStart(4, "0").toUpperCase()).join(":");
      expect(parseAddress(canonical)).toEqual({ ok: true, value: { family: "IPv6", value, canonical } });
      expect(parseAddress(long)).toEqual({ ok: true, value: { family: "IPv6", value, canonical } });
    }
  });

  it("formatAddress: refuses a value outside the family", () => {
    expect(() => formatAddress("IPv4", 2n ** 32n)).toThrow("outside its family");
    expect(() => formatAddress("IPv6", -1n)).toThrow("outside its family");
  });
});
