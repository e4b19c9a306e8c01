/** Stores start on whatever KV says of the topology, and give only right answers. */
import { abortAllDurableObjects, env } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { coordinator, owner, servicesStore } from "../../../durable-objects/peers/peers";
import { systemDigest } from "../../../durable-objects/platform/ports";
import type { Service, ServiceCIDR } from "../../../src/api/meta/kubernetes";
import type { Topology } from "../../../src/addresses/rpc/topology";
import type { WriteOptions, WriteResult } from "../../../src/api/rpc/store";
import { openTopology, sealTopology, topologyCopyKey } from "../../../src/addresses/topology/topology-copy";
import { DELETE, WRITE } from "../../support/worlds/store-world";
import { PATIENCE } from "../../support/objects/patience";
import { freshCluster } from "../../support/objects/store-stubs";

const bindings = env as unknown as Env;
const OPTIONS: WriteOptions = { ...WRITE, group: "" };
const NETWORKING: WriteOptions = { ...WRITE, group: "networking.k8s.io" };

class Cluster {
  readonly name = freshCluster();
  readonly key = topologyCopyKey(this.name);

  async published(): Promise<Topology | undefined> {
    const bytes = await bindings.DIRECTORY.get(this.key, "arrayBuffer");
    return bytes ? openTopology(new Uint8Array(bytes), this.name, systemDigest) : undefined;
  }

  create(name: string, spec: object = {}): Promise<WriteResult> {
    const object = JSON.stringify({ metadata: { name, namespace: "default" }, spec: { ports: [{ port: 80 }], ...spec } });
    return servicesStore(bindings, this.name).write({ verb: "create", namespace: "default", object, options: OPTIONS });
  }

  remove(name: string): Promise<WriteResult> {
    return servicesStore(bindings, this.name).write({ verb: "delete", key: { namespace: "default", name }, options: DELETE });
  }

  async addRange(name: string, cidr: string): Promise<void> {
    const object = JSON.stringify({ metadata: { name }, spec: { cidrs: [cidr] } });
    await coordinator(bindings, this.name).write({ verb: "create", namespace: "", object, options: NETWORKING });
    const isReady = async (): Promise<boolean> => {
      const found = await coordinator(bindings, this.name).get({ namespace: "", name }, "");
      const conditions = found.ok ? (JSON.parse(found.object) as ServiceCIDR).status?.conditions : undefined;
      return conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
    };
    await vi.waitUntil(isReady, PATIENCE);
  }

  /** Addresses with a row at any owner. */
  async held(): Promise<string[]> {
    const { claims } = await coordinator(bindings, this.name).topology();
    const uids = [...new Set(claims.map(({ ownerUid }) => ownerUid))];
    const answers = await Promise.all(uids.map((uid) => owner(bindings, this.name, uid).rowsSince(0, 1_000)));
    return answers.flatMap(({ rows }) => rows.map(({ address }) => address)).sort();
  }

  /** With a default range, whose topology is published, and then one more. */
  static async withTwoRanges(): Promise<{ cluster: Cluster; former: Uint8Array }> {
    const cluster = new Cluster();
    await servicesStore(bindings, cluster.name).ensureBootstrapped();
    await vi.waitUntil(async () => (await cluster.published()) !== undefined, PATIENCE);
    const former = new Uint8Array((await bindings.DIRECTORY.get(cluster.key, "arrayBuffer")) ?? new ArrayBuffer());
    await cluster.addRange("more", "10.200.0.0/24");
    return { cluster, former };
  }
}

const addressOf = (result: WriteResult): string =>
  result.ok ? ((JSON.parse(result.object) as Service).spec?.clusterIP ?? "") : `${result.status.code}: ${result.status.message ?? ""}`;

it("the Coordinator after a question: publishes claims and ranges", async () => {
  const cluster = new Cluster();
  await servicesStore(bindings, cluster.name).ensureBootstrapped();
  const { claims } = await coordinator(bindings, cluster.name).topology();
  const published = await vi.waitUntil(() => cluster.published(), PATIENCE);
  expect(published).toMatchObject({ epoch: 0, claims, ranges: [{ prefix: "10.96.0.0/16", name: "kubernetes" }], owners: [], free: [] });
});

const foreign: Pick<Topology, "claims" | "ranges"> = {
  claims: [{ prefix: "10.0.0.0/8", ownerUid: "nobody" }],
  ranges: [{ prefix: "10.0.0.0/8", name: "invented" }],
};

it.each<[string, (at: { name: string; former: Uint8Array }) => Promise<Uint8Array | undefined>]>([
  ["is lost", () => Promise.resolve(undefined)],
  ["is from before the last range", ({ former }) => Promise.resolve(former)],
  ["is damaged", ({ former }) => Promise.resolve(former.map((byte, at) => (at === 70 ? byte ^ 1 : byte)))],
  ["knows other owners only", ({ name }) => sealTopology(name, { epoch: 99, owners: [], free: [], ...foreign }, systemDigest)],
  ["knows nothing", ({ name }) => sealTopology(name, { epoch: 99, claims: [], ranges: [], owners: [], free: [] }, systemDigest)],
])("a store that starts while the copy %s: takes, refuses and releases addresses as always", async (_, spoil) => {
  const { cluster, former } = await Cluster.withTwoRanges();
  const value = await spoil({ name: cluster.name, former });
  const start = async (): Promise<void> => {
    await (value ? bindings.DIRECTORY.put(cluster.key, value) : bindings.DIRECTORY.delete(cluster.key));
    await abortAllDurableObjects();
  };
  await start();
  expect(addressOf(await cluster.create("inside", { clusterIP: "10.200.0.200" }))).toBe("10.200.0.200");
  await start();
  expect(addressOf(await cluster.create("outside", { clusterIP: "10.201.0.1" }))).toMatch(/^422: .*10\.201\.0\.1/);
  await start();
  expect(addressOf(await cluster.create("any"))).toMatch(/^10\.(96|200)\./);
  await start();
  expect(await cluster.remove("inside")).toMatchObject({ ok: true });
  expect(await cluster.remove("any")).toMatchObject({ ok: true });
  await vi.waitFor(async () => expect(await cluster.held()).toEqual(["10.96.0.1"]), PATIENCE);
});
