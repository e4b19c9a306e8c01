/** Services of type LoadBalancer that pools serve, on real Durable Objects. */
import { abortAllDurableObjects } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Service } from "../../../src/api/meta/kubernetes";
import type { AddressPool, PoolAddress } from "../../../src/api/registry/ipam/ipam";
import { AppCluster } from "../../support/access/app-cluster";
import { PATIENCE } from "../../support/objects/patience";

const IPAM = "/apis/ipam.cluster.x-k8s.io";
const POOLS = `${IPAM}/v1alpha2/globalinclusterippools`;
const ROWS = `${IPAM}/v1beta2/ipaddresses`;
const SERVICES = "/api/v1/namespaces/default/services";
const CLASS = "servicenet.dev/pool";

let cluster: AppCluster;
beforeEach(() => (cluster = new AppCluster()));

async function pool(name: string, addresses: string[], annotations: Record<string, string> = {}): Promise<void> {
  const metadata = { name, annotations: { "servicenet.dev/load-balancer": "true", ...annotations } };
  const prefix = addresses[0]?.includes(":") ? 64 : 24;
  const made = await cluster.send("POST", POOLS, { metadata, spec: { addresses, prefix } });
  expect([made.code, made.body.message]).toEqual([201, undefined]);
  // The controller settles it; then it gives addresses.
  await vi.waitFor(async () => {
    await cluster.tick();
    expect(((await cluster.send("GET", `${POOLS}/${name}`)).body as AddressPool).status).toBeDefined();
  }, PATIENCE);
}

function balancer(name: string, spec: object = {}): object {
  return { metadata: { name }, spec: { type: "LoadBalancer", loadBalancerClass: CLASS, ports: [{ port: 80 }], ...spec } };
}

function ingress(service: unknown): unknown {
  return (service as Service).status?.loadBalancer?.ingress;
}

async function create(name: string, spec: object = {}): Promise<unknown> {
  const { code, body } = await cluster.send("POST", SERVICES, balancer(name, spec));
  expect([code, body.message]).toEqual([201, undefined]);
  return ingress(body);
}

async function rows(): Promise<string[]> {
  const { body } = await cluster.send("GET", ROWS);
  return ((body.items ?? []) as PoolAddress[])
    .map(({ metadata, spec }) => `${metadata?.labels?.["servicenet.dev/service"] ?? ""} ${spec?.address ?? ""}`)
    .toSorted();
}

const vip = (ip: string) => ({ ip, ipMode: "VIP" });

