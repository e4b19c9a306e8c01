/** The default ServiceCIDR against the configuration: what is written, what is only reported, and that the first writer wins. */
import { describe, expect, it } from "vitest";
import { compareDefault, upgraded } from "../../../../src/addresses/coordinator/default-range";
import type { EventReport } from "../../../../src/api/events/event-recorder";
import type { ServiceCIDR } from "../../../../src/api/meta/kubernetes";
import { CoordinatorWorld } from "../../../support/worlds/coordinator-world";

const V4 = "10.96.0.0/16";
const OTHER = "10.1.0.0/16";
const V6 = "fd00:10:96::/112";

/** A server with these ranges starts where another one stopped. */
async function visited(before: CoordinatorWorld | undefined, ranges: string[]): Promise<CoordinatorWorld> {
  const world = new CoordinatorWorld({ ranges });
  if (before) world.storage.contents = before.storage.contents;
  await world.run(world.coordinator.readyTopology(10_000));
  await world.run(world.coordinator.maintain());
  return world;
}

function told({ reported }: CoordinatorWorld): (Partial<EventReport> & { name: string | undefined })[] {
  return reported.map(({ type, reason, note, regarding }) => ({ type, reason, note, name: regarding.name }));
}

function inconsistent(stored: string, configured: string): ReturnType<typeof told>[number] {
  return {
    type: "Warning",
    reason: "KubernetesDefaultServiceCIDRInconsistent",
    note: `The default ServiceCIDR [${stored}] does not match the controller flag configurations [${configured}]`,
    name: "kubernetes",
  };
}

function withRanges(cidrs: string[]): (object: ServiceCIDR) => ServiceCIDR {
  return (object) => ({ ...object, spec: { ...object.spec, cidrs } });
}

it.each<[string[], string[], ReturnType<typeof compareDefault>]>([
  [[V4], [V4], "matches"],
  [[V4, V6], [V4, V6], "matches"],
  [[V4], [V4, V6], "lacksSecond"],
  [[V6], [V6, V4], "lacksSecond"],
  [[V4], [V6, V4], "differs"],
  [[V4], [OTHER], "differs"],
  [[V4, V6], [V4], "differs"],
  [[V4, V6], [V6, V4], "differs"],
  [[], [V4], "differs"],
])("stored %j, configured %j: %s", (stored, configured, want) => {
  expect(compareDefault(stored, configured)).toBe(want);
});

