import { describe, expect, it } from "vitest";
import { ADOPTED_ANNOTATION, type Cluster, CLUSTER_FINALIZER } from "../../../src/api/registry/clusters/cluster";
import { isNamedByLabel, NAME_LABEL } from "../../../src/api/registry/name-label";
import { ClustersWorld } from "../../support/fleet/clusters-world";
import { WRITE } from "../../support/worlds/store-world";

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

/** The object as a release without the label has stored it. */
function withoutLabel(text: string): string {
  const { metadata, ...object } = JSON.parse(text) as Cluster;
  const { [NAME_LABEL]: _, ...labels } = metadata?.labels ?? {};
  return JSON.stringify({ ...object, metadata: { ...metadata, labels } });
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
      ["old", "active", 1, false, ["*", "-namespace-controller"]],
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

  it("ranges of the object: its cluster begins with them, whichever call dies, and the status has them", async () => {
    const run = async (dieAt: number): Promise<ClustersWorld> => {
      const world = new ClustersWorld(dieAt);
      await world.create("a", { serviceCIDRs: ["10.1.0.0/16", "fd01::/112"] });
      await world.create("b");
      await world.pass(LONG);
      return world;
    };
    const { points } = (await run(0)).world;
    for (let at = 0; at <= points; at++) {
      const world = await run(at);
      const facts = ["a", "b"].map((name) => [world.made.get(name)?.serviceRanges, world.object(name)?.status?.serviceCIDRs]);
      expect(facts, `death ${at}`).toEqual([
        [
          ["10.1.0.0/16", "fd01::/112"],
          ["10.1.0.0/16", "fd01::/112"],
        ],
        [undefined, ["10.96.0.0/16"]],
      ]);
      expect(world.shown, `death ${at}`).toEqual(["a Active True", "b Active True", "default Active True"]);
    }
  });

  it("quotas of the object: new namespaces of its cluster start with them, whichever call dies; none of the object: none", async () => {
    const run = async (dieAt: number): Promise<ClustersWorld> => {
      const world = new ClustersWorld(dieAt);
      await world.create("a", { quotas: { pods: "5" } });
      await world.create("b", { quotas: { pods: "5" } });
      await world.pass(LONG);
      const object = world.object("b");
      await world.update({ ...object, spec: {} });
      await world.pass(LONG);
      return world;
    };
    const { points } = (await run(0)).world;
    for (let at = 0; at <= points; at++) {
      const { made, shown } = await run(at);
      expect([made.get("a")?.quotas, made.get("b")?.quotas, shown], `death ${at}`).toEqual([
        { pods: "5" },
        null,
        ["a Active True", "b Active True", "default Active True"],
      ]);
    }
  });

  it("ranges of an object whose cluster was there with others: Ready says so", async () => {
    const world = new ClustersWorld();
    world.begin("a", undefined, null, ["10.2.0.0/16"]);
    world.begin("b");
    for (const name of ["a", "b"]) await world.create(name, { serviceCIDRs: ["10.1.0.0/16"] });
    await world.pass(LONG);
    expect(world.shown).toEqual(["a Active OtherServiceCIDRs", "b Active OtherServiceCIDRs", "default Active True"]);
    expect(world.object("a")?.status?.serviceCIDRs).toEqual(["10.2.0.0/16"]);
  });

  it("objects of a release that knows no ranges begin with others, whichever call dies: Ready says so, and goes on saying so", async () => {
    const run = async (dieAt: number): Promise<ClustersWorld> => {
      const world = new ClustersWorld(dieAt);
      world.beginsWith = ["10.96.0.0/16"];
      await world.create("a", { serviceCIDRs: ["10.1.0.0/16"] });
      await world.pass(LONG);
      world.beginsWith = undefined;
      await world.update({ ...world.object("a"), spec: { serviceCIDRs: ["10.1.0.0/16"], controllers: ["*"] } });
      await world.pass(LONG);
      return world;
    };
    const { points } = (await run(0)).world;
    for (let at = 0; at <= points; at++) {
      const world = await run(at);
      const { status, metadata } = world.object("a") ?? {};
      expect(world.shown, `death ${at}`).toEqual(["a Active OtherServiceCIDRs", "default Active True"]);
      expect([status?.serviceCIDRs, status?.observedGeneration], `death ${at}`).toEqual([["10.96.0.0/16"], metadata?.generation]);
    }
  });

  it("objects that are older than their label: get it once, whichever call dies, and nothing else of them changes", async () => {
    const run = async (count: number, dieAt: number): Promise<{ world: ClustersWorld; before: Cluster[] }> => {
      const world = new ClustersWorld();
      for (let i = 0; i < count; i++) await world.create(`c${i}`, {}, { labels: { team: "a" } });
      await world.pass(LONG);
      const before = world.objects;
      const { storage } = world.world.stores.clusters;
      for (const object of [...storage.objectScan("", "")]) storage.objectPut({ ...object, data: withoutLabel(object.data) });
      world.world.rows.lose("labelled", "clusters");
      const { deaths } = world.world;
      world.world.dies = () => world.world.deaths === deaths;
      world.world.poke();
      await world.pass(1);
      Object.assign(world.world, { points: 0, dieAt });
      world.world.takeCalls();
      await world.pass(LONG);
      return { world, before };
    };
    const unversioned = (objects: readonly Cluster[]): object[] =>
      objects.map(({ metadata: { resourceVersion: _, managedFields: __, ...metadata } = {}, ...rest }) => ({ ...rest, metadata }));
    const { points } = (await run(2, 0)).world.world;
    for (let at = 0; at <= points; at++) {
      const { world, before } = await run(2, at);
      expect(unversioned(world.objects), `death ${at}`).toEqual(unversioned(before));
    }
    const { world } = await run(70, 0);
    expect(world.objects.filter((object) => !isNamedByLabel(object))).toEqual([]);
    const calls = world.world.takeCalls();
    expect(calls.filter((call) => call.startsWith("clusters update"))).toHaveLength(71);
    const { deaths } = world.world;
    world.world.dies = () => world.world.deaths === deaths;
    world.world.poke();
    await world.pass(LONG);
    expect(world.world.takeCalls().filter((call) => call.includes("objectsNamed"))).toEqual([]);
  });

  it("a cluster without an object: its own ranges stand in the object that it gets", async () => {
    const world = new ClustersWorld();
    world.begin("a", undefined, null, ["10.2.0.0/16"]);
    await world.pass(LONG);
    expect([world.object("a")?.spec, world.object("a")?.status?.serviceCIDRs]).toEqual([
      { serviceCIDRs: ["10.2.0.0/16"] },
      ["10.2.0.0/16"],
    ]);
  });

  it("a further pass: reads the store, and asks no cluster", async () => {
    const world = await life();
    world.world.takeCalls();
    world.world.poke();
    await world.pass(1_000);
    expect(world.world.takeCalls()).toEqual(["clusters objectsSince"]);
  });

  it("calls of an object that has ended come late, all of them, when the name has a later cluster: change nothing there", async () => {
    const world = new ClustersWorld();
    await world.create("a", { serviceCIDRs: ["10.1.0.0/16"], controllers: ["*"], quotas: { pods: "5" } });
    await world.pass(5_000);
    await world.remove("a");
    await world.pass(LONG);
    const late = world.sent.splice(0);
    for (const call of late) call();
    expect(world.made.get("a"), "no cluster begins for it").toMatchObject({ phase: "absent", begun: 1 });
    await world.create("a");
    await world.pass(5_000);
    const begun = structuredClone(world.made.get("a"));
    for (const call of late) call();
    expect([late.length > 3, world.made.get("a")]).toEqual([true, begun]);
    expect(begun).toMatchObject({ id: "a~2", controllers: null });
    await world.pass(LONG);
    expect(world.shown).toEqual(["a Active True", "default Active True"]);
  });

  it("an object that is deleted before its cluster began: a beginning that comes late finds it gone, and begins none", async () => {
    const world = new ClustersWorld();
    await world.pass(1_000);
    world.world.fault = (call) => (call === "open a" ? new Error("slow") : undefined);
    await world.create("a");
    await world.pass(1_000);
    await world.remove("a");
    await world.pass(LONG);
    expect(world.sent.length).toBeGreaterThan(1);
    for (const call of world.sent) call();
    expect([world.made.get("a"), world.shown]).toEqual([undefined, ["default Active True"]]);
  });

  it("an object without a status, whose finalizer somebody takes away while its end looks: the cluster of the next object stays", async () => {
    const world = new ClustersWorld();
    await world.pass(1_000);
    world.world.fault = (call) => (call === "open a" ? new Error("silent") : undefined);
    await world.create("a");
    await world.pass(200);
    const first = world.object("a");
    await world.remove("a");
    let looks = 0;
    world.world.fault = (call) => {
      if (call !== "look a" || looks++ > 0) return undefined;
      const { store, definition } = world.world.stores.clusters;
      const options = { ...WRITE, group: definition.group };
      const key = { namespace: "", name: "a" };
      const bare = JSON.stringify({ metadata: { name: "a" } });
      void store.write({ verb: "update", key, subresource: "", object: bare, options });
      void store.write({ verb: "create", namespace: "", object: bare, options });
      world.begin("a");
      return undefined;
    };
    await world.pass(LONG);
    const { metadata, status } = world.object("a") ?? {};
    expect([looks > 0, metadata?.uid === first?.metadata?.uid, status?.id, world.made.get("a")?.phase]).toEqual([
      true,
      false,
      "a",
      "active",
    ]);
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

  it.each([
    ["ends before its object comes", "clusters create"],
    ["ends behind its object, which has no status yet", "look old"],
  ])("a cluster without an object, which %s: the object goes, and no empty cluster begins", async (_, at) => {
    const world = new ClustersWorld();
    world.begin("old");
    let calls = 0;
    world.world.fault = (call) => {
      if (call.trim() === at && calls++ === 0) Object.assign(world.made.get("old") ?? {}, { phase: "deleting" });
      return undefined;
    };
    await world.pass(LONG);
    expect([calls > 0, world.shown, world.made.get("old")]).toMatchObject([true, ["default Active True"], { phase: "absent", begun: 1 }]);
  });

  it("a cluster without an object, made anew while it gets one: the object of the earlier one goes, the later cluster stays", async () => {
    const world = new ClustersWorld();
    world.begin("old");
    world.world.fault = (call) => {
      if (call.trim() === "clusters create" && world.made.get("old")?.begun === 1) world.begin("old");
      return undefined;
    };
    await world.pass(LONG);
    expect([world.shown, world.made.get("old")]).toMatchObject([["default Active True"], { phase: "active", begun: 2 }]);
    await world.pass(3_600_000);
    world.world.poke();
    await world.pass(5_000);
    expect(world.shown).toEqual(["default Active True", "old Active True"]);
  });

  it("a record that has heard of a later generation: the object counts as configured when the record has its list", async () => {
    const world = new ClustersWorld();
    await world.create("a");
    await world.pass(LONG);
    world.isLater = true;
    await world.update({ ...world.object("a"), spec: { controllers: ["*"] } });
    await world.pass(LONG);
    const { metadata, status } = world.object("a") ?? {};
    expect(status?.observedGeneration).toBeLessThan(metadata?.generation ?? 0);
    world.isLater = false;
    await world.pass(LONG);
    expect([world.made.get("a")?.controllers, world.object("a")?.status?.observedGeneration]).toEqual([["*"], metadata?.generation]);
  });

  it("a list of controllers that comes while the cluster gets its object: stays", async () => {
    const world = new ClustersWorld();
    world.begin("old", undefined, ["*"]);
    world.world.fault = (call) => {
      if (call.trim() === "clusters create") Object.assign(world.made.get("old") ?? {}, { controllers: ["*", "-namespace-controller"] });
      return undefined;
    };
    await world.pass(LONG);
    const list = ["*", "-namespace-controller"];
    expect([world.made.get("old")?.controllers, world.object("old")?.spec?.controllers]).toEqual([list, list]);
    expect(world.object("old")?.metadata?.annotations).toBeUndefined();
  });

  it("somebody writes the annotation of a cluster without an object on one that has it: it goes, and the cluster stays", async () => {
    const world = new ClustersWorld();
    await world.create("a");
    await world.pass(5_000);
    const object = world.object("a");
    await world.update({ ...object, metadata: { ...object?.metadata, annotations: { [ADOPTED_ANNOTATION]: "x" } } });
    await world.pass(5_000);
    expect([world.shown, world.made.get("a")?.phase]).toEqual([["a Active True", "default Active True"], "active"]);
    expect(world.object("a")?.metadata?.annotations).toBeUndefined();
  });

  it("a list of which not all objects have heard: Ready and observedGeneration are the last ones, until they have", async () => {
    const world = new ClustersWorld();
    await world.create("a");
    await world.pass(5_000);
    world.isTold = false;
    await world.update({ ...world.object("a"), spec: { controllers: ["*"] } });
    await world.pass(LONG);
    expect(world.made.get("a")?.controllers).toEqual(["*"]);
    expect([world.object("a")?.metadata?.generation, world.object("a")?.status?.observedGeneration]).toEqual([2, 1]);
    world.isTold = true;
    await world.pass(LONG);
    expect([world.shown, world.object("a")?.status?.observedGeneration]).toEqual([["a Active True", "default Active True"], 2]);
  });

  it("a deletion that stands still: is looked at later and later, up to each 30 s, and each second when it goes on", async () => {
    const world = new ClustersWorld();
    await world.create("a");
    await world.pass(5_000);
    world.wipes = false;
    await world.remove("a");
    const looks = async (ms: number): Promise<number> => {
      world.world.takeCalls();
      await world.pass(ms);
      return world.world.takeCalls().filter((call) => call === "look a").length;
    };
    await world.pass(LONG);
    const inTenMinutes = await looks(600_000);
    expect([inTenMinutes > 15, inTenMinutes <= 21]).toEqual([true, true]);
    world.wipes = true;
    await world.pass(35_000);
    expect(world.shown).toEqual(["default Active True"]);
  });

  it("the controller's object starts anew: the list of all clusters is read again when its hour is over, or when a reading had left work", async () => {
    const world = new ClustersWorld();
    world.begin("old");
    world.world.fault = (call) => (call === "look old" || call === "listed old" ? new Error("silent") : undefined);
    await world.pass(5_000);
    const reads = async (): Promise<number> => {
      world.world.takeCalls();
      const { deaths } = world.world;
      world.world.dies = () => world.world.deaths === deaths;
      world.world.poke();
      await world.pass(5_000);
      expect(world.world.deaths).toBe(deaths + 1);
      return world.world.takeCalls().filter((call) => call === "page").length;
    };
    expect(await reads()).toBeGreaterThan(0);
    world.world.fault = () => undefined;
    await world.pass(LONG);
    expect(await reads()).toBe(0);
    await world.pass(3_600_000);
    expect(await reads()).toBe(1);
    expect(await reads()).toBe(0);
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