describe("a Service of the class of pools", () => {
  it("its address stands in the answer of the create; deletion and another type give it back", async () => {
    await pool("p", ["192.0.2.10-192.0.2.12"]);
    expect(await create("a")).toEqual([vip("192.0.2.10")]);
    expect(await create("b")).toEqual([vip("192.0.2.11")]);
    expect(await rows()).toEqual(["a 192.0.2.10", "b 192.0.2.11"]);
    expect((await cluster.send("DELETE", `${SERVICES}/a`)).code).toBe(200);
    expect(await rows()).toEqual(["b 192.0.2.11"]);
    expect(await create("c")).toEqual([vip("192.0.2.10")]);
    const retyped = await cluster.send("PATCH", `${SERVICES}/b`, { spec: { type: "ClusterIP" } });
    expect([retyped.code, ingress(retyped.body)]).toEqual([200, undefined]);
    expect(await rows()).toEqual(["c 192.0.2.10"]);
    const again = await cluster.send("PATCH", `${SERVICES}/b`, { spec: { type: "LoadBalancer", loadBalancerClass: CLASS } });
    expect([again.code, ingress(again.body)]).toEqual([200, [vip("192.0.2.11")]]);
  });

  it("of another class, or of none: has nothing to do with pools", async () => {
    await pool("p", ["192.0.2.10-192.0.2.12"]);
    expect(await create("other", { loadBalancerClass: "example.com/other" })).toBeUndefined();
    expect(await create("none", { loadBalancerClass: undefined })).toBeUndefined();
    expect(await rows()).toEqual([]);
  });

  it("a full pool: it waits, and whoever waits longest gets what is given back; both ends have an Event", async () => {
    await pool("p", ["192.0.2.10"]);
    expect(await create("a")).toEqual([vip("192.0.2.10")]);
    expect(await create("b")).toBeUndefined();
    expect(await create("c")).toBeUndefined();
    await cluster.send("DELETE", `${SERVICES}/a`);
    await vi.waitFor(async () => expect(ingress((await cluster.send("GET", `${SERVICES}/b`)).body)).toEqual([vip("192.0.2.10")]), PATIENCE);
    expect(ingress((await cluster.send("GET", `${SERVICES}/c`)).body)).toBeUndefined();
    await vi.waitFor(async () => {
      const { body } = await cluster.send("GET", "/api/v1/namespaces/default/events");
      const events = ((body.items ?? []) as { involvedObject: { name: string }; reason: string; message: string }[]).map(
        ({ involvedObject, reason, message }) => `${involvedObject.name} ${reason} ${message}`,
      );
      expect(events.toSorted()).toEqual([
        'a ClearAssignment IP ["192.0.2.10"] was given back, and goes to "default/b", which waited for one',
        'b AllocationFailed Failed to allocate IP for "default/b": no available IPs',
        'b IPAllocated Assigned IP ["192.0.2.10"]',
        'c AllocationFailed Failed to allocate IP for "default/c": no available IPs',
      ]);
    }, PATIENCE);
  });

  it("a status that somebody writes: takes no address of a pool, and loses none", async () => {
    await pool("p", ["192.0.2.10-192.0.2.12"]);
    await create("a");
    await create("other", { loadBalancerClass: "example.com/other" });
    const write = (name: string, ...entries: object[]) =>
      cluster.send("PATCH", `${SERVICES}/${name}/status`, { status: { loadBalancer: { ingress: entries } } });
    for (const name of ["a", "other"]) {
      const { code, body } = await write(name, { ip: "192.0.2.12" });
      expect([code, body.message]).toEqual([422, expect.stringContaining('the address belongs to GlobalInClusterIPPool "p"')]);
    }
    const other = await write("other", { ip: "198.51.100.1" }, { hostname: "lb.example.com" });
    expect([other.code, ingress(other.body)]).toEqual([200, [vip("198.51.100.1"), { hostname: "lb.example.com" }]]);
    const ports = [{ port: 80, protocol: "TCP" }];
    expect(ingress((await write("a", { ip: "192.0.2.10", ports }, { hostname: "h.example.com" })).body)).toEqual([
      { ...vip("192.0.2.10"), ports },
      { hostname: "h.example.com" },
    ]);
    expect(ingress((await write("a")).body)).toEqual([vip("192.0.2.10")]);
  });

  it("one that asks for an address, and two that share it", async () => {
    await pool("p", ["192.0.2.10-192.0.2.12"]);
    const annotations = { "metallb.io/allow-shared-ip": "k" };
    const made = async (name: string, port: number, spec: object = {}): Promise<unknown> => {
      const object = {
        metadata: { name, annotations },
        spec: { type: "LoadBalancer", loadBalancerClass: CLASS, ports: [{ port }], ...spec },
      };
      return ingress((await cluster.send("POST", SERVICES, object)).body);
    };
    expect(await made("a", 80, { loadBalancerIP: "192.0.2.12" })).toEqual([vip("192.0.2.12")]);
    expect(await made("b", 443)).toEqual([vip("192.0.2.12")]);
    expect(await made("c", 443)).toEqual([vip("192.0.2.10")]);
    await cluster.send("DELETE", `${SERVICES}/a`);
    expect(await rows()).toEqual(["b 192.0.2.12", "c 192.0.2.10"]);
  });

  it("many at once, while every object dies: no address twice, none lost", async () => {
    await pool("p", ["10.200.0.0/24"]);
    for (let batch = 0; batch < 4; batch++) {
      const names = Array.from({ length: 30 }, (_, i) => `s-${String(batch)}-${String(i)}`);
      const answers = Promise.all(names.map((name) => cluster.send("POST", SERVICES, balancer(name))));
      if (batch % 2 === 1) await abortAllDurableObjects();
      await answers.catch(() => undefined);
    }
    await vi.waitFor(async () => {
      await cluster.tick();
      const { body } = await cluster.send("GET", SERVICES);
      const shown = ((body.items ?? []) as Service[]).flatMap((service) =>
        (service.status?.loadBalancer?.ingress ?? []).map(({ ip }) => `${service.metadata?.name ?? ""} ${ip ?? ""}`),
      );
      expect(new Set(shown.map((text) => text.split(" ")[1])).size).toBe(shown.length);
      expect(await rows()).toEqual(shown.toSorted());
    }, PATIENCE);
  });
});
