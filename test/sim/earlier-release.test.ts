/** The release before, as the simulation plays it: what it lacks is what the kept release lacks, and its callers meet what the platform says of that. */
import { describe, expect, it } from "vitest";
import { FULL_AT } from "../../src/addresses/repair/repair-ports";
import { isMethodMissing } from "../../src/api/rpc/older-release";
import { isUnsupported } from "../../src/api/rpc/protocol";
import { keptRelease } from "../support/server/kept-release";
import { LACKING } from "../support/sim/platform/earlier-release";
import { SimCluster } from "../support/sim/cluster";
import { ALWAYS, SimNetwork, SimNode } from "../support/sim/platform/network";
import { CLUSTER } from "../support/sim/platform/platform";
import { SimScheduler } from "../support/sim/platform/scheduler";
import { seededRandom } from "../support/sim/platform/seeded-random";

/** The lists of names of methods in the bundle of the kept release (shellOf), by a method that each has. */
function listedIn(text: string, method: string): string[] {
  const lists = text.match(/\[(?:"[a-zA-Z]+",?)+\]/g) ?? [];
  return lists.filter((list) => list.includes(`"${method}"`)).flatMap((list) => JSON.parse(list) as string[]);
}

describe("what the kept release lacks", () => {
  const { text } = keptRelease();
  const stores = listedIn(text, "closeNamespace");

  it.each([
    ["a store", stores],
    ["the services store", [...stores, ...listedIn(text, "ensureBootstrapped"), ...listedIn(text, "makeNodePortsWhole")]],
    ["the Coordinator", [...stores, ...listedIn(text, "countedTopology")]],
    ["repair", listedIn(text, "controllerStatus")],
  ] as const)(
    "%s: lacks the calls that the simulation leaves out (else LACKING needs those of the release that was kept since)",
    (kind, answered) => {
      expect(answered.length).toBeGreaterThan(5);
      expect(LACKING[kind].filter((method) => answered.includes(method))).toEqual([]);
    },
  );

  it("there are no shards", () => {
    expect(text).not.toContain('"shards/');
    expect(text).not.toContain("`shards/");
  });
});

describe("an object of the release before", () => {
  interface Brain {
    known(): Promise<string>;
    visit(): Promise<string>;
    alarm(): Promise<void>;
  }
  const made = () => {
    const scheduler = new SimScheduler();
    const network = new SimNetwork(scheduler, seededRandom(1));
    const rings: string[] = [];
    const brain = {
      known: () => Promise.resolve("known"),
      visit: () => Promise.resolve("visited"),
      alarm: async () => void rings.push("rang"),
    };
    const node = new SimNode<Brain>(
      "store",
      network,
      () => ({ ...brain }),
      (one) => one.alarm(),
    );
    const call = (work: (one: Brain) => Promise<string>, isEarlier = false): Promise<string> =>
      scheduler.run(network.call({ ...ALWAYS, isEarlier }, node, work)).catch((error: unknown) => Promise.reject(error as Error));
    return { scheduler, network, node, call, rings };
  };

  it("a method that it lacks: as the platform says it. One that it has: answered", async () => {
    const { call, network, node } = made();
    node.deploy({ kind: "a store" });
    const error: unknown = await call((one) => one.visit()).catch((thrown: unknown) => thrown);
    expect([isMethodMissing(error, "visit"), isUnsupported(error)]).toEqual([true, true]);
    expect(await call((one) => one.known())).toBe("known");
    expect([...network.marks]).toEqual(["a store lacks visit"]);
  });

  it("deployed again: answers, and callers of the release before are heard then alone", async () => {
    const { call, node } = made();
    let heard = 0;
    node.onEarlierCaller = () => heard++;
    node.deploy({ kind: "a store" });
    await call((one) => one.known(), true);
    expect(heard).toBe(0);
    node.deploy(undefined);
    expect(await call((one) => one.visit())).toBe("visited");
    await call((one) => one.known(), true);
    expect(heard).toBe(1);
  });

  it("an alarm that its class does not handle: is dropped for good", async () => {
    const { node, rings, scheduler } = made();
    node.deploy({ kind: "a shard" });
    node.setAlarm(scheduler.now + 10);
    await scheduler.pass(10_000);
    expect([rings, node.alarmAt]).toEqual([[], undefined]);
    node.deploy(undefined);
    await scheduler.pass(10_000);
    expect(rings).toEqual([]);
    node.setAlarm(scheduler.now + 10);
    await scheduler.pass(100);
    expect(rings).toEqual(["rang"]);
  });
});

describe("deletion of a namespace during a deployment", () => {
  async function world() {
    const cluster = new SimCluster({ seed: 1, ranges: ["10.0.0.0/28"], families: ["IPv4"] });
    const { controllers, namespaces, scheduler } = cluster;
    const shard = { ...ALWAYS, clock: scheduler.clock() };
    const ticks = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        await scheduler.run(
          controllers.visit(shard, { id: CLUSTER, job: "maintain", facts: null, tickMs: scheduler.now, settings: undefined }),
        );
        await scheduler.pass(60_000);
      }
    };
    await scheduler.run(namespaces.create("passing"));
    // The first one is a full visit. From then on those alone are visited that have asked.
    await ticks(4);
    return { cluster, ticks };
  }

  it("a controller of the release before takes a poke, and its pass ends with it: the store tells the newer one, before a full visit", async () => {
    const { cluster, ticks } = await world();
    const { controllerNodes, namespaces, network, scheduler } = cluster;
    controllerNodes.namespaces.deploy({ kind: "a controller", methods: (brain) => ({ poke: () => brain.poke() }) });
    let isOver = false;
    network.fate = (step) => {
      if (isOver || step !== "emptyNamespace") return undefined;
      isOver = true;
      scheduler.after(0, () => controllerNodes.namespaces.deploy(undefined));
      return "lost";
    };
    await scheduler.run(namespaces.remove("passing"));
    await scheduler.pass(60_000);
    expect([isOver, namespaces.terminating]).toEqual([true, ["passing"]]);
    await ticks(4);
    expect(namespaces.has("passing")).toBe(false);
  });

  it("a poke of a store of the release before is lost, and nobody knows: the next full visit goes on", async () => {
    const { cluster, ticks } = await world();
    const { namespaces, network, plain, scheduler, tables } = cluster;
    plain.namespaces.deploy({ kind: "a store" });
    network.fate = (step) => (step === "pokeNamespaces" ? "lost" : undefined);
    await scheduler.run(namespaces.remove("passing"));
    await scheduler.pass(1_000);
    network.fate = () => undefined;
    plain.namespaces.deploy(undefined);
    await ticks(4);
    expect(namespaces.terminating).toEqual(["passing"]);
    tables.controllers.repair.numberSet(FULL_AT, 0);
    await ticks(2);
    expect(namespaces.has("passing")).toBe(false);
  });
});
