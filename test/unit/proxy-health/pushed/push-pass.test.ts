/** The pass that tells shards, with the shards and stores that it talks to: who hangs holds up nobody else, and nothing is lost for good. */
import { describe, expect, it } from "vitest";
import { NOTHING_KNOWN } from "../../../../src/proxy-health/rpc";
import { shardOf } from "../../../../src/tenancy/cluster-objects";
import { ProxyHealthWorld, TAINT } from "../../../support/sim/proxy-health";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

/** Two nodes of different shards, and a Service with a check and an endpoint on the first. */
async function ready(): Promise<ProxyHealthWorld> {
  const world = new ProxyHealthWorld(seededRandom(1));
  world.setNode("n1");
  world.setNode("n2");
  world.setService("a/x", 30_001);
  world.setSlice("a/s", "x", [{ ip: "10.1.0.1", nodeName: "n1" }]);
  await world.pass(5_000);
  expect(await answers(world)).toEqual([200, "1", 200]);
  world.pushes.length = 0;
  return world;
}

/** What the shards of n1 and n2 answer: in the 30 s after a push they ask nobody. */
async function answers(world: ProxyHealthWorld): Promise<unknown[]> {
  return [await world.run(world.health("n1")), await world.run(world.serviceHealth("n1", "a/x")), await world.run(world.health("n2"))];
}

const [FIRST, SECOND] = [shardOf("n1"), shardOf("n2")];

describe("what hangs", () => {
  it.each(["services", "slices"])(
    "the store of %s: a taint is told within a second, again and again; afterwards the counts",
    async (store) => {
      const world = await ready();
      world.hung.add(store);
      world.setSlice("a/s", "x", []);
      world.setService("a/x", 30_002);
      for (const [taints, code] of [
        [[TAINT], 503],
        [[], 200],
        [[TAINT], 503],
      ] as const) {
        world.setNode("n2", taints);
        await world.pass(1_000);
        expect(await world.run(world.health("n2"))).toBe(code);
      }
      world.releaseAll();
      await world.pass(31_000);
      expect(await answers(world)).toEqual([200, "0", 503]);
    },
  );

  it("the store of Nodes: counts are told within a second", async () => {
    const world = await ready();
    world.hung.add("nodes");
    world.setSlice("a/s", "x", []);
    await world.pass(1_000);
    expect(await answers(world)).toEqual([200, "0", 200]);
  });

  it("a shard: another one hears of a taint within a second, again and again; the shard itself once it answers", async () => {
    const world = await ready();
    world.hung.add(String(FIRST));
    for (const [taints, code] of [
      [[TAINT], 503],
      [[], 200],
      [[TAINT], 503],
    ] as const) {
      world.setNode("n1", taints);
      world.setNode("n2", taints);
      await world.pass(1_000);
      expect(await world.run(world.health("n2"))).toBe(code);
    }
    expect(world.pushes.filter(({ shard }) => shard === FIRST).length, "pushes to who does not answer").toBeLessThanOrEqual(2);
    world.hung.clear();
    await world.pass(31_000);
    expect(await world.run(world.health("n1"))).toBe(503);
  });

  it("the store of Nodes from the beginning: no Node is known, rather than that there is none", async () => {
    const world = new ProxyHealthWorld(seededRandom(1));
    world.setNode("n1");
    world.hung.add("nodes");
    expect(await world.run(world.controller.brain.targets())).toBeNull();
    world.releaseAll();
    await world.pass(60_000);
    expect(await world.run(world.controller.brain.targets())).toMatchObject([{ name: "n1" }]);
  });

  it("the stores of Services and slices from the beginning: Nodes are told, and checks of Services fail until they are read", async () => {
    const world = new ProxyHealthWorld(seededRandom(1));
    world.hung.add("services");
    world.setNode("n1", [TAINT]);
    await world.pass(1_000);
    expect(await world.run(world.health("n1"))).toBe(503);
    await expect(world.run(world.serviceHealth("n1", "a/x"))).rejects.toThrow(NOTHING_KNOWN);
    expect(await world.run(world.controller.brain.targets())).toMatchObject([{ name: "n1" }]);
    world.releaseAll();
    await world.pass(60_000);
    expect(await world.run(world.serviceHealth("n1", "a/x"))).toBe("-");
  });
});

