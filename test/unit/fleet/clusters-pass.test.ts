import { describe, expect, it } from "vitest";
import { CLUSTER_FINALIZER } from "../../../src/api/registry/clusters/cluster";
import { ClustersWorld } from "../../support/fleet/clusters-world";

const LONG = 120_000;

/** `a` is made in weur with a list of its own, gets another one, and is deleted; `b` stays; `old` has no object at first. */
async function life(dieAt = 0): Promise<ClustersWorld> {
  const world = new ClustersWorld(dieAt);
  world.begin("old", "enam", ["*", "-namespace-controller"]);
  await world.create("a", { location: "weur", controllers: ["*", "-namespace-controller"] });
  await world.create("b");
  await world.pass(LONG);
  expect(world.shown, `made, death ${dieAt}`).toEqual(["a Active True", "b Active True", "default Active True", "old Active True"]);
  const object = world.object("a");
  await world.update({ ...object, spec: { location: "weur", controllers: ["*"] } });
  await world.pass(LONG);
  expect(world.made.get("a"), `configured, death ${dieAt}`).toMatchObject({ controllers: ["*"], begun: 1, bootstrapped: true });
  await world.remove("a");
  await world.pass(LONG);
  return world;
}

function ended(world: ClustersWorld): object {
  return {
    shown: world.shown,
    made: [...world.made].map(([name, { phase, begun, bootstrapped, controllers }]) => [name, phase, begun, bootstrapped, controllers]),
    old: world.object("old")?.spec,
    deletions: world.objects.map(({ metadata }) => metadata?.finalizers?.join() ?? ""),
  };
}

