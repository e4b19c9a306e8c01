import { expect, it } from "vitest";
import { PoolsOfKind, PoolSpaces } from "../../../src/pools/known-pools";

it("a pool that is gone, and of which nobody has an address: is forgotten, and comes again as new", () => {
  const spaces = new PoolSpaces();
  const rows = { saved: () => [], put: () => undefined, delete: () => undefined };
  const pools = new PoolsOfKind(rows, "InClusterIPPool", spaces);
  const pool = { metadata: { namespace: "ns", name: "p", uid: "u" }, spec: { addresses: ["10.0.0.1"], prefix: 24 } };
  pools.reader.put(pool, false);
  expect([[...spaces.pools], [...pools.unsettled]]).toEqual([["InClusterIPPool/ns/p"], ["InClusterIPPool/ns/p"]]);
  spaces.of("InClusterIPPool/ns/p").take({ first: 1n, bits: 0 }, "ns/a");
  expect(pools.forgetGone()).toEqual([]);
  pools.reader.gone("ns/p");
  expect(pools.forgetGone()).toEqual([]);
  spaces.of("InClusterIPPool/ns/p").release({ first: 1n, bits: 0 }, "ns/a");
  expect(pools.forgetGone()).toEqual(["InClusterIPPool/ns/p"]);
  expect([[...spaces.pools], [...pools.unsettled]]).toEqual([[], []]);
  pools.reader.put(pool, false);
  expect(spaces.of("InClusterIPPool/ns/p").counts.total).toBe(1);
});