describe("what is lost", () => {
  it("rows of the controller, while Services cannot be read: Nodes are told, checks and counts of before go on", async () => {
    const world = new ProxyHealthWorld(seededRandom(1));
    const lose = world.rememberController();
    world.setNode("n1");
    world.setService("a/x", 30_001);
    world.setSlice("a/s", "x", [{ ip: "10.1.0.1", nodeName: "n1" }]);
    await world.pass(5_000);
    lose();
    world.hung.add("services");
    world.setNode("n1", [TAINT]);
    await world.pass(1_000);
    expect([await world.run(world.health("n1")), await world.run(world.serviceHealth("n1", "a/x"))]).toEqual([503, "1"]);
    world.releaseAll();
    world.setSlice("a/s", "x", []);
    await world.pass(31_000);
    expect([await world.run(world.health("n1")), await world.run(world.serviceHealth("n1", "a/x"))]).toEqual([503, "0"]);
  });

  it("the answer of a push: the shard gets everything once, and then changes alone", async () => {
    const world = await ready();
    const { fate } = world.network;
    world.network.fate = (step, target) => (target === String(FIRST) ? "replyLost" : fate(step, target));
    world.setNode("n1", [TAINT]);
    await world.pass(400);
    world.network.fate = fate;
    for (const [taints, code] of [
      [[], 200],
      [[TAINT], 503],
    ] as const) {
      world.setNode("n1", taints);
      await world.pass(5_000);
      expect(await world.run(world.health("n1"))).toBe(code);
    }
    expect(world.pushes.map(({ change }) => change.from !== undefined)).toEqual([true, false, true]);
  });

  it("the answers of all pushes: what arrives goes on to count", async () => {
    const world = await ready();
    const { fate } = world.network;
    for (const [taints, seen] of [
      [[TAINT], 503],
      [[], 200],
      [[TAINT], 503],
    ] as const) {
      world.network.fate = (step, target) => (target === String(FIRST) ? "replyLost" : fate(step, target));
      world.setNode("n1", taints);
      await world.pass(5_000);
      world.network.fate = fate;
      expect(await world.run(world.health("n1"))).toBe(seen);
    }
  });

  it("a poke: the question of any shard asks for a pass, unless one has begun in the last 5 s", async () => {
    const world = await ready();
    await world.pass(31_000);
    world.setNode("n2", [TAINT], false);
    await world.run(world.health("n1"));
    await world.pass(500);
    expect(await world.run(world.health("n2"))).toBe(503);
    const { calls } = world.network;
    for (let i = 0; i < 4; i++) {
      await world.run(world.controller.brain.shardState(FIRST, null));
      await world.pass(1_000);
    }
    expect(world.network.calls - calls).toBe(0);
  });

  it("a poke, and a shard that has just begun: its first question reads no store, and the one after 30 s asks for a pass", async () => {
    const world = await ready();
    world.shard(FIRST).crash();
    world.setNode("n1", [TAINT], false);
    await world.pass(6_000);
    const { calls } = world.network;
    expect(await world.run(world.health("n1"))).toBe(200);
    await world.pass(500);
    expect(world.network.calls - calls, "the check and its question").toBe(2);
    await world.pass(31_000);
    await world.run(world.health("n1"));
    await world.pass(500);
    expect(await world.run(world.health("n1"))).toBe(503);
  });

  it("the list of checks, for a shard without a Node: its next question brings it", async () => {
    const world = await ready();
    const other = ["x1", "x2", "x3"].find((name) => ![FIRST, SECOND].includes(shardOf(name))) ?? "";
    expect(await world.run(world.serviceHealth(other, "a/x"))).toBe("0");
    world.set("services", "a/x", undefined);
    await world.pass(31_000);
    await world.run(world.serviceHealth(other, "a/x"));
    await world.pass(100);
    expect(await world.run(world.serviceHealth(other, "a/x"))).toBe("-");
    const { calls } = world.network;
    world.setNode("n1", [TAINT]);
    await world.pass(1_000);
    expect(world.network.calls - calls, "a change of another shard is nothing to it").toBeLessThan(8);
  });
});

