/** Claims on real Durable Objects, many at once. */
import { abortAllDurableObjects } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import type { AddressPool, PoolAddress } from "../../../src/api/registry/ipam/ipam";
import { type AppAnswer, AppCluster } from "../../support/access/app-cluster";
import { PATIENCE } from "../../support/objects/patience";

const IPAM = "/apis/ipam.cluster.x-k8s.io";
const CLAIMS = `${IPAM}/v1beta2/namespaces/default/ipaddressclaims`;
const POOL = `${IPAM}/v1alpha2/namespaces/default/inclusterippools`;
const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" };

function addressesIn(answer: AppAnswer): string[] {
  return ((answer.items ?? []) as PoolAddress[]).map(({ spec }) => spec?.address ?? "");
}

it("1,000 claims at once, while every object dies: all addresses differ, and the pool counts them", async () => {
  const cluster = new AppCluster();
  const spec = { addresses: ["10.200.0.0/22"], prefix: 22 };
  expect((await cluster.send("POST", POOL, { metadata: { name: "p" }, spec })).code).toBe(201);
  for (let batch = 0; batch < 10; batch++) {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => cluster.send("POST", CLAIMS, { metadata: { name: `c-${batch}-${i}` }, spec: { poolRef } })),
    );
    expect(answers.map(({ code }) => code).filter((code) => code !== 201)).toEqual([]);
    if (batch % 3 === 2) await abortAllDurableObjects();
  }
  await vi.waitFor(
    async () => {
      // A poke may have died with its object: cron's does not.
      await cluster.tick();
      const pool = (await cluster.send("GET", `${POOL}/p`)).body as AddressPool;
      expect(pool.status?.ipAddresses).toEqual({ total: 1_022, used: 1_000, free: 22, outOfRange: 0 });
    },
    { ...PATIENCE, interval: 500 },
  );
  const addresses = addressesIn((await cluster.send("GET", `${IPAM}/v1beta2/ipaddresses`)).body);
  expect([addresses.length, new Set(addresses).size]).toEqual([1_000, 1_000]);
});

it("a pool as long as one may be: is stored, changed and deleted; a longer one is 422", async () => {
  const cluster = new AppCluster();
  const list = (length: number, text: (high: string) => string): string[] =>
    Array.from({ length }, (_, i) => text(`fd00:ffff:ffff:ffff:ffff:ffff:${(i + 1).toString(16)}`));
  const addresses = list(4_096, (high) => `${high}:1-${high}:3`);
  const spec = { addresses, excludedAddresses: list(4_096, (high) => `${high}:2`), prefix: 64 };
  const longer = { ...spec, addresses: list(4_097, (high) => `${high}:1`) };
  const { code, body } = await cluster.send("POST", POOL, { metadata: { name: "long" }, spec: longer });
  expect([code, body.message]).toEqual([422, expect.stringContaining("Too many: 4097: must have at most 4096 items")]);
  expect((await cluster.send("POST", POOL, { metadata: { name: "long" }, spec })).code).toBe(201);
  const moved = { ...spec, addresses: list(4_096, (high) => `${high}:1-${high}:4`) };
  expect((await cluster.send("PUT", `${POOL}/long`, { metadata: { name: "long" }, spec: moved })).code).toBe(200);
  expect((await cluster.send("DELETE", `${POOL}/long`)).code).toBe(200);
});
