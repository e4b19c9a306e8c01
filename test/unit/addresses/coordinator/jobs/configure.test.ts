/** Configurations on their way to owners. */
import { describe, expect, it } from "vitest";
import { startedWorld } from "../../../../support/worlds/coordinator-world";

describe("owner that does not answer", () => {
  it("configuration: pushed again, later and later, until it answers", async () => {
    const world = await startedWorld();
    await world.run(world.create("new", ["10.0.1.0/24"]));
    const uid = world.uidOf("new");
    world.deaf.add(uid);
    await world.pass(120_000);
    expect(world.readyOf("new")).toBeUndefined();
    world.deaf.delete(uid);
    await world.until(() => world.readyOf("new")?.status === "True", 60_000);
  });

  it("hazard 19: delays neither another ServiceCIDR nor a topology read", async () => {
    const world = await startedWorld();
    await world.run(world.create("stuck", ["10.0.1.0/24"]));
    world.deaf.add(world.uidOf("stuck"));
    await world.pass(10_000);
    const start = world.nowMs;
    await world.run(world.coordinator.topology());
    await world.created("relief", ["10.0.2.0/24"]);
    expect(world.nowMs - start).toBeLessThan(1_000);
    expect(world.readyOf("stuck")).toBeUndefined();
  });
});

describe("hazard 3: epochs", () => {
  it("crash between acknowledgement and record: no epoch is used for two contents", async () => {
    const world = await startedWorld();
    await world.run(world.create("new", ["10.0.1.0/24"]));
    const uid = world.uidOf("new");
    await world.until(() => world.pushed.some((push) => push.uid === uid));
    world.crash();
    await world.run(world.remove("new"));
    await world.until(() => world.object("new") === undefined && world.configOf(uid)?.retired === true);
    const epochs = world.pushed.filter((push) => push.uid === uid).map((push) => [push.config.epoch, JSON.stringify(push.config)] as const);
    expect(new Map(epochs).size, "one epoch, one content").toBe(new Set(epochs.map(([, content]) => content)).size);
    expect(world.pushed.every((push) => push.accepted)).toBe(true);
  });

  it("late configuration: does not open a fenced range again", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    const open = world.pushed.at(-1)?.config;
    await world.run(world.remove("extra"));
    expect(open && (await world.owner(uid).configure(open))).toMatchObject({ ok: false, reason: "superseded" });
    expect(await world.allocate(uid, "10.0.1.9")).toMatchObject({ ok: false });
  });

  it("rows restored from a backup: go past the higher epoch of the owner", async () => {
    const world = await startedWorld();
    const uid = world.uidOf("kubernetes");
    const backup = structuredClone(world.storage.contents);
    await world.created("twin", ["10.0.0.0/27"]);
    await world.created("other", ["10.0.0.32/27"]);
    world.storage.contents = backup;
    world.check = () => undefined;
    world.crash();
    await world.run(world.create("third", ["10.0.0.16/28"]));
    await world.until(() => world.readyOf("third")?.status === "True");
    expect(world.configOf(uid)?.epoch).toBe(world.storage.load().owners.find((owner) => owner.uid === uid)?.epoch);
    expect(world.configOf(uid)?.ranges).toEqual(["10.0.0.0/26", "10.0.0.16/28"]);
  });

  it("rows restored from a backup, and no change to push: the owners' answers show the other epoch", async () => {
    const world = await startedWorld();
    const uid = world.uidOf("kubernetes");
    await world.pass(1_000);
    const backup = structuredClone(world.storage.contents);
    await world.created("twin", ["10.0.0.0/27"]);
    world.storage.contents = backup;
    world.check = () => undefined;
    world.crash();
    await world.run(world.coordinator.topology());
    await world.until(() => world.configOf(uid)?.ranges.length === 1, 10_000);
    expect(world.configOf(uid)?.epoch).toBe(world.storage.load().owners.find((owner) => owner.uid === uid)?.epoch);
  });
});

describe("hazard 4: retired owner", () => {
  it("object created again under the same name: has an owner of its own, and the old one stays retired", async () => {
    const world = await startedWorld();
    const old = await world.created("extra", ["10.0.1.0/24"]);
    const opened = world.pushed.at(-1)?.config;
    await world.run(world.remove("extra"));
    await world.until(() => world.object("extra") === undefined);
    await world.until(() => world.configOf(old)?.retired === true);
    const fresh = await world.created("extra", ["10.0.1.0/24"]);
    expect(fresh).not.toBe(old);
    expect(opened && (await world.owner(old).configure({ ...opened, epoch: opened.epoch + 100 }))).toMatchObject({
      ok: false,
      reason: "retired",
    });
    expect(await world.allocate(old, "10.0.1.9")).toMatchObject({ ok: false, reason: "stale" });
    expect(await world.allocate(fresh, "10.0.1.9")).toMatchObject({ ok: true });
  });
});
