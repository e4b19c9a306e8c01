/** The default ServiceCIDR: created by the first request, extended, created again. */
import { describe, expect, it } from "vitest";
import { READY, SERVICE_CIDR_FINALIZER } from "../../../../../src/addresses/coordinator/state/service-cidr-object";
import { CoordinatorWorld, startedWorld } from "../../../../support/worlds/coordinator-world";

describe("default ServiceCIDR", () => {
  it("first request: creates it from the configured ranges, and it becomes Ready", async () => {
    const world = await startedWorld({ ranges: ["10.96.0.0/16", "fd00:10:96::/112"] });
    await world.until(() => world.readyOf("kubernetes") !== undefined);
    expect(world.object("kubernetes")).toMatchObject({
      metadata: { name: "kubernetes", finalizers: [SERVICE_CIDR_FINALIZER] },
      spec: { cidrs: ["10.96.0.0/16", "fd00:10:96::/112"] },
      status: { conditions: [{ type: "Ready", ...READY }] },
    });
    const { claims, ranges, epoch } = await world.run(world.coordinator.topology());
    const uid = world.uidOf("kubernetes");
    expect(claims).toEqual([
      { prefix: "10.96.0.0/16", ownerUid: uid },
      { prefix: "fd00:10:96::/112", ownerUid: uid },
    ]);
    expect(ranges.map((range) => range.prefix)).toEqual(["10.96.0.0/16", "fd00:10:96::/112"]);
    expect(world.configOf(uid)?.epoch).toBe(epoch);
  });

  it("many first requests: create it once; later ones change nothing", async () => {
    const world = new CoordinatorWorld();
    await world.run(Promise.all(Array.from({ length: 10 }, () => world.coordinator.readyTopology(5_000))));
    await world.pass(60_000);
    const { epoch } = await world.run(world.coordinator.topology());
    world.crash();
    await world.pass(60_000);
    expect((await world.run(world.coordinator.topology())).epoch).toBe(epoch);
    expect(Object.keys(world.storage.contents.objects)).toEqual(["kubernetes"]);
    expect(world.storage.contents.alarmAt, "an idle cluster sets no alarm").toBe(0);
  });

  it("second configured range: added to the object; any other difference leaves the object as it is", async () => {
    const first = await startedWorld({ ranges: ["10.96.0.0/16"] });
    const later = new CoordinatorWorld({ ranges: ["10.96.0.0/16", "fd00::/112"] });
    later.storage.contents = first.storage.contents;
    await later.run(later.coordinator.maintain());
    expect(later.object("kubernetes")?.spec?.cidrs).toEqual(["10.96.0.0/16", "fd00::/112"]);
    const other = new CoordinatorWorld({ ranges: ["10.1.0.0/16"] });
    other.storage.contents = later.storage.contents;
    await other.run(other.coordinator.maintain());
    expect(other.object("kubernetes")?.spec?.cidrs).toEqual(["10.96.0.0/16", "fd00::/112"]);
  });

  it("deleted for good: created again", async () => {
    const world = await startedWorld();
    const before = world.uidOf("kubernetes");
    await world.run(world.remove("kubernetes"));
    await world.until(() => world.uidOf("kubernetes") !== before && world.readyOf("kubernetes")?.status === "True");
    expect((await world.allocate(world.storage.load().claims[0]?.ownerUid ?? "")).ok).toBe(true);
  });
});
