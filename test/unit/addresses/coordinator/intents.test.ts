/** What writes of ServiceCIDR objects do to the topology: claims and fences. */
import { describe, expect, it } from "vitest";
import { READY } from "../../../../src/addresses/coordinator/state/service-cidr-object";
import { checkOwnership, CoordinatorWorld, startedWorld } from "../../../support/worlds/coordinator-world";

function scatter(world: CoordinatorWorld): void {
  for (let i = 0; i < 110; i++) {
    const prefix = `fd${(2 * i + 16).toString(16)}:1:1:1:1:1:1:0/112`;
    world.storage.rangeSave({ uid: "inner", prefix, ready: false });
    world.storage.claimInsert({ prefix, ownerUid: "inner", seeded: true });
  }
}

describe("claims of a new ServiceCIDR", () => {
  it("prefixes that others own: not claimed, and served through their owners", async () => {
    const world = await startedWorld({ ranges: ["10.0.0.0/24"] });
    const first = world.uidOf("kubernetes");
    const outer = await world.created("outer", ["10.0.0.0/23"]);
    const inner = await world.created("inner", ["10.0.0.64/26"]);
    const { claims } = await world.run(world.coordinator.topology());
    expect(claims).toEqual([
      { prefix: "10.0.0.0/24", ownerUid: first },
      { prefix: "10.0.1.0/24", ownerUid: outer },
    ]);
    expect(world.configOf(inner), "an object that owns nothing is never called").toBeUndefined();
    expect(world.configOf(first)?.ranges).toEqual(["10.0.0.0/23", "10.0.0.0/24", "10.0.0.64/26"]);
    expect(await world.allocate(first, "10.0.0.255"), "usable only in the outer range").toMatchObject({ ok: true });
  });

  it("prefix of another ServiceCIDR: Ready without a call", async () => {
    const world = await startedWorld();
    const pushed = world.pushed.length;
    await world.created("twin", ["10.0.0.0/26"]);
    expect(world.pushed.length).toBe(pushed);
  });

  it("hazard 6: two with one prefix created at once: one claims it", async () => {
    const world = await startedWorld();
    await world.run(Promise.all([world.create("a", ["10.0.1.0/24"]), world.create("b", ["10.0.1.0/24"])]));
    await world.until(() => world.readyOf("a")?.status === "True" && world.readyOf("b")?.status === "True");
    const { claims } = world.storage.load();
    expect(claims.filter((claim) => claim.prefix === "10.0.1.0/24").map((claim) => claim.ownerUid)).toEqual([world.uidOf("a")]);
  });

  it("more segments than an owner can be told of: refused, and the message says what to do", async () => {
    const world = new CoordinatorWorld();
    scatter(world);
    await world.run(world.coordinator.readyTopology(10_000));
    const { claims } = world.storage.load();
    const refused = await world.run(world.create("outer", ["fc00::/7"]));
    expect(refused).toMatchObject({ code: 422, reason: "Invalid" });
    expect(refused?.message).toMatch(/spec\.cidrs: Forbidden: the ServiceCIDRs inside leave 1\d{4} separate segments of it.*at most 10000/);
    expect(world.object("outer")).toBeUndefined();
    expect(world.storage.load().claims).toEqual(claims);
    expect(await world.run(world.create("smaller", ["fd10::/12"]))).toBeUndefined();
  });
});

describe("fence of a deletion", () => {
  it("order: every owner is fenced before the deletion shows; the empty object goes", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    let atDeletion: unknown;
    world.check = (w) => {
      checkOwnership(w);
      if (w.object("extra")?.metadata?.deletionTimestamp) atDeletion ??= w.configOf(uid)?.ranges;
    };
    expect(await world.run(world.remove("extra"))).toBeUndefined();
    expect(atDeletion).toEqual([]);
    await world.until(() => world.object("extra") === undefined);
    await world.until(() => world.configOf(uid)?.retired === true);
    const { claims } = await world.run(world.coordinator.topology());
    expect(claims.map((claim) => claim.prefix)).toEqual(["10.0.0.0/26"]);
    await world.pass(60_000);
    expect(Object.keys(world.storage.contents.owners), "a retired owner is forgotten here; its tombstone is there").not.toContain(uid);
    expect(world.storage.contents.alarmAt).toBe(0);
  });

  it("owner that does not confirm in time: 503, and the range gives out addresses again", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    world.deaf.add(uid);
    const start = world.nowMs;
    expect(await world.run(world.remove("extra"))).toMatchObject({
      code: 503,
      reason: "ServiceUnavailable",
      details: { retryAfterSeconds: 1 },
    });
    expect(world.nowMs - start).toBe(20_000);
    expect(world.object("extra")?.metadata?.deletionTimestamp).toBeUndefined();
    world.deaf.delete(uid);
    await world.until(() => world.configOf(uid)?.ranges.length === 1 && world.storage.load().ranges.every((range) => range.ready));
    expect(await world.allocate(uid, "10.0.1.9")).toMatchObject({ ok: true });
    expect(await world.run(world.remove("extra"))).toBeUndefined();
  });

  it("deletion lost in a crash: the fence ends by itself", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    world.intercept = (call) => {
      if (call === `configure ${uid}`) world.crash();
    };
    void world.remove("extra");
    await world.until(() => world.configOf(uid)?.ranges.length === 0);
    world.intercept = () => undefined;
    await world.until(() => world.configOf(uid)?.ranges.length === 1, 60_000);
    expect(world.object("extra")?.metadata?.deletionTimestamp).toBeUndefined();
  });

  it("two deletions at once: share the fence", async () => {
    const world = await startedWorld();
    await world.created("extra", ["10.0.1.0/24"]);
    expect(await world.run(Promise.all([world.remove("extra"), world.remove("extra")]))).toEqual([undefined, undefined]);
    await world.until(() => world.object("extra") === undefined);
  });
});

describe("hazard 12: Ready condition written by a client", () => {
  it("True: opens nothing; False: fenced before it shows, and undone by True", async () => {
    const world = await startedWorld();
    await world.run(world.create("new", ["10.0.1.0/24"]));
    const uid = world.uidOf("new");
    world.deaf.add(uid);
    await world.run(world.setReady("new", "True"));
    expect((await world.run(world.coordinator.topology())).ranges.map((range) => range.name)).toEqual(["kubernetes"]);
    world.deaf.delete(uid);
    await world.until(() => world.readyOf("new")?.message === READY.message, 60_000);
    let shown: unknown;
    world.check = (w) => {
      checkOwnership(w);
      if (w.readyOf("new")?.status === "False") shown ??= w.configOf(uid)?.ranges;
    };
    await world.run(world.setReady("new", "False"));
    expect(shown).toEqual([]);
    await world.pass(60_000);
    expect(world.readyOf("new"), "the client's word stands").toMatchObject({ status: "False", reason: "ByUser" });
    expect(await world.allocate(uid, "10.0.1.9")).toMatchObject({ ok: false, reason: "notAllocatable" });
    await world.run(world.setReady("new", "True"));
    await world.until(() => world.readyOf("new")?.message === READY.message);
    expect(await world.allocate(uid, "10.0.1.9")).toMatchObject({ ok: true });
  });
});
