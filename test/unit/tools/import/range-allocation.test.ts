import { describe, expect, it } from "vitest";
import { bitsOf, readRangeAllocation, writeRangeAllocation } from "../../../../src/tools/import/range-allocation";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { histories, playEach, seedsOf } from "../../../support/sim/platform/seeds";

const base64 = (bytes: number[]): string => btoa(String.fromCharCode(...bytes));

describe("RangeAllocation, read", () => {
  it.each<[string, string, number[], string[]]>([
    ["nothing taken", "10.0.0.0/24", [], []],
    ["the first address is the lowest bit of the last byte", "10.0.0.0/24", [0b1], ["10.0.0.1"]],
    ["bits of two bytes", "10.0.0.0/24", [0b10, 0b1000_0001], ["10.0.0.1", "10.0.0.8", "10.0.0.10"]],
    ["the last usable address", "10.0.0.0/28", [0b0010_0000, 0], ["10.0.0.14"]],
    ["an inner byte without bits", "10.96.0.0/12", [1, 0, 0], ["10.96.0.17"]],
    ["IPv6, the all-ones address included", "fd00::/124", [0b0100_0000, 0b1], ["fd00::1", "fd00::f"]],
    ["IPv6, of which the low 16 bits count", "fd00::/64", [0b100, 0], ["fd00::b"]],
    ["a range in another form", "FD00::/120", [0b10], ["fd00::2"]],
  ])("%s: the taken addresses", (_, range, bytes, addresses) => {
    expect(readRangeAllocation({ range, data: base64(bytes) })).toMatchObject({ ok: true, value: { kind: "addresses", addresses } });
  });

  it("range of node ports: its ports", () => {
    const read = readRangeAllocation({ range: "30000-32767", data: base64([0b1, 0b101]) });
    expect(read).toEqual({ ok: true, value: { kind: "ports", first: 30_000, last: 32_767, ports: [30_000, 30_002, 30_008] } });
  });

  it("range without data: nothing taken", () => {
    expect(readRangeAllocation({ range: "10.0.0.0/24" })).toMatchObject({ ok: true, value: { addresses: [] } });
  });

  it.each([
    [{ range: "10.0.0.0/28", data: base64([0b0100_0000, 0]) }, "its bit 14 is outside the range 10.0.0.0/28"],
    [{ range: "10.0.0.0/32", data: base64([1]) }, "its bit 0 is outside the range 10.0.0.0/32"],
    [{ range: "fd00::/64", data: base64([1, ...Array.from({ length: 8192 }, () => 0)]) }, "its bit 65536 is outside the range fd00::/64"],
    [{ range: "30000-30001", data: base64([0b100]) }, "its bit 2 is outside the range 30000-30001"],
    [{ range: "10.0.0.0/24", data: "not base64!" }, "its data is no base64"],
    [{ range: "10.0.0.0/24", data: "AQ" }, "its data is no base64"],
    [{ data: "AQ==" }, 'its range "" is neither a CIDR nor a range of ports'],
    [{ range: "10.0.0.1/24", data: "AQ==" }, 'its range "10.0.0.1/24" is neither a CIDR nor a range of ports'],
  ])("%j: %s", (object, error) => {
    expect(readRangeAllocation(object)).toEqual({ ok: false, error });
  });
});

describe("RangeAllocation, written", () => {
  it.each<[number[], string]>([
    [[], ""],
    [[0], "AQ=="],
    [[7], "gA=="],
    [[8, 0], "AQE="],
  ])("bits %j: %j", (bits, data) => {
    expect(writeRangeAllocation("10.0.0.0/24", bits)).toEqual({ range: "10.0.0.0/24", data });
  });

  it.each([
    ["10.0.0.0/32", 0n],
    ["10.0.0.0/30", 2n],
    ["10.0.0.0/12", 2n ** 20n - 2n],
    ["fd00::/120", 255n],
    ["fd00::/108", 65_535n],
  ])("range %s: %s bits", (range, bits) => {
    expect(bitsOf(storedPrefix(range))).toBe(bits);
  });

  it("range read again: the same addresses", () =>
    playEach(seedsOf(histories(1)), (seed) => {
      const random = seededRandom(seed);
      for (let round = 0; round < 200; round++) {
        const range = round % 2 === 0 ? "10.0.0.0/20" : "fd00::/112";
        const share = random.next();
        const bits = Array.from({ length: Number(bitsOf(storedPrefix(range))) % 5_000 }, (_, bit) => bit).filter(
          () => random.next() < share,
        );
        const read = readRangeAllocation(writeRangeAllocation(range, bits));
        const last = (text: string) => (range.startsWith("10") ? text.split(".").slice(2) : [text.slice("fd00::".length)]);
        const bitOf = (text: string) => {
          const [high = "0", low] = last(text);
          return low === undefined ? Number.parseInt(high, 16) - 1 : Number(high) * 256 + Number(low) - 1;
        };
        expect(read.ok && read.value.kind === "addresses" && read.value.addresses.map(bitOf)).toEqual(bits);
      }
    }));
});
