/** IPAddress objects that the services store writes and deletes (rules 4 and 8; hazard 8). */
import { describe, expect, it } from "vitest";
import { compareGens } from "../../../../src/addresses/clusterip/ip-address-storage";
import type { IPAddressDelete, IPAddressWrite } from "../../../../src/addresses/rpc/ip-addresses";
import { SimApi } from "../../../support/sim/api";
import { ipAddressesOf } from "../../../support/sim/watches/checks";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { histories, playEach, seedsOf } from "../../../support/sim/platform/seeds";

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
      spec: { parentRef: { resource: "services", namespace: "default", name: "web-1" } },
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
    await playEach(seedsOf(histories(40)), async (seed) => {
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
      expect(api.parents).toEqual({ "10.9.0.5": "default/web-4" });
      await api.run(brain.deleteMany([aDelete(4)]));
      await api.run(brain.createMany([aWrite(4), aWrite(1)]));
      expect(api.parents).toEqual({});
    });
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