it("upgraded: adds a missing second family, unless the object is being deleted", () => {
  const object: ServiceCIDR = { metadata: { name: "kubernetes" }, spec: { cidrs: [V4] } };
  expect(upgraded(object, [V4, V6])?.spec).toEqual({ cidrs: [V4, V6] });
  expect(upgraded(object, [V4])).toBeUndefined();
  expect(upgraded({ ...object, metadata: { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }, [V4, V6])).toBeUndefined();
});

describe("reports", () => {
  it.each<[string, string[], string[], ReturnType<typeof told>]>([
    ["configured ranges unchanged: none", [V4], [V4], []],
    ["second family added: none", [V4], [V4, V6], []],
    ["another range: inconsistent", [V4], [OTHER], [inconsistent(V4, OTHER)]],
    ["fewer ranges: inconsistent", [V4, V6], [V4], [inconsistent(`${V4} ${V6}`, V4)]],
    ["other order: inconsistent", [V4, V6], [V6, V4], [inconsistent(`${V4} ${V6}`, `${V6} ${V4}`)]],
  ])("%s", async (_name, from, to, want) => {
    const world = await visited(await visited(undefined, from), to);
    expect(told(world)).toEqual(want);
  });

  it("lasting difference: once by each server, again after half an hour, no more when it is gone", async () => {
    const world = await visited(await visited(undefined, [V4]), [OTHER]);
    for (let minute = 0; minute < 70; minute++) {
      await world.pass(60_000);
      await world.run(world.coordinator.maintain());
    }
    expect(told(world)).toEqual(Array.from({ length: 3 }, () => inconsistent(V4, OTHER)));
    expect(told(await visited(world, [OTHER]))).toHaveLength(1);
    expect(told(await visited(world, [V4]))).toEqual([]);
  });

  it("Ready=False set by a client: stays, and is reported with its reason", async () => {
    const first = await visited(undefined, [V4]);
    await first.run(first.setReady("kubernetes", "False"));
    const world = await visited(first, [V4]);
    expect(world.readyOf("kubernetes")).toMatchObject({ status: "False", reason: "ByUser" });
    expect(told(world)).toEqual([{ type: "Warning", reason: "ByUser", note: "Configuration matches, but ", name: "kubernetes" }]);
  });

  it("object that is being deleted: none", async () => {
    const first = await visited(undefined, [V4]);
    await first.allocate(first.storage.load().claims[0]?.ownerUid ?? "");
    await first.run(first.remove("kubernetes"));
    expect(told(await visited(first, [OTHER]))).toEqual([]);
  });

  it("create and upgrade that fail: reported, and tried again", async () => {
    const world = new CoordinatorWorld({ ranges: [V4] });
    world.refuses = "disk is full";
    await world.run(world.coordinator.readyTopology(1_000));
    expect(told(world)).toEqual([
      {
        type: "Warning",
        reason: "KubernetesDefaultServiceCIDRError",
        note: "The default ServiceCIDR can not be created",
        name: "kubernetes",
      },
    ]);
    world.refuses = "";
    await world.until(() => world.readyOf("kubernetes")?.status === "True");
    const later = new CoordinatorWorld({ ranges: [V4, V6] });
    later.storage.contents = world.storage.contents;
    later.refuses = "disk is full";
    await later.run(later.coordinator.maintain());
    expect(told(later)).toMatchObject([
      { note: `The default ServiceCIDR can not be upgraded from ${V4} to dual stack [${V4} ${V6}] : Error: disk is full` },
    ]);
    later.refuses = "";
    await later.until(() => later.object("kubernetes")?.spec?.cidrs?.length === 2);
  });

  it("upgrade that would meet a pool: reported, and made when the pool is gone", async () => {
    const world = new CoordinatorWorld({ ranges: [V4, V6] });
    world.storage.contents = (await visited(undefined, [V4])).storage.contents;
    world.metPool = 'overlaps with InClusterIPPool "ns/p"';
    await world.run(world.coordinator.maintain());
    expect(told(world)).toMatchObject([
      { note: `The default ServiceCIDR can not be upgraded from ${V4} to dual stack [${V4} ${V6}] : overlaps with InClusterIPPool "ns/p"` },
    ]);
    expect(world.object("kubernetes")?.spec?.cidrs).toEqual([V4]);
    world.metPool = undefined;
    await world.until(() => world.object("kubernetes")?.spec?.cidrs?.length === 2);
  });

  it("conditions that cannot be written: each reported once while it is tried again", async () => {
    const world = await visited(undefined, [V4]);
    await world.run(world.create("more", ["10.7.0.0/24"]));
    await world.until(() => world.readyOf("more")?.status === "True");
    world.refuses = "disk is full";
    for (const name of ["kubernetes", "more"]) await world.run(world.edit(name, ({ status: _, ...object }) => object));
    for (let minute = 0; minute < 3; minute++) {
      await world.pass(60_000);
      await world.run(world.coordinator.maintain());
    }
    const [byDefault, another] = ["KubernetesDefaultServiceCIDRError", "KubernetesServiceCIDRError"];
    expect(told(world).sort((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1))).toEqual([
      { type: "Warning", reason: byDefault, note: "The default ServiceCIDR Status can not be set to Ready=True", name: "kubernetes" },
      { type: "Warning", reason: another, note: "The ServiceCIDR Status can not be set to Ready=True", name: "more" },
    ]);
    world.refuses = "";
    await world.until(() => ["kubernetes", "more"].every((name) => world.readyOf(name)?.status === "True"));
  });
});

describe("many servers", () => {
  it("different configurations: the first server decides, whichever come later", async () => {
    let world = await visited(undefined, [V4]);
    const uid = world.object("kubernetes")?.metadata?.uid;
    for (const ranges of [[OTHER], [V6], [V4], [V6, V4], [OTHER, V6], [V4]]) {
      world = await visited(world, ranges);
      expect(world.object("kubernetes")).toMatchObject({ metadata: { uid }, spec: { cidrs: [V4] } });
    }
    for (const ranges of [[V4, V6], [V4], [V4, "fd00::/112"], [V6, V4], [OTHER]]) {
      world = await visited(world, ranges);
      expect(world.object("kubernetes")).toMatchObject({ metadata: { uid }, spec: { cidrs: [V4, V6] } });
    }
  });

  it.each([[[V4, "fd00::/112"]], [[V4, V6]]])("client that writes %j while the second family is added: its write stays", async (want) => {
    const first = await visited(undefined, [V4]);
    const world = new CoordinatorWorld({ ranges: [V4, V6], uidsFrom: 1_000 });
    world.storage.contents = first.storage.contents;
    world.coordinator.kick();
    const written = world.edit("kubernetes", withRanges(want));
    await world.run(written);
    await world.run(world.coordinator.maintain());
    expect(world.object("kubernetes")?.spec?.cidrs).toEqual(want);
    expect(world.logged.filter(({ level }) => level !== "info")).toEqual([]);
  });

  it("deleted default: created again within a second, by the configuration of the server that sees it go", async () => {
    const world = await visited(await visited(undefined, [V4]), [OTHER, V6]);
    await world.run(world.remove("kubernetes"));
    const at = world.nowMs;
    await world.until(() => world.object("kubernetes")?.spec?.cidrs?.[0] === OTHER && world.readyOf("kubernetes")?.status === "True");
    expect(world.nowMs - at).toBeLessThan(1_000);
    expect(world.object("kubernetes")?.spec?.cidrs).toEqual([OTHER, V6]);
  });
});
