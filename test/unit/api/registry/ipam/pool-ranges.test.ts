import { describe, expect, it } from "vitest";
import type { PoolSpec } from "../../../../../src/api/registry/ipam/ipam";
import { rangesOf } from "../../../../../src/api/registry/ipam/pool-ranges";
import { formatAddress } from "../../../../../src/core/net/address";

describe("what a pool gives out", () => {
  const given = (spec: PoolSpec): string => {
    const ranges = rangesOf(spec);
    const shown = ranges?.intervals.map(
      ({ first, last }) => `${formatAddress(ranges.family, first)}-${formatAddress(ranges.family, last)}`,
    );
    return shown?.join(" ") ?? "-";
  };

  it.each<[string, PoolSpec, string]>([
    ["network and broadcast stay", { addresses: ["10.0.0.0/24"], prefix: 24 }, "10.0.0.1-10.0.0.254"],
    ["with reserved ones", { addresses: ["10.0.0.0/24"], prefix: 24, allocateReservedIPAddresses: true }, "10.0.0.0-10.0.0.255"],
    ["IPv6: the anycast address stays", { addresses: ["fd00::/126"], prefix: 126 }, "fd00::1-fd00::3"],
    ["the gateway stays", { addresses: ["10.0.0.1-10.0.0.3"], prefix: 24, gateway: "10.0.0.2" }, "10.0.0.1-10.0.0.1 10.0.0.3-10.0.0.3"],
    [
      "excluded ones stay, and entries join in their order",
      { addresses: ["10.0.0.20-10.0.0.29", "10.0.0.10-10.0.0.19"], prefix: 24, excludedAddresses: ["10.0.0.15", "10.0.0.28/31"] },
      "10.0.0.10-10.0.0.14 10.0.0.16-10.0.0.27",
    ],
    [
      "IPv4-mapped ones stay, because no object may have them",
      { addresses: ["::fffe:ffff:ffff-::1:0:0:10"], prefix: 64 },
      "::fffe:ffff:ffff-::fffe:ffff:ffff ::1:0:0:0-::1:0:0:10",
    ],
    ["a /31 is empty", { addresses: ["10.0.0.0/31"], prefix: 31 }, ""],
    ["no entry", {}, "-"],
  ])("%s", (_, spec, ranges) => {
    expect(given(spec)).toBe(ranges);
  });
});
