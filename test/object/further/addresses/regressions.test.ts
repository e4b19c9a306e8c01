/**
 * What went wrong in released versions of Kubernetes and stayed wrong in clusters for long: each once, by name, on real Durable Objects.
 */
import { abortAllDurableObjects, env } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import type { ServiceCIDR } from "../../../../durable-objects/service-cidr";
import { writeRangeAllocation } from "../../../../src/tools/import/range-allocation";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { parseAddress } from "../../../../src/core/net/address";
import type { AllocateItem } from "../../../../src/addresses/rpc/service-cidr";
import { rangeAllocationsResponse } from "../../../../src/worker/system/range-allocations";
import { prefixOf } from "../../../model/prefix-of";
import { addressOf, createRequest, messageOf, ObjectCluster, plant } from "../../../support/objects/object-cluster";
import { aConfig, aHolder } from "../../../support/worlds/owner-world";
import { aService, anIPAddress } from "../../../support/worlds/repair-world";
import { DELETE } from "../../../support/worlds/store-world";

const bindings = env as unknown as Env;
const { SERVICE_CIDR } = env as unknown as { SERVICE_CIDR: DurableObjectNamespace<ServiceCIDR> };

let owners = 0;
let tokens = 0;
const item = (family: "IPv4" | "IPv6", address = ""): AllocateItem => ({ token: `token-${++tokens}`, holder: aHolder(), family, address });

/** The object that owns one range alone; the stub of one that died is asked for again. */
async function ownerOf(cidr: string): Promise<() => DurableObjectStub<ServiceCIDR>> {
  const name = `regressions/${++owners}`;
  expect(await SERVICE_CIDR.getByName(name).configure(aConfig(1, [cidr]))).toEqual({ ok: true });
  return () => SERVICE_CIDR.getByName(name);
}

describe("a Service deleted behind a finalizer during repair", () => {
  it("a Service behind a finalizer: keeps its address through repair, also when its IPAddress is removed by force, then frees it", async () => {
    const cluster = await new ObjectCluster().ready();
    const clusterIP = "10.96.0.77";
    const held = await cluster.services.write(createRequest("held", { clusterIP }, { metadata: { finalizers: ["example.com/hold"] } }));
    expect(addressOf(held)).toBe(clusterIP);
    expect(messageOf(await cluster.remove("held"))).toBe("");
    for (let pass = 0; pass < 3; pass++) {
      await cluster.repair();
      expect(messageOf(await cluster.create("thief", { clusterIP }))).toContain("provided IP is already allocated");
      await cluster.check();
      if (pass === 1) {
        await cluster.ipAddresses.write({ verb: "delete", key: { namespace: "", name: clusterIP }, options: DELETE });
      }
    }
    expect(messageOf(await cluster.patch("held", { metadata: { finalizers: null } }))).toBe("");
    await cluster.repair();
    expect((await cluster.owner()).held).toEqual(["10.96.0.1"]);
    expect((await cluster.stored()).ipAddresses.map(({ metadata }) => metadata?.name)).toEqual(["10.96.0.1"]);
    expect(addressOf(await cluster.create("next", { clusterIP }))).toBe(clusterIP);
    await cluster.check();
  });
});

