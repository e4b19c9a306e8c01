/**
 * Prefixes. Picks in a /8 of /20 prefixes: in an empty one, and at 99.9 %. Then 10,000 claims on one pool of a server, until each has a prefix of its own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AddressPool, PoolAddress } from "../../../../../src/api/registry/ipam/ipam";
import type { Block } from "../../../../../src/core/net/block";
import { FreePrefixes } from "../../../../../src/pools/free-prefixes";
import { seededRandom } from "../../../../../test/support/sim/platform/seeded-random";
import { Api } from "../../../../../test/support/clients/api";
import { round } from "../../figures";
import { writesPerSecond } from "../../json-writes";
import type { BenchRow } from "../../row";
import { withServer } from "../../started";

const SEED = 20_261_201;
const UNIT_BITS = 12;
const UNITS = 4_096;
const PICKS = 40_000;
/** A full pool picks at most so many times slower than an empty one. */
const SLOWEST_MAX = 1.5;
const CLAIMS = 10_000;
const RATE_MIN = 200;
const GROUP = "/apis/ipam.cluster.x-k8s.io";
const POOL_PATH = `${GROUP}/v1alpha2/globalinclusterprefixpools`;
const WRITES = { method: "POST", count: CLAIMS, connections: 100, code: 201 };
const LOOK_MS = 100;
const SERVED_MS_MAX = 300_000;

export async function benchPrefixes(): Promise<BenchRow[]> {
  picksPerSecond(0);
  const [empty, full] = [picksPerSecond(0), picksPerSecond(Math.floor(UNITS * 0.999))];
  return [
    { name: "prefixes.pick./8.0%", value: Math.round(empty), unit: "/s", note: "a /20 picked, taken and given back" },
    { name: "prefixes.pick./8.99.9%", value: Math.round(full), unit: "/s" },
    {
      name: "prefixes.pick./8.spread",
      value: round(empty / full),
      unit: "x",
      target: `<= ${String(SLOWEST_MAX)}`,
      ok: empty / full <= SLOWEST_MAX,
    },
    await benchClaimed(),
  ];
}

/** With so many of the units taken, at random places. */
function picksPerSecond(taken: number): number {
  const free = new FreePrefixes();
  free.give([{ first: 0n, last: BigInt(UNITS << UNIT_BITS) - 1n }], UNIT_BITS);
  const random = seededRandom(SEED);
  const held: Block[] = [];
  for (let unit = 0; unit < UNITS; unit++) {
    const block = { first: BigInt(unit) << BigInt(UNIT_BITS), bits: UNIT_BITS };
    free.take(block, "held");
    held.push(block);
  }
  for (let left = UNITS - taken; left > 0; left--) {
    const [block] = held.splice(random.below(held.length), 1);
    if (block) free.release(block, "held");
  }
  const begunAt = performance.now();
  for (let i = 0; i < PICKS; i++) {
    const block = free.next(UNIT_BITS);
    if (!block) throw new Error("the pool is full");
    free.take(block, "picked");
    free.release(block, "picked");
  }
  return PICKS / ((performance.now() - begunAt) / 1_000);
}

function benchClaimed(): Promise<BenchRow> {
  return withServer("10.0.0.0/16", async (server) => {
    const api = new Api(() => server.url);
    const spec = { prefixes: ["10.128.0.0/9"], allocationPrefixLength: 23 };
    const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterPrefixPool", name: "fleet" };
    await api.must("POST", POOL_PATH, { body: { metadata: { name: "fleet" }, spec } });
    const begunAt = performance.now();
    await writesPerSecond(server, WRITES, (i) => [
      `${GROUP}/v1beta2/namespaces/default/ipaddressclaims`,
      { metadata: { name: `c${String(i)}` }, spec: { poolRef } },
    ]);
    for (;;) {
      const pool = (await api.must("GET", `${POOL_PATH}/fleet`)) as AddressPool;
      if (Number(pool.status?.ipAddresses?.used ?? 0) === CLAIMS) break;
      if (performance.now() - begunAt > SERVED_MS_MAX) throw new Error(`claims wait for longer than ${String(SERVED_MS_MAX)} ms`);
      await sleep(LOOK_MS);
    }
    const rate = CLAIMS / ((performance.now() - begunAt) / 1_000);
    const { items } = await api.must("GET", `${GROUP}/v1beta2/namespaces/default/ipaddresses`);
    const different = new Set((items as PoolAddress[]).map(({ spec: address }) => address?.address)).size;
    if (different !== CLAIMS) throw new Error(`${String(CLAIMS)} claims have ${String(different)} different prefixes`);
    return {
      name: "prefixes.claimed",
      value: Math.round(rate),
      unit: "/s",
      target: `>= ${String(RATE_MIN)}`,
      ok: rate >= RATE_MIN,
      note: `${CLAIMS.toLocaleString("en-US")} claims on one pool, from the first create until each has a /23 of its own, all different`,
    };
  });
}
