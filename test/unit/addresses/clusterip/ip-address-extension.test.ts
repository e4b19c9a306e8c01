/** The ipaddresses store with its extension (rules 4, 8, 15; hazards 7 and 8). */
import { describe, expect, it } from "vitest";
import { objectOf, SimApi, statusOf } from "../../../support/sim/api";
import { checkQuiet, ipAddressesOf } from "../../../support/sim/watches/checks";

async function isQuiet(api: SimApi): Promise<void> {
  await api.cluster.quiesce();
  expect(await checkQuiet(api.cluster)).toEqual([]);
}

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
