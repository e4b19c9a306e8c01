/** The ipaddresses store with its extension (rules 4, 8, 15; hazards 7 and 8). */
import { describe, expect, it } from "vitest";
import { compareGens } from "../../../../src/addresses/clusterip/ip-address-extension";
import type { IPAddressDelete, IPAddressWrite } from "../../../../src/addresses/rpc/ip-addresses";
import { seededRandom } from "../../../support/sim/seeded-random";
import { objectOf, SimApi, statusOf } from "../../../support/sim/api";
import { checkQuiet, ipAddressesOf } from "../../../support/sim/checks";

async function isQuiet(api: SimApi): Promise<void> {
  await api.cluster.quiesce();
  expect(await checkQuiet(api.cluster)).toEqual([]);
}

function aWrite(counter: number, name = `web-${counter}`): IPAddressWrite {
  const gen = { epoch: 1, counter };
  return { address: "10.9.0.5", family: "IPv4", token: `token-${counter}`, gen, namespace: "default", name };
}

function aDelete(counter: number): IPAddressDelete {
  const { address, token, gen } = aWrite(counter);
  return { address, token, gen };
}

describe("IPAddress that the services store writes", () => {
  it("a create: the labels and the parentRef of upstream's allocator", async () => {
    const api = new SimApi();
    await api.run(api.cluster.ipAddresses.brain.createMany([aWrite(1)]));
    expect(ipAddressesOf(api.cluster)[0]).toMatchObject({
      metadata: {
        name: "10.9.0.5",
        labels: { "ipaddress.kubernetes.io/ip-family": "IPv4", "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" },
      },
      spec: { parentRef: { group: "", resource: "services", namespace: "default", name: "web-1" } },
    });
  });

  it("a newer row: replaces the object; an equal or older row: changes nothing", async () => {
    const api = new SimApi();
    const store = api.cluster.ipAddresses.brain;
    const createMany = (writes: Parameters<typeof store.createMany>[0]): Promise<void> => store.createMany(writes);
    await api.run(createMany([aWrite(5)]));
    const uid = ipAddressesOf(api.cluster)[0]?.metadata?.uid;
    await api.run(createMany([aWrite(5, "again"), aWrite(4)]));
    expect(api.parents).toEqual({ "10.9.0.5": "default/web-5" });
    expect(ipAddressesOf(api.cluster)[0]?.metadata?.uid).toBe(uid);
    await api.run(createMany([aWrite(6)]));
    expect(api.parents).toEqual({ "10.9.0.5": "default/web-6" });
    expect(ipAddressesOf(api.cluster)[0]?.metadata?.uid).not.toBe(uid);
  });

  it("repeated messages in any order: the newest row that was not released decides (hazard 8)", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = seededRandom(seed);
      const api = new SimApi({ seed });
      const brain = api.cluster.ipAddresses.brain;
      // Rows 1 to 4 of one address; each but the last was released before the next was given out.
      const messages = [1, 2, 3, 4].flatMap((counter) => [
        () => brain.createMany([aWrite(counter)]),
        () => brain.deleteMany([aDelete(counter)]),
      ]);
      const sent = messages.slice(0, -1).flatMap((message) => [message, message]);
      for (let at = sent.length; at > 0;) {
        const pick = random.below(at--);
        const [message] = sent.splice(pick, 1);
        if (message) await api.run(message());
      }
      expect(api.parents, `seed ${seed}`).toEqual({ "10.9.0.5": "default/web-4" });
      await api.run(brain.deleteMany([aDelete(4)]));
      await api.run(brain.createMany([aWrite(4), aWrite(1)]));
      expect(api.parents, `seed ${seed}`).toEqual({});
    }
  });

  it("a delete with another token: changes nothing", async () => {
    const api = new SimApi();
    const store = api.cluster.ipAddresses.brain;
    const createMany = (writes: Parameters<typeof store.createMany>[0]): Promise<void> => store.createMany(writes);
    const deleteMany = (items: Parameters<typeof store.deleteMany>[0]): Promise<void> => store.deleteMany(items);
    await api.run(createMany([aWrite(5)]));
    await api.run(deleteMany([{ ...aDelete(5), token: "another" }, aDelete(4)]));
    expect(api.parents).toEqual({ "10.9.0.5": "default/web-5" });
  });

  it("order of gens: by epoch, then by counter", () => {
    const gens = [
      { epoch: 2, counter: 1 },
      { epoch: 1, counter: 9 },
      { epoch: 1, counter: 2 },
    ];
    expect(gens.slice().sort(compareGens)).toEqual([...gens].reverse());
  });
});

describe("a Service's IPAddress deleted by a client", () => {
  it("the address: refused to everybody else while the Service lives", async () => {
    const api = await new SimApi().ready();
    await api.create("web", { clusterIP: "10.0.0.5" });
    objectOf(await api.removeIPAddress("10.0.0.5"));
    expect(await api.rows()).toEqual({ "10.0.0.5": "service web" });
    expect(statusOf(await api.create("other", { clusterIP: "10.0.0.5" })).code).toBe(422);
    expect(statusOf(await api.createIPAddress("10.0.0.5")).reason).toBe("AlreadyExists");
    await api.remove("web");
    await isQuiet(api);
    expect(await api.rows()).toEqual({});
  });
});

