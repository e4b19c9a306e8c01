import { describe, expect, it } from "vitest";
import { type EndpointSubset, repackSubsets } from "../../../../src/endpoints/endpoints/repack-subsets";
import { addressCount, truncateSubsets, withinCapacity } from "../../../../src/endpoints/endpoints/truncate-subsets";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { ipv4 } from "../../../support/worlds/slice-world";

const addresses = (count: number) => Array.from({ length: count }, (_, i) => ({ ip: ipv4(i) }));

function subsets(ready: number[], notReady: number[]): EndpointSubset[] {
  return ready.map((count, i) => ({
    addresses: addresses(count),
    notReadyAddresses: addresses(notReady[i] ?? 0),
    ports: [{ port: i + 1, protocol: "TCP" }],
  }));
}

// upstream endpoints_controller_test.go, TestTruncateEndpoints
it.each<[string, number[], number[], number[], number[]]>([
  ["below 1,000", [50, 100, 100, 100, 100], [50, 100, 100, 100, 100], [50, 100, 100, 100, 100], [50, 100, 100, 100, 100]],
  ["1,000", [100, 100, 100, 100, 100], [100, 100, 100, 100, 100], [100, 100, 100, 100, 100], [100, 100, 100, 100, 100]],
  ["few ready ones", [90, 110, 50, 10, 20], [101, 200, 200, 201, 298], [90, 110, 50, 10, 20], [73, 144, 144, 145, 214]],
  ["many ready ones", [205, 400, 402, 400, 693], [100, 200, 200, 200, 300], [98, 191, 192, 191, 328], [0, 0, 0, 0, 0]],
  ["exactly 1,000 ready ones", [1000], [1], [1000], [0]],
])("%s: ready and other addresses of each subset as in the row", (_, ready, notReady, wantReady, wantNotReady) => {
  const truncated = truncateSubsets(subsets(ready, notReady));
  expect(truncated.map((subset) => subset.addresses?.length ?? 0)).toEqual(wantReady);
  expect(truncated.map((subset) => subset.notReadyAddresses?.length ?? 0)).toEqual(wantNotReady);
  expect(addressCount(truncated)).toBeLessThanOrEqual(1000);
});

it("a subset that loses all its addresses: it goes, because validation refuses it", () => {
  const truncated = truncateSubsets(subsets([1200, 0], [0, 300]));
  expect(truncated.map(({ ports }) => ports?.[0]?.port)).toEqual([1]);
});

describe("one subset, truncated before it is packed", () => {
  const random = seededRandom(1);
  /** Addresses in any order. */
  const shuffled = (count: number, uid: string) =>
    addresses(count)
      .map((address) => ({ ...address, targetRef: { uid }, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ at: _, ...address }) => address);

  it.each([
    [0, 0],
    [3, 2],
    [1_000, 0],
    [999, 2],
    [1_001, 0],
    [0, 5_000],
    [700, 4_000],
    [4_000, 700],
    [1_000, 1],
  ])("%d ready and %d other addresses: as truncated when it is packed", (ready, notReady) => {
    const ports = [
      { name: "b", port: 2, protocol: "TCP" },
      { name: "a", port: 1, protocol: "TCP" },
    ];
    const subset = { addresses: shuffled(ready, "r"), notReadyAddresses: shuffled(notReady, "n"), ports };
    const packed = repackSubsets([subset]);
    expect(withinCapacity([subset])).toEqual({ subsets: truncateSubsets(packed), total: ready + notReady });
  });
});