describe("a static request beside a stale legacy bitmap", () => {
  it("a legacy bitmap with every bit set, or none: a static request of a free address succeeds", async () => {
    const cluster = await new ObjectCluster().ready();
    const range = "10.96.0.0/16";
    const gates = { ...bindings, FEATURE_GATES: "DisableAllocatorDualWrite=false" };
    const bitmaps = (init?: RequestInit) => {
      const url = `http://server/clusters/${cluster.name}/admin/rangeallocations/serviceips`;
      return rangeAllocationsResponse(gates, cluster.name, new Request(url, init), "serviceips");
    };
    const stale = [Array.from({ length: 65_534 }, (_, bit) => bit), []];
    for (const [i, bits] of stale.entries()) {
      const body = JSON.stringify({ kind: "RangeAllocation", ...writeRangeAllocation(range, bits) });
      expect((await bitmaps({ method: "PUT", body, headers: { "Content-Type": "application/json" } })).status).toBe(200);
      const clusterIP = `10.96.7.${String(i)}`;
      expect(addressOf(await cluster.create(`named-${String(i)}`, { clusterIP }))).toBe(clusterIP);
      expect(addressOf(await cluster.create(`any-${String(i)}`))).toMatch(/^10\.96\./);
      expect(messageOf(await cluster.create("kubernetes-again", { clusterIP: "10.96.0.1" }))).toContain("already allocated");
    }
    const { held } = await cluster.owner();
    const { data } = await (await bitmaps()).json<{ data: string }>();
    const bit = (address: string): number =>
      Number((parseAddress(address) as { value: { value: bigint } }).value.value - prefixOf(range).base) - 1;
    expect(data, "what is read is what is held").toBe(writeRangeAllocation(range, held.map(bit)).data);
  });
});

describe("draws of a /64", () => {
  it("5,000 draws of a /64: all different and inside; its first and last address, and their neighbours, are judged right", async () => {
    const cidr = "2001:db8:0:1::/64";
    const stub = await ownerOf(cidr);
    const { base } = prefixOf(cidr);
    const last = base + (1n << 64n) - 1n;
    const seen = new Set<bigint>();
    for (let batch = 0; batch < 10; batch++) {
      const { results } = await stub().allocate(Array.from({ length: 500 }, () => item("IPv6")));
      for (const result of results) {
        const parsed = parseAddress(result.ok ? result.address : "");
        if (!parsed.ok) throw new Error(JSON.stringify(result));
        seen.add(parsed.value.value);
      }
    }
    expect([...seen].filter((value) => value <= base || value > last)).toEqual([]);
    expect(seen.size).toBe(5_000);
    // Uniform over the whole of it: that all of so many lie in one half has a chance of 2^-4999.
    expect([...seen].some((value) => value > base + (1n << 63n)) && [...seen].some((value) => value < base + (1n << 63n))).toBe(true);
    const named = [
      "2001:db8:0:1::1",
      "2001:db8:0:1:ffff:ffff:ffff:ffff",
      "2001:db8:0:1::",
      "2001:db8:0:2::",
      "2001:db8::ffff:ffff:ffff:ffff",
    ];
    const { results } = await stub().allocate(named.map((address) => item("IPv6", address)));
    expect(results.map((result) => (result.ok ? "given" : result.reason))).toEqual(["given", "given", "notAllocatable", "stale", "stale"]);
  });
});

describe("a /28 and a /124", () => {
  it.each([
    { cidr: "10.0.0.0/28", family: "IPv4", size: 14, outside: ["10.0.0.0", "10.0.0.15"] },
    { cidr: "2001:db8::/124", family: "IPv6", size: 15, outside: ["2001:db8::"] },
  ] as const)("$cidr: gives out $size addresses, each once, then full; after releases again", async ({ cidr, family, size, outside }) => {
    const stub = await ownerOf(cidr);
    for (let round = 0; round < 3; round++) {
      const asked = Array.from({ length: size + 3 }, () => item(family));
      const { results, free } = await stub().allocate(asked);
      const given = results.flatMap((result, i) => (result.ok ? [{ address: result.address, token: asked[i]?.token ?? "" }] : []));
      expect(new Set(given.map(({ address }) => address)).size).toBe(size);
      expect(results.filter((result) => !result.ok && result.reason === "full")).toHaveLength(3);
      expect(free[family]).toEqual({ dynamic: 0, static: 0 });
      const edges = await stub().allocate(outside.map((address) => item(family, address)));
      expect(edges.results).toEqual(outside.map(() => ({ ok: false, reason: "notAllocatable" })));
      expect(await stub().release(given)).toHaveLength(size);
      await abortAllDurableObjects();
    }
  });
});

