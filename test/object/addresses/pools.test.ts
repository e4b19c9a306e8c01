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

  it("a ServiceCIDR behind a pool: 422 with the pool's name, and accepted in another NAT domain", async () => {
    const cluster = new Cluster();
    await cluster.pool("p", { addresses: ["198.51.100.0/25"] });
    const range = (annotations: object): ReturnType<Cluster["send"]> => {
      const object = { metadata: { name: "r", annotations }, spec: { cidrs: ["198.51.100.0/24"] } };
      return cluster.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", object);
    };
    // 503 until the controller has heard of the pool: before that its write may still come to nothing.
    await vi.waitFor(async () => {
      const refused = await range({});
      expect([refused.code, refused.body.message]).toEqual([422, expect.stringContaining('overlaps with InClusterIPPool "default/p"')]);
    }, PATIENCE);
    const nat = (domain: string): object => ({ "servicenet.dev/nat-domain": domain });
    const path = `${IPAM}/v1alpha2/namespaces/default/inclusterippools/p`;
    const { metadata, ...pool } = (await cluster.send("GET", path)).body;
    const { resourceVersion: _, ...rest } = metadata ?? {};
    const moved = await cluster.send("PUT", path, { ...pool, metadata: { ...rest, annotations: nat("x") } });
    expect(moved.code).toBe(200);
    // The pool is in both domains until the controller has met the change.
    await vi.waitFor(async () => expect((await range(nat("y"))).code).toBe(201), PATIENCE);
  });

  it("a claim in both versions: each shows its own conditions, and v1beta1 needs no API group of the pool", async () => {
    const cluster = new Cluster();
    await cluster.pool("p", { addresses: ["192.0.2.1"] });
    await cluster.claim("a");
    expect(await cluster.ready("a")).toBe("Ready");
    const path = (version: string): string => `${IPAM}/${version}/namespaces/default/ipaddressclaims`;
    const earlier = await cluster.send("GET", `${path("v1beta1")}/a`);
    expect(earlier.body).toMatchObject({
      apiVersion: "ipam.cluster.x-k8s.io/v1beta1",
      status: {
        addressRef: { name: "a" },
        conditions: [{ type: "Ready", status: "True" }],
        v1beta2: { conditions: [{ type: "Ready", status: "True", reason: "Ready" }] },
      },
    });
    const object = { metadata: { name: "b" }, spec: { poolRef: { kind: "Other", name: "p" } } };
    expect((await cluster.send("POST", path("v1beta2"), object)).code).toBe(422);
    const made = await cluster.send("POST", path("v1beta1"), object);
    expect([made.code, made.body]).toEqual([201, expect.objectContaining({ spec: object.spec })]);
    const condition = {
      type: "Ready",
      status: "False",
      severity: "Error",
      reason: "Own",
      message: "m",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const status = { addressRef: { name: "" }, conditions: [condition] };
    const reported = await cluster.send("PUT", `${path("v1beta1")}/b/status`, { ...made.body, status });
    expect([reported.code, reported.body.status]).toEqual([200, { conditions: [condition] }]);
    const later = (await cluster.send("GET", `${path("v1beta2")}/b`)).body;
    expect(later).toMatchObject({ spec: { poolRef: { apiGroup: "" } }, status: { deprecated: { v1beta1: { conditions: [condition] } } } });
    // What came in the other version may stay.
    const labelled = { ...later, metadata: { ...later.metadata, labels: { a: "b" } } };
    expect((await cluster.send("PUT", `${path("v1beta2")}/b`, labelled)).code).toBe(200);
    const listed = (await cluster.send("GET", path("v1beta1"))).body.items as { spec: object }[];
    expect(listed.map(({ spec }) => spec)).toContainEqual(object.spec);
  });
});