describe("the controller of Clusters", () => {
  const end = {
    shown: ["b Active True", "default Active True", "old Active True"],
    made: [
      ["old", "active", 1, true, ["*", "-namespace-controller"]],
      ["a", "absent", 1, true, ["*"]],
      ["b", "active", 1, true, null],
    ],
    old: { location: "enam", controllers: ["*", "-namespace-controller"] },
    deletions: [CLUSTER_FINALIZER, "", CLUSTER_FINALIZER],
  };

  it("wherever its object dies, or if it does not: each cluster is made once, configured, and deleted with its object", async () => {
    const { world } = await life();
    const { points } = world;
    expect(points).toBeGreaterThan(40);
    for (let at = 0; at <= points; at++) expect(ended(await life(at)), `death ${at}`).toEqual(end);
  });

  it("a further pass: reads the store, and asks no cluster", async () => {
    const world = await life();
    world.world.takeCalls();
    world.world.poke();
    await world.pass(1_000);
    expect(world.world.takeCalls()).toEqual(["clusters objectsSince"]);
  });

  it("a deletion: tells its progress, and Ready is False", async () => {
    const world = new ClustersWorld();
    await world.create("a");
    await world.pass(5_000);
    await world.remove("a");
    await world.pass(1_500);
    const { status } = world.object("a") ?? {};
    expect(status).toMatchObject({ phase: "Terminating", url: "/clusters/a", objects: 3 });
    expect(status?.wiped).toBeGreaterThan(0);
    expect(status?.conditions?.map(({ type, status: holds, reason }) => `${type} ${holds} ${reason}`)).toEqual([
      "Ready False ClusterDeleting",
      "Deleting True Wiping",
    ]);
    await world.pass(10_000);
    expect(world.shown).toEqual(["default Active True"]);
  });

  it("a deletion before the controller has looked: no cluster begins", async () => {
    const world = new ClustersWorld();
    await world.pass(1_000);
    world.world.fault = (call) => (call === "open a" ? new Error("silent") : undefined);
    await world.create("a");
    await world.remove("a");
    await world.pass(LONG);
    expect([world.shown, world.made.get("a")]).toEqual([["default Active True"], undefined]);
  });

  it("the earlier cluster of the name is still being deleted: waits, says so, and begins behind it", async () => {
    const world = new ClustersWorld();
    world.begin("a");
    Object.assign(world.made.get("a") ?? {}, { phase: "deleting" });
    await world.pass(1_000);
    await world.create("a");
    await world.pass(500);
    expect(world.shown).toEqual(["a Pending NameInUse", "default Active True"]);
    await world.pass(LONG);
    expect([world.shown, world.made.get("a")?.begun]).toEqual([["a Active True", "default Active True"], 2]);
  });

  it("a cluster that is there in another place than its object says: Ready is False, and nothing moves", async () => {
    const world = new ClustersWorld();
    await world.pass(1_000);
    world.begin("a", "enam");
    await world.create("a", { location: "weur" });
    await world.pass(LONG);
    expect(world.shown).toEqual(["a Active OtherLocation", "default Active True"]);
    expect(world.object("a")?.status?.location).toBe("enam");
  });

  it("a cluster that was deleted past its object: the object goes, and no empty cluster begins", async () => {
    const world = new ClustersWorld();
    await world.create("a");
    await world.create("b");
    await world.pass(5_000);
    for (const name of ["a", "b"]) Object.assign(world.made.get(name) ?? {}, { phase: "absent" });
    const object = world.object("b");
    await world.update({ ...object, spec: { controllers: ["*"] } });
    await world.pass(5_000);
    expect(world.shown).toEqual(["a Active True", "default Active True"]);
    // The list of all clusters is read each hour.
    await world.pass(3_600_000);
    world.world.poke();
    await world.pass(5_000);
    expect([world.shown, world.made.get("a")?.begun, world.made.get("b")?.begun]).toEqual([["default Active True"], 1, 1]);
  });

  it("the list of all clusters does not answer: other work goes on, and clusters without objects get them later", async () => {
    const world = new ClustersWorld();
    world.isListSilent = true;
    world.begin("old");
    await world.create("a");
    await world.pass(2_000);
    expect(world.shown).toEqual(["a Active True", "default Active True"]);
    world.isListSilent = false;
    await world.pass(LONG);
    expect(world.shown).toEqual(["a Active True", "default Active True", "old Active True"]);
  });

  it("a call to end the cluster that comes late, when the name has a later one: that one stays, and so does its object", async () => {
    const world = new ClustersWorld();
    await world.create("a");
    await world.pass(5_000);
    world.world.fault = (call) => (call === "remove a" ? new Error("late") : undefined);
    await world.remove("a");
    await world.pass(5_000);
    const late = world.made.get("a")?.id ?? "";
    world.world.fault = () => undefined;
    await world.pass(LONG);
    await world.create("a");
    await world.pass(5_000);
    const { id, phase } = world.lateRemoval("a", late);
    expect([late, id, phase, world.object("a")?.status?.id]).toEqual(["a", "a~2", "active", "a~2"]);
    await world.pass(LONG);
    expect(world.shown).toEqual(["a Active True", "default Active True"]);
  });

  it.each([
    ["while it waits, as in a store that was brought back in time", "look a"],
    ["between a look and the end", "remove a"],
  ])(
    "an object that is being deleted, and whose cluster is made anew %s: goes, and the later cluster stays and gets its own",
    async (_, at) => {
      const world = new ClustersWorld();
      world.tellsLives = true;
      await world.create("a");
      await world.pass(5_000);
      await world.remove("a");
      world.world.fault = (call) => {
        if (call === at && world.made.get("a")?.begun === 1) world.begin("a");
        return undefined;
      };
      await world.pass(2 * 3_600_000);
      world.world.poke();
      await world.pass(LONG);
      expect([world.made.get("a"), world.object("a")?.status?.id]).toMatchObject([{ begun: 2, phase: "active", id: "a~2" }, "a~2"]);
    },
  );

  it("a cluster that was made anew past its object: the object stands for the later one, whose end it is", async () => {
    const world = new ClustersWorld();
    world.tellsLives = true;
    await world.create("a");
    await world.pass(5_000);
    world.begin("a");
    await world.pass(3_600_000);
    world.world.poke();
    await world.pass(5_000);
    expect(world.object("a")?.status?.id).toBe("a~2");
    await world.remove("a");
    await world.pass(LONG);
    expect([world.shown, world.made.get("a")?.phase]).toEqual([["default Active True"], "absent"]);
  });

  it("the cluster default: a list that it has already is kept, and one of its object is taken", async () => {
    const world = new ClustersWorld();
    world.begin("default", undefined, ["*", "-namespace-controller"]);
    await world.pass(5_000);
    expect(world.object("default")?.spec?.controllers).toEqual(["*", "-namespace-controller"]);
    const { controllers: _, ...spec } = world.object("default")?.spec ?? {};
    await world.update({ ...world.object("default"), spec });
    await world.pass(5_000);
    expect([world.made.get("default")?.controllers, world.made.get("default")?.bootstrapped]).toEqual([null, false]);
  });
});
