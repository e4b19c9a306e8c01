/** Pools and claims on real Durable Objects: a claim has its address by itself, what is in use is guarded, and a namespace takes both away. */
import { describe, expect, it, vi } from "vitest";
import type { AddressClaim, AddressPool, PoolAddress, PoolSpec } from "../../../src/api/registry/ipam/ipam";
import { type AppAnswer, AppCluster } from "../../support/access/app-cluster";
import { PATIENCE } from "../../support/objects/patience";

type Answer = AppAnswer & { status?: AddressClaim["status"] & AddressPool["status"] };

const IPAM = "/apis/ipam.cluster.x-k8s.io";

class Cluster extends AppCluster<Answer> {
  readonly #claims = `${IPAM}/v1beta2/namespaces/default`;

  pool(name: string, spec: PoolSpec): ReturnType<Cluster["send"]> {
    return this.send("POST", `${IPAM}/v1alpha2/namespaces/default/inclusterippools`, { metadata: { name }, spec: { prefix: 24, ...spec } });
  }

  claim(name: string, pool = "p", kind = "InClusterIPPool"): ReturnType<Cluster["send"]> {
    const spec = { poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind, name: pool } };
    return this.send("POST", `${this.#claims}/ipaddressclaims`, { metadata: { name }, spec });
  }

  async ready(name: string): Promise<string> {
    const status = await vi.waitFor(async () => {
      const { body } = await this.send("GET", `${this.#claims}/ipaddressclaims/${name}`);
      expect(body.status?.conditions).toMatchObject([{ type: "Ready" }]);
      return body.status;
    }, PATIENCE);
    return status?.conditions?.[0]?.reason ?? "";
  }

  async given(): Promise<string[]> {
    const { body } = await this.send("GET", `${IPAM}/v1beta2/ipaddresses`);
    return ((body.items ?? []) as PoolAddress[]).map(({ metadata, spec }) => `${metadata?.name ?? ""} ${spec?.address ?? ""}`);
  }

  release(name: string): ReturnType<Cluster["send"]> {
    return this.send("DELETE", `${this.#claims}/ipaddressclaims/${name}`);
  }

  deletePool(name: string): ReturnType<Cluster["send"]> {
    return this.send("DELETE", `${IPAM}/v1alpha2/namespaces/default/inclusterippools/${name}`);
  }
}

describe("pools of a cluster", () => {
  it("a claim: waits for its pool, gets an address, and gives it to the one that waits; the pool in use stays", async () => {
    const cluster = new Cluster();
    expect((await cluster.claim("a")).code).toBe(201);
    expect(await cluster.ready("a")).toBe("PoolNotReady");
    expect((await cluster.pool("p", { addresses: ["192.0.2.1"] })).code).toBe(201);
    await vi.waitFor(async () => expect(await cluster.given()).toEqual(["a 192.0.2.1"]), PATIENCE);
    await cluster.claim("b");
    expect(await cluster.ready("b")).toBe("PoolExhausted");
    const refused = await cluster.deletePool("p");
    expect([refused.code, refused.body.message]).toEqual([
      400,
      "Pool has IPAddresses allocated. Cannot delete Pool until all IPAddresses have been removed.",
    ]);
    expect((await cluster.release("a")).code).toBe(200);
    await vi.waitFor(async () => expect(await cluster.given()).toEqual(["b 192.0.2.1"]), PATIENCE);
    await cluster.release("b");
    await vi.waitFor(async () => expect((await cluster.deletePool("p")).code).toBe(200), PATIENCE);
    await vi.waitFor(async () => expect((await cluster.deletePool("p")).code).toBe(404), PATIENCE);
  });

  it("pools that overlap one another, or a range of Services: 422 with the name", async () => {
    const cluster = new Cluster();
    await cluster.send("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
    const range = await cluster.send("GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes");
    const [cidr = ""] = (range.body as unknown as { spec: { cidrs: string[] } }).spec.cidrs;
    const services = await cluster.pool("s", { addresses: [cidr], prefix: 8 });
    expect([services.code, services.body.message]).toEqual([
      422,
      expect.stringContaining(`overlaps with ServiceCIDR "kubernetes" (${cidr})`),
    ]);
    const answers = await Promise.all(["p", "q"].map((name) => cluster.pool(name, { addresses: ["192.0.2.0/25"] })));
    expect(answers.map(({ code }) => code).sort()).toEqual([201, 422]);
    expect(answers.find(({ code }) => code === 422)?.body.message).toMatch(/overlaps with InClusterIPPool "default\/[pq]"/);
  });
});
