import { expect, it } from "vitest";
import type { EndpointSubset } from "../../../../src/endpoints/endpoints/repack-subsets";
import { addressCount, truncateSubsets } from "../../../../src/endpoints/endpoints/truncate-subsets";
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