describe("a crash between two pages of Nodes", () => {
  /** n1 gets the taint, and the controller has read the page of n1 and n2, but not the next one. */
  async function halfRead(world: ProxyHealthWorld): Promise<void> {
    let calls = 0;
    const { fate } = world.network;
    // The history is gone, then comes the first page. Nobody is told anything meanwhile.
    world.network.fate = (step, target) => (target === "services" || (target === "nodes" && ++calls > 2) ? "held" : fate(step, target));
    world.setNode("n1", [TAINT]);
    world.feeds.nodes.forget();
    await world.pass(500);
    world.network.fate = fate;
  }

  /** The controller dies, and reads everything. */
  async function crash(world: ProxyHealthWorld): Promise<void> {
    world.network.held.length = 0;
    world.controller.crash();
    world.setNode("n3", [TAINT]);
    await world.pass(1_000);
  }

  it("a push of before ends meanwhile: what the first page changed is told after the crash", async () => {
    const world = await ready();
    world.setNode("n3");
    await world.pass(1_000);
    const { fate } = world.network;
    world.network.fate = (step, target) => (target === String(SECOND) ? "answerHeld" : fate(step, target));
    world.setNode("n2", [TAINT]);
    await world.pass(100);
    world.network.fate = fate;
    const [answer] = world.network.held.splice(0);
    await halfRead(world);
    answer?.deliver();
    await world.pass(10);
    await crash(world);
    expect(await answers(world)).toEqual([503, "1", 503]);
  });

  it("a shard that lost its rows asks meanwhile: hears of nothing that the crash takes back", async () => {
    const world = new ProxyHealthWorld(seededRandom(1));
    const lose = world.rememberShard(FIRST);
    for (const name of ["n1", "n2", "n3"]) world.setNode(name);
    await world.pass(1_000);
    await halfRead(world);
    lose();
    await world.run(world.health("n1"));
    await world.pass(10);
    expect(await world.run(world.health("n1"))).toBe(503);
    world.setNode("n1", [], false);
    await crash(world);
    expect(await world.run(world.health("n1"))).toBe(200);
  });
});

describe("what goes back to an earlier time", () => {
  it.each<[what: string, changes: number]>([
    ["fewer changes than were lost", 0],
    ["more changes than were lost", 4],
  ])("the rows of the controller, and then %s: shards hear what is now", async (_, changes) => {
    const world = await ready();
    const back = world.rememberController();
    world.setNode("n1", [TAINT]);
    await world.pass(1_000);
    expect(await world.run(world.health("n1"))).toBe(503);
    // The restored rows say that n1 has no taint, so the controller has nothing new to tell of it.
    world.setNode("n1", [], false);
    back();
    for (let i = 0; i < changes; i++) {
      world.setNode("n2", i % 2 === 0 ? [TAINT] : []);
      await world.pass(1_000);
    }
    await world.pass(31_000);
    await world.run(world.health("n1"));
    await world.pass(100);
    expect(await answers(world)).toEqual([200, "1", 200]);
    world.setNode("n1", [TAINT]);
    await world.pass(1_000);
    expect(await answers(world)).toEqual([503, "1", 200]);
  });

  it("the rows of the controller, and no check: the next push finds the gap", async () => {
    const world = await ready();
    const back = world.rememberController();
    world.setNode("n1", [TAINT]);
    await world.pass(1_000);
    world.setNode("n1", [], false);
    back();
    world.setSlice("a/s", "x", []);
    await world.pass(1_000);
    expect(await answers(world)).toEqual([200, "0", 200]);
  });

  it.each<[what: string, waitMs: number, hangs: boolean]>([
    ["the next question hears of it", 1_000, false],
    ["and Nodes cannot be read: so does the next question 5 s after they can", 6_000, true],
  ])("the rows of the controller, to their beginning, with the news of a Node that is gone: %s", async (_, waitMs, hangs) => {
    const world = new ProxyHealthWorld(seededRandom(1));
    const back = world.rememberController();
    world.setNode("n1");
    world.setNode("n2");
    world.setService("a/x", 30_001);
    await world.pass(5_000);
    expect(await answers(world)).toEqual([200, "0", 200]);
    // Nobody tells the shard: the controller does not know of the Node.
    world.set("nodes", "n1", undefined, false);
    back();
    if (hangs) world.hung.add("nodes");
    await world.pass(31_000);
    expect(await world.run(world.health("n1"))).toBe(200);
    await world.pass(waitMs);
    world.releaseAll();
    await world.run(world.health("n1"));
    await world.pass(1_000);
    expect(await answers(world)).toEqual([503, "0", 200]);
  });

  it("the rows of a shard: its next question, or the next push, brings everything", async () => {
    const world = await ready();
    const back = world.rememberShard(FIRST);
    world.setNode("n1", [TAINT]);
    await world.pass(1_000);
    back();
    expect(await world.run(world.health("n1"))).toBe(200);
    await world.pass(100);
    expect(await world.run(world.health("n1"))).toBe(503);
    back();
    world.setSlice("a/s", "x", []);
    await world.pass(1_000);
    expect(await answers(world)).toEqual([503, "0", 200]);
  });
});