describe("a nameless Service", () => {
  it("a nameless Service: refused at once, before any address is drawn", async () => {
    const cluster = await new ObjectCluster().ready();
    const { weight } = await cluster.owner();
    const before = await cluster.services.counters();
    expect(messageOf(await cluster.create("", { clusterIP: "10.96.0.9" }))).toMatch(/^422 .*metadata.name: Required value/);
    expect(messageOf(await cluster.create(""))).toMatch(/^422 .*metadata.name: Required value/);
    expect((await cluster.owner()).weight).toBe(weight);
    expect((await cluster.services.counters()).drains - before.drains).toBeLessThanOrEqual(2);
  });

  it("a stored nameless Service: repair ends, and another Service gets its address", async () => {
    const cluster = await new ObjectCluster().ready();
    await plant(cluster.servicesObject, aService("", ["10.96.0.8"], Date.now()), aService("whole", ["10.96.0.9"], Date.now()));
    for (let pass = 0; pass < 3; pass++) await cluster.repair();
    expect((await cluster.owner()).held).toContain("10.96.0.9");
    const names = (await cluster.stored()).ipAddresses.map(({ metadata }) => metadata?.name);
    expect(names).toContain("10.96.0.9");
    expect(addressOf(await cluster.create("another"))).toMatch(/^10\.96\./);
  });
});

describe("a repair conflict at start", () => {
  it("two Services with one address, an IPAddress of somebody else, one that cannot be read: the rest is repaired, and creates go on", async () => {
    const cluster = await new ObjectCluster().ready();
    const now = Date.now();
    await plant(
      cluster.servicesObject,
      aService("one", ["10.96.0.10"], now),
      aService("two", ["10.96.0.10"], now),
      aService("taken", ["10.96.0.11"], now),
      aService("broken", ["10.96.0.300"], now),
      aService("whole", ["10.96.0.12"], now),
    );
    await plant(cluster.ipAddressesObject, anIPAddress("10.96.0.11", "default/somebody", now));
    await abortAllDurableObjects();
    const repaired = cluster.repair();
    const meanwhile = await Promise.all(Array.from({ length: 20 }, (_, i) => cluster.create(`meanwhile-${String(i)}`)));
    expect(meanwhile.map(messageOf).filter(Boolean)).toEqual([]);
    await repaired;
    for (let pass = 0; pass < 3; pass++) await cluster.repair();
    const { services, ipAddresses } = await cluster.stored();
    const holderOf = (address: string) => ipAddresses.find(({ metadata }) => metadata?.name === address)?.spec?.parentRef?.name;
    expect([holderOf("10.96.0.10"), holderOf("10.96.0.11"), holderOf("10.96.0.12")]).toEqual([
      expect.stringMatching(/^(one|two)$/),
      "taken",
      "whole",
    ]);
    const addressIn = (name: string) => services.find((service: Service) => service.metadata?.name === name)?.spec?.clusterIP;
    expect(["one", "two", "broken"].map(addressIn), "nobody is given another address").toEqual(["10.96.0.10", "10.96.0.10", "10.96.0.300"]);
    expect(addressOf(await cluster.create("after"))).toMatch(/^10\.96\./);
  });
});

describe("a full range that gets one address back", () => {
  it("a full range that gets an address back: serves it to the next request, ten times, also after all objects died", async () => {
    const cluster = await new ObjectCluster().ready();
    await cluster.onlyRange("10.97.0.0/30");
    const held = [addressOf(await cluster.create("first")), addressOf(await cluster.create("second"))];
    expect(new Set(held)).toEqual(new Set(["10.97.0.1", "10.97.0.2"]));
    let name = "second";
    for (let round = 0; round < 10; round++) {
      expect(messageOf(await cluster.create("refused"))).toBe(
        '500 Internal error occurred: failed to allocate a serviceIP for Service "refused": range is full',
      );
      const gone =
        round % 2 === 0
          ? await cluster.remove(name)
          : await cluster.patch(name, { spec: { type: "ExternalName", externalName: "a.example.com" } });
      expect(messageOf(gone)).toBe("");
      if (round === 5) await abortAllDurableObjects();
      name = `next-${String(round)}`;
      expect(addressOf(await cluster.create(name))).toBe(held[1]);
    }
    await cluster.check();
  });
});
