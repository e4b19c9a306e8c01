/** Upstream's assertions about the default ServiceCIDR and its flags, run against the Coordinator. */
import { expect, it } from "vitest";
import { SERVICE_CIDR_FINALIZER, TERMINATING } from "../../src/addresses/coordinator/state/service-cidr-object";
import { CoordinatorWorld } from "../support/worlds/coordinator-world";
import { upstreamRow } from "./upstream-row";

const PRIMARY = "10.96.0.0/16";
const OTHER = "10.1.0.0/16";
const V6 = "fd00:10:96::/112";
const OTHER_V6 = "fd00:10:97::/112";

async function started(ranges: string[]): Promise<CoordinatorWorld> {
  const world = new CoordinatorWorld({ ranges });
  await world.run(world.coordinator.readyTopology(10_000));
  await world.until(() => world.readyOf("kubernetes") !== undefined);
  return world;
}

/** The world of a later server with other flags on the same storage. */
async function restarted(world: CoordinatorWorld, ranges: string[]): Promise<CoordinatorWorld> {
  const later = new CoordinatorWorld({ ranges });
  later.storage.contents = world.storage.contents;
  for (const uid of world.deaf) later.deaf.add(uid);
  await later.run(later.coordinator.maintain());
  return later;
}

upstreamRow("TestControllerSync(+Conversions)", () => {
  it.each([[[PRIMARY]], [[V6]], [[PRIMARY, V6]], [[V6, PRIMARY]]])(
    "%j without a default ServiceCIDR: made, with its condition",
    async (ranges) => {
      const world = await started(ranges);
      expect(world.object("kubernetes")).toMatchObject({
        metadata: { name: "kubernetes", finalizers: [SERVICE_CIDR_FINALIZER] },
        spec: { cidrs: ranges },
        status: { conditions: [{ type: "Ready", status: "True" }] },
      });
    },
  );

  it.each([
    { name: "the same", from: [PRIMARY], to: [PRIMARY] },
    { name: "another range", from: [PRIMARY], to: [OTHER] },
    { name: "the second family comes first", from: [PRIMARY], to: [V6, PRIMARY] },
    { name: "two to one", from: [PRIMARY, V6], to: [PRIMARY] },
    { name: "two in the other order", from: [PRIMARY, V6], to: [V6, PRIMARY] },
  ])("$name: nothing is written", async ({ from, to }) => {
    const world = await started(from);
    const before = structuredClone(world.object("kubernetes"));
    expect((await restarted(world, to)).object("kubernetes")).toEqual(before);
  });

  it("from one family to two with the same primary: updated", async () => {
    const later = await restarted(await started([PRIMARY]), [PRIMARY, V6]);
    expect(later.object("kubernetes")?.spec?.cidrs).toEqual([PRIMARY, V6]);
  });

  it("a default ServiceCIDR in deletion: not changed", async () => {
    const world = await started([PRIMARY]);
    world.userAddresses.clear();
    const owner = world.storage.load().claims[0]?.ownerUid ?? "";
    expect((await world.allocate(owner)).ok).toBe(true);
    await world.run(world.remove("kubernetes"));
    await world.until(() => world.readyOf("kubernetes")?.reason === TERMINATING.reason);
    // The other world does not have the owner's rows. A silent owner keeps its segments.
    world.deaf.add(owner);
    expect((await restarted(world, [PRIMARY, V6])).object("kubernetes")?.spec?.cidrs).toEqual([PRIMARY]);
  });
});

upstreamRow("TestServiceCIDRMigrationScenarios", () => {
  it.each<[string, string[], string[], string[]]>([
    ["same v4", [PRIMARY], [PRIMARY], [PRIMARY]],
    ["same v6", [V6], [V6], [V6]],
    ["same v4, v6", [PRIMARY, V6], [PRIMARY, V6], [PRIMARY, V6]],
    ["same v6, v4", [V6, PRIMARY], [V6, PRIMARY], [V6, PRIMARY]],
    ["v4 to v4, v6", [PRIMARY], [PRIMARY, V6], [PRIMARY, V6]],
    ["v6 to v6, v4", [V6], [V6, PRIMARY], [V6, PRIMARY]],
    ["v4 to v6", [PRIMARY], [V6], [PRIMARY]],
    ["v6 to v4", [V6], [PRIMARY], [V6]],
    ["v4 to v6, v4", [PRIMARY], [V6, PRIMARY], [PRIMARY]],
    ["v6 to v4, v6", [V6], [PRIMARY, V6], [V6]],
    ["v4, v6 to v4", [PRIMARY, V6], [PRIMARY], [PRIMARY, V6]],
    ["v4, v6 to v6", [PRIMARY, V6], [V6], [PRIMARY, V6]],
    ["v4, v6 to v6, v4", [PRIMARY, V6], [V6, PRIMARY], [PRIMARY, V6]],
    ["v4, v6 to v4 and another v6", [PRIMARY, V6], [PRIMARY, OTHER_V6], [PRIMARY, V6]],
  ])("%s: the ranges of the default ServiceCIDR", async (_name, from, to, want) => {
    const world = await started(from);
    const owner = world.storage.load().claims[0]?.ownerUid ?? "";
    const held = await world.allocate(owner, from[0] === V6 ? "fd00:10:96::9" : "10.96.0.9");
    const later = await restarted(world, to);
    expect(later.object("kubernetes")?.spec?.cidrs).toEqual(want);
    expect(later.readyOf("kubernetes")?.status).toBe("True");
    // a Service keeps its address: the same owner still claims its range
    expect([held.ok, later.storage.load().claims[0]?.ownerUid]).toEqual([true, owner]);
  });
});