describe("an IPAddress of a client", () => {
  it("inside a claim: takes the row, is refused to Services, and is free after its deletion", async () => {
    const api = await new SimApi().ready();
    const { uid } = objectOf(await api.createIPAddress("10.0.0.5")).metadata ?? {};
    expect(await api.rows()).toEqual({ "10.0.0.5": "ipaddress 10.0.0.5" });
    expect(uid).toBeDefined();
    expect(statusOf(await api.create("web", { clusterIP: "10.0.0.5" })).message).toMatch(/provided IP is already allocated/);
    objectOf(await api.removeIPAddress("10.0.0.5"));
    expect(await api.rows()).toEqual({});
    objectOf(await api.create("web", { clusterIP: "10.0.0.5" }));
    await isQuiet(api);
  });

  it("address of a Service: 409 AlreadyExists", async () => {
    const api = await new SimApi().ready();
    await api.create("web", { clusterIP: "10.0.0.5" });
    expect(statusOf(await api.createIPAddress("10.0.0.5"))).toMatchObject({ code: 409, reason: "AlreadyExists" });
    expect(api.parents).toEqual({ "10.0.0.5": "default/web" });
    await isQuiet(api);
  });

  it.each(["10.0.0.0", "10.0.0.15"])("%s, which no range gives out: takes the row", async (address) => {
    const api = await new SimApi().ready();
    objectOf(await api.createIPAddress(address));
    expect(await api.rows()).toEqual({ [address]: `ipaddress ${address}` });
    objectOf(await api.removeIPAddress(address));
    expect(await api.rows()).toEqual({});
    await isQuiet(api);
  });

  it("outside every claim: has no row; after a ServiceCIDR comes: has its row, and Services are refused", async () => {
    const api = await new SimApi().ready();
    objectOf(await api.createIPAddress("10.0.1.2"));
    expect(await api.rows()).toEqual({});
    objectOf(await api.createServiceCIDR("more", ["10.0.1.0/30"]));
    await api.cluster.scheduler.pass(5_000);
    expect(await api.rows()).toEqual({ "10.0.1.2": "ipaddress 10.0.1.2" });
    expect(statusOf(await api.create("web", { clusterIP: "10.0.1.2" })).message).toMatch(/provided IP is already allocated/);
    objectOf(await api.removeIPAddress("10.0.1.2"));
    objectOf(await api.create("web", { clusterIP: "10.0.1.2" }));
    await isQuiet(api);
  });

  it("address that a Service had before: seeded like any other", async () => {
    const api = await new SimApi().ready();
    objectOf(await api.createServiceCIDR("more", ["10.0.1.0/30"]));
    await api.cluster.scheduler.pass(5_000);
    objectOf(await api.create("web", { clusterIP: "10.0.1.2" }));
    objectOf(await api.remove("web"));
    objectOf(await api.removeServiceCIDR("more"));
    await api.cluster.scheduler.pass(60_000);
    objectOf(await api.createIPAddress("10.0.1.2"));
    objectOf(await api.createServiceCIDR("again", ["10.0.1.0/30"]));
    await api.cluster.scheduler.pass(5_000);
    expect(statusOf(await api.create("web", { clusterIP: "10.0.1.2" })).message).toMatch(/provided IP is already allocated/);
    expect(api.parents).toEqual({ "10.0.1.2": "default/mine" });
    await isQuiet(api);
  });

  it("row that went with a claim: seeded under the token that the deletion releases", async () => {
    const api = await new SimApi().ready();
    objectOf(await api.createIPAddress("10.0.0.5"));
    const owners = [...api.cluster.owners.values()];
    const { rows } = (await owners[0]?.node.brain.rowsSince(0, 10)) ?? { rows: [] };
    const page = { within: ["10.0.0.0/28"], after: "" };
    const seeds = await api.run(api.cluster.ipAddresses.brain.claimPrefixes(1_000_000, ["10.0.0.0/28"], page));
    expect(seeds.rows.map(({ address, token }) => [address, token])).toEqual([["10.0.0.5", rows[0]?.token]]);
  });

  it("created at any moment while its range comes up: keeps the address (hazard 7)", async () => {
    for (let atMs = 0; atMs < 60; atMs += 2) {
      const api = await new SimApi({ seed: atMs + 1 }).ready();
      const created = api.createServiceCIDR("more", ["10.0.1.0/30"]);
      await api.cluster.scheduler.pass(atMs);
      const mine = objectOf(await api.createIPAddress("10.0.1.2"));
      await created;
      await api.cluster.scheduler.pass(5_000);
      expect(statusOf(await api.create("web", { clusterIP: "10.0.1.2" })).message, `after ${atMs} ms`).toMatch(/already allocated/);
      expect(ipAddressesOf(api.cluster)[0]?.metadata?.uid).toBe(mine.metadata?.uid);
      await isQuiet(api);
    }
  });
});
