/** What the Coordinator answers and does as a whole. */
import { describe, expect, it } from "vitest";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import { parseAddress } from "../../../../src/core/net/address";
import { isUsableIn } from "../../../../src/core/net/usable";
import { CoordinatorWorld, startedWorld } from "../../../support/worlds/coordinator-world";

describe("topology", () => {
  it("free counts: arrive without a question", async () => {
    const world = await startedWorld();
    await world.run(world.coordinator.topology());
    await world.pass(1_000);
    const { free } = await world.run(world.coordinator.topology());
    expect(free).toMatchObject([{ IPv4: { dynamic: 46, static: 16 } }]);
  });

  it("countedTopology: has what each owner answers now", async () => {
    const world = await startedWorld();
    const uid = await world.created("second", ["10.7.0.0/28"]);
    for (const left of [13, 12]) {
      await world.allocate(uid);
      const { free } = await world.run(world.coordinator.countedTopology());
      expect(free.find((counts) => counts.ownerUid === uid)?.IPv4).toEqual({ dynamic: left, static: 0 });
      expect(free.length).toBe(2);
    }
  });

  it("readyTopology, when the default takes too long: answers without it", async () => {
    const world = new CoordinatorWorld();
    world.deaf.add("uid-1");
    const start = world.nowMs;
    const topology = await world.run(world.coordinator.readyTopology(3_000));
    expect(topology.ranges).toEqual([]);
    expect(world.nowMs - start).toBe(3_000);
  });
});

describe("maintain", () => {
  it("deletion that waits: tried again at once", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    const held = await world.allocate(uid, "10.0.1.9");
    await world.run(world.remove("extra"));
    await world.pass(300_000);
    await world.run(world.owner(uid).release([{ address: "10.0.1.9", token: held.token }]));
    const start = world.nowMs;
    await world.run(world.coordinator.maintain());
    expect(world.object("extra")).toBeUndefined();
    expect(world.nowMs - start).toBeLessThan(1_000);
  });
});

describe("IPv6 ranges of any length", () => {
  it.each(["::/0", "::/1", "fd00::/8", "fd00::/32", "fd00::/48", "fd00::/63", "fd00::/64", "fd00::/124", "fd00::/127"])(
    "%s: becomes Ready and gives out addresses of its own",
    async (cidr) => {
      const world = await startedWorld();
      const uid = await world.created("six", [cidr]);
      const holder = { kind: "service", namespace: "n", name: "s", uid: "u" } as const;
      const answer = await world.run(world.owner(uid).allocate([{ token: "six", holder, family: "IPv6", address: "" }]));
      const [result] = answer.results;
      if (!result?.ok) throw new Error(`no address: ${JSON.stringify(result)}`);
      const parsed = parseAddress(result.address);
      expect(parsed.ok && isUsableIn(storedPrefix(cidr), "IPv6", parsed.value.value)).toBe(true);
      const { owners } = await world.run(world.coordinator.topology());
      expect(owners.find((owner) => owner.uid === uid)?.epoch).toBe(answer.epoch);
    },
  );

  it("/64 around the IPv4-mapped addresses, cut by a range inside it: no claim without a text", async () => {
    const world = await startedWorld();
    await world.created("beside", ["::fffe:0:0/96"]);
    const uid = await world.created("around", ["::/64"]);
    const { claims } = await world.run(world.coordinator.topology());
    expect(claims.filter((claim) => claim.ownerUid === uid).length).toBeGreaterThan(10);
    expect(claims.some((claim) => claim.prefix === "::ffff:0:0/96")).toBe(false);
  });
});
