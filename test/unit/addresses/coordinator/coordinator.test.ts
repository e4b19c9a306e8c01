import { describe, expect, it } from "vitest";
import { READY, SERVICE_CIDR_FINALIZER, TERMINATING } from "../../../../src/addresses/coordinator/service-cidr-object";
import { parseAddress } from "../../../../src/core/net/address";
import { isUsableIn } from "../../../../src/core/net/usable";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import { checkOwnership, CoordinatorWorld, startedWorld } from "../../../support/worlds/coordinator-world";

describe("bootstrap", () => {
  it("the first request creates the default ServiceCIDR from the configured ranges, and it becomes Ready", async () => {
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

  it("many first requests create it once, and later ones change nothing", async () => {
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

  it("a second configured range extends an existing default; any other difference leaves the object as it is", async () => {
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

  it("a default that is removed for good comes back", async () => {
    const world = await startedWorld();
    const before = world.uidOf("kubernetes");
    await world.run(world.remove("kubernetes"));
    await world.until(() => world.uidOf("kubernetes") !== before && world.readyOf("kubernetes")?.status === "True");
    expect((await world.allocate(world.storage.load().claims[0]?.ownerUid ?? "")).ok).toBe(true);
  });

  it("hints of free addresses arrive by themselves", async () => {
    const world = await startedWorld();
    await world.run(world.coordinator.topology());
    await world.pass(1_000);
    const { free } = await world.run(world.coordinator.topology());
    expect(free).toMatchObject([{ IPv4: { dynamic: 46, static: 16 } }]);
  });
});

describe("growth", () => {
  it("is shown not Ready, claimed, seeded, pushed and only then Ready", async () => {
    const world = await startedWorld();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    const order: string[] = [];
    world.intercept = (call) => void order.push(`${call}${world.readyOf("new") ? " Ready" : ""}`);
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect(order.filter((call) => !call.startsWith("free"))).toEqual([
      `configure ${uid}`,
      "claimPrefixes",
      `seed ${uid}`,
      "claimPrefixes",
      `configure ${uid}`,
    ]);
    expect(world.pushed.filter((push) => push.uid === uid).map((push) => push.config.ranges)).toEqual([[], ["10.0.1.0/24"]]);
    expect(await world.allocate(uid, "10.0.1.7")).toMatchObject({ ok: false, reason: "taken" });
    expect(await world.allocate(uid, "10.0.1.8")).toMatchObject({ ok: true });
  });

  it("lists no range that is not Ready yet, also where one of the owners in it does not answer", async () => {
    const world = await startedWorld({ ranges: ["10.0.0.0/24"] });
    const inner = await world.created("inner", ["10.0.1.0/28"]);
    world.intercept = (call) => (call === `configure ${inner}` ? Promise.reject(new Error("the call was lost")) : undefined);
    await world.run(world.create("outer", ["10.0.0.0/23"]));
    await world.pass(60_000);
    const listed = async (): Promise<string[]> => (await world.run(world.coordinator.topology())).ranges.map(({ name }) => name);
    expect(world.readyOf("outer")).toBeUndefined();
    expect((await listed()).sort()).toEqual(["inner", "kubernetes"]);
    world.intercept = () => undefined;
    await world.until(() => world.readyOf("outer")?.status === "True");
    expect((await listed()).sort()).toEqual(["inner", "kubernetes", "outer"]);
  });

  it("marks what many pages list, and nothing of what lies elsewhere", async () => {
    const world = await startedWorld();
    for (let i = 1; i <= 7; i++) {
      for (const address of [`10.0.1.${20 + i}`, `10.7.0.${i}`]) world.userAddresses.set(address, seedRow(address));
    }
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect((await world.held()).map(({ address }) => address).sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map((i) => `10.0.1.${20 + i}`));
    expect(await world.allocate(uid, "10.0.1.27")).toMatchObject({ ok: false, reason: "taken" });
  });

  it("claims only what nobody owns; what lies inside an owned range is served through its owner", async () => {
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

  it("a ServiceCIDR with the prefix of another becomes Ready without a call", async () => {
    const world = await startedWorld();
    const pushed = world.pushed.length;
    await world.created("twin", ["10.0.0.0/26"]);
    expect(world.pushed.length).toBe(pushed);
  });

  it("a user's condition other than False is set right; the finalizer comes back", async () => {
    const world = await startedWorld();
    await world.created("extra", ["10.0.1.0/24"]);
    await world.run(world.setReady("extra", "True"));
    await world.run(world.edit("extra", (object) => ({ ...object, metadata: { ...object.metadata, finalizers: ["example.com/mine"] } })));
    await world.until(() => world.readyOf("extra")?.message === READY.message);
    await world.until(() => world.object("extra")?.metadata?.finalizers?.includes(SERVICE_CIDR_FINALIZER) ?? false);
    expect(world.object("extra")?.metadata?.finalizers).toEqual(["example.com/mine", SERVICE_CIDR_FINALIZER]);
  });

  it("one that would be left in more segments than an owner can be told of is refused, and says what to do", async () => {
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

  it("an owner that does not answer is asked again, later and later, until it does", async () => {
    const world = await startedWorld();
    await world.run(world.create("new", ["10.0.1.0/24"]));
    const uid = world.uidOf("new");
    world.deaf.add(uid);
    await world.pass(120_000);
    expect(world.readyOf("new")).toBeUndefined();
    world.deaf.delete(uid);
    await world.until(() => world.readyOf("new")?.status === "True", 60_000);
  });

  it("readyTopology answers without the default when that takes too long", async () => {
    const world = new CoordinatorWorld();
    world.deaf.add("uid-1");
    const start = world.nowMs;
    const topology = await world.run(world.coordinator.readyTopology(3_000));
    expect(topology.ranges).toEqual([]);
    expect(world.nowMs - start).toBe(3_000);
  });
});

describe("deletion", () => {
  it("fences every owner before the deletion shows, then goes when nothing is left", async () => {
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

  it("waits with upstream's words while an address is covered by it alone", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    const held = await world.allocate(uid, "10.0.1.9");
    await world.run(world.remove("extra"));
    await world.until(() => world.readyOf("extra")?.status === "False");
    expect(world.readyOf("extra")).toMatchObject(TERMINATING);
    await world.pass(300_000);
    expect(world.object("extra")).toBeDefined();
    await world.run(world.owner(uid).release([{ address: "10.0.1.9", token: held.token }]));
    await world.until(() => world.object("extra") === undefined, 31_000);
  });

  it("maintain looks again at once", async () => {
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

  it("a covered one goes although addresses live in it; its cover takes them over", async () => {
    const world = await startedWorld({ ranges: ["10.1.0.0/24"] });
    const inner = await world.created("inner", ["10.0.1.0/24"]);
    const held = await world.allocate(inner, "10.0.1.9");
    const outer = await world.created("outer", ["10.0.0.0/16"]);
    await world.run(world.remove("inner"));
    await world.until(() => world.object("inner") === undefined);
    await world.pass(60_000);
    expect(world.configOf(inner)).toMatchObject({ owned: [], retired: true });
    expect(world.configOf(outer)?.owned, "in one piece with its neighbours").toContain("10.0.0.0/16");
    expect(await world.allocate(outer, "10.0.1.9")).toMatchObject({ ok: false, reason: "taken" });
    expect(await world.allocate(outer, "10.0.1.10")).toMatchObject({ ok: true });
    expect(await world.run(world.owner(outer).release([{ address: "10.0.1.9", token: held.token }]))).toEqual(["released"]);
  });

  it("the network and broadcast address of an inner range block the outer one's deletion", async () => {
    const world = await startedWorld({ ranges: ["10.0.4.0/24"] });
    await world.created("outer", ["10.0.0.0/16"]);
    const held = await world.allocate(world.uidOf("kubernetes"), "10.0.4.0");
    expect(held.ok).toBe(true);
    await world.run(world.remove("outer"));
    await world.until(() => world.readyOf("outer")?.reason === "Terminating");
    await world.run(world.owner(world.uidOf("kubernetes")).release([{ address: "10.0.4.0", token: held.token }]));
    await world.until(() => world.object("outer") === undefined);
  });

  it("a new cover lets a waiting one go", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    await world.allocate(uid, "10.0.1.9");
    await world.run(world.remove("extra"));
    await world.until(() => world.readyOf("extra")?.status === "False");
    const cover = await world.created("cover", ["10.0.1.0/24"]);
    await world.until(() => world.object("extra") === undefined, 31_000);
    expect(world.configOf(cover)).toMatchObject({ owned: ["10.0.1.0/24"], ranges: ["10.0.1.0/24"] });
    expect(await world.allocate(cover, "10.0.1.9")).toMatchObject({ ok: false, reason: "taken" });
    await world.until(() => world.configOf(uid)?.retired === true);
  });

  it("answers 503 when an owner does not confirm in time, and the range gives out addresses again", async () => {
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

  it("the fence of a deletion lost in a crash ends by itself", async () => {
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

  it("two deletions at once share the fence", async () => {
    const world = await startedWorld();
    await world.created("extra", ["10.0.1.0/24"]);
    expect(await world.run(Promise.all([world.remove("extra"), world.remove("extra")]))).toEqual([undefined, undefined]);
    await world.until(() => world.object("extra") === undefined);
  });
});

describe("hazards of PROTOCOL", () => {
  it("hazard 3: an epoch is durable before it is pushed, so a crash between acks and record never reuses it", async () => {
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

  it("hazard 3: a configuration that arrives late does not open a fenced range again", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    const open = world.pushed.at(-1)?.config;
    await world.run(world.remove("extra"));
    expect(open && (await world.owner(uid).configure(open))).toMatchObject({ ok: false, reason: "superseded" });
    expect(await world.allocate(uid, "10.0.1.9")).toMatchObject({ ok: false });
  });

  it("hazard 3: rows restored from a backup find a higher epoch at the owner and go past it", async () => {
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

  it("hazard 3: rows restored from a backup, and nothing is to be told: the owners' own epochs show it", async () => {
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

  describe("hazard 4: rows restored from a backup name an owner that was retired since", () => {
    async function restored(shape: { before?: (world: CoordinatorWorld) => Promise<unknown> } = {}) {
      const world = await startedWorld();
      const uid = await world.created("extra", ["10.0.1.0/24"]);
      await shape.before?.(world);
      const backup = structuredClone(world.storage.contents);
      await world.run(world.remove("extra"));
      await world.until(() => world.configOf(uid)?.retired === true);
      await world.pass(60_000);
      world.storage.contents = backup;
      world.check = () => undefined;
      world.crash();
      return { world, uid };
    }

    it("its ServiceCIDR is made anew, with an owner of its own, and says so", async () => {
      const { world, uid } = await restored();
      await world.run(world.coordinator.topology());
      await world.until(() => world.uidOf("extra") !== uid && world.readyOf("extra")?.status === "True", 10_000);
      expect(world.object("extra")?.spec).toEqual({ cidrs: ["10.0.1.0/24"] });
      expect(await world.allocate(world.uidOf("extra"), "10.0.1.9")).toMatchObject({ ok: true });
      await world.until(() => world.storage.load().owners.every((owner) => owner.uid !== uid));
      expect(world.logged.map(({ event }) => event)).toContain("coordinator.owner-given-up");
      expect(world.reported).toMatchObject([{ reason: "ServiceCIDROwnerRetired", regarding: { name: "extra" } }]);
      await world.pass(60_000);
      expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
    });

    it("the same whatever is asked first, and with IPAddress objects inside", async () => {
      const { world, uid } = await restored();
      world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
      expect(await world.run(world.create("inner", ["10.0.1.0/28"]))).toBeUndefined();
      await world.until(() => ["extra", "inner"].every((name) => world.readyOf(name)?.status === "True"), 30_000);
      expect(world.uidOf("extra")).not.toBe(uid);
      const owners = new Map(world.storage.load().claims.map(({ prefix, ownerUid }) => [prefix, ownerUid]));
      expect(owners.get("10.0.1.0/28")).toBe(world.uidOf("inner"));
      expect(await world.allocate(world.uidOf("inner"), "10.0.1.7")).toMatchObject({ ok: false, reason: "taken" });
    });

    it("one that was being deleted is gone", async () => {
      const { world, uid } = await restored({
        before: async (world) => {
          world.deaf.add(world.uidOf("extra"));
          void world.remove("extra");
          await world.pass(100);
          world.deaf.clear();
          await world.until(() => world.object("extra")?.metadata?.deletionTimestamp !== undefined);
        },
      });
      await world.until(() => world.object("extra") === undefined, 30_000);
      await world.until(() => world.storage.load().owners.every((owner) => owner.uid !== uid));
    });

    it.each([
      { name: "the source has the segment again", isCut: false },
      { name: "the same when its target was already cutting it for others", isCut: true },
    ])("a hand-off to it was committed: $name", async ({ isCut }) => {
      const world = await startedWorld();
      const source = await world.created("old", ["10.0.1.0/24"]);
      await world.allocate(source, "10.0.1.9");
      const target = await world.created("new", ["10.0.1.0/24"]);
      await world.run(world.remove("old"));
      await world.until(() => world.storage.load().handoffs[0]?.phase === "activating");
      const backup = structuredClone(world.storage.contents);
      const { "10.0.1.0": segment, ...claims } = backup.claims;
      const halves = { "10.0.1.0": { ...segment, prefix: "10.0.1.0/25" }, "10.0.1.128": { ...segment, prefix: "10.0.1.128/25" } };
      await world.until(() => world.object("old") === undefined);
      await world.run(world.remove("new"));
      world.check = () => undefined;
      await world.run(world.edit("new", (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } })));
      const token = (await world.held())[0]?.token ?? "";
      await world.run(world.owner(target).release([{ address: "10.0.1.9", token }]));
      await world.until(() => world.configOf(target)?.retired === true && world.configOf(source)?.retired === true);
      world.storage.contents = isCut ? ({ ...backup, claims: { ...claims, ...halves } } as typeof backup) : backup;
      world.crash();
      world.deaf.add(source);
      await world.run(world.coordinator.topology());
      await world.until(() => world.logged.some(({ event }) => event === "coordinator.owner-given-up"), 60_000);
      expect(world.storage.load().claims.filter(({ ownerUid }) => ownerUid === source)).toMatchObject(
        isCut ? [{ prefix: "10.0.1.0/25" }, { prefix: "10.0.1.128/25" }] : [{ prefix: "10.0.1.0/24" }],
      );
      world.deaf.clear();
      await world.until(() => world.readyOf("new")?.status === "True" && world.uidOf("new") !== target, 60_000);
      await world.until(() => world.object("old") === undefined, 60_000);
      expect(await world.allocate(world.uidOf("new"), "10.0.1.9")).toMatchObject({ ok: true });
      await world.pass(600_000);
      expect(world.storage.load().handoffs).toEqual([]);
      expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
    });
  });

  it("hazard 4: an object created again under the same name has an owner of its own, and the old one stays retired", async () => {
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

  it("hazard 6: two ServiceCIDRs with one prefix created at once: one claims it", async () => {
    const world = await startedWorld();
    await world.run(Promise.all([world.create("a", ["10.0.1.0/24"]), world.create("b", ["10.0.1.0/24"])]));
    await world.until(() => world.readyOf("a")?.status === "True" && world.readyOf("b")?.status === "True");
    const { claims } = world.storage.load();
    expect(claims.filter((claim) => claim.prefix === "10.0.1.0/24").map((claim) => claim.ownerUid)).toEqual([world.uidOf("a")]);
  });

  it("hazard 7: an IPAddress deleted between list and mark is taken back", async () => {
    const world = await startedWorld();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    world.intercept = (call) => {
      if (call.startsWith("seed")) world.userAddresses.delete("10.0.1.7");
    };
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect(await world.held()).toEqual([]);
    expect(await world.allocate(uid, "10.0.1.7")).toMatchObject({ ok: true });
  });

  it("hazard 7: … also when the Coordinator dies in between", async () => {
    const world = await startedWorld();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    world.intercept = (call) => {
      if (!call.startsWith("seed") || !world.userAddresses.delete("10.0.1.7")) return;
      void world.owner(world.uidOf("new")).seed(world.configOf(world.uidOf("new"))?.epoch ?? 0, [seedRow("10.0.1.7")]);
      world.crash();
    };
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect(await world.allocate(uid, "10.0.1.7")).toMatchObject({ ok: true });
  });

  it("hazard 7: an IPAddress made while the list is taken is in the next list", async () => {
    const world = await startedWorld();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    world.intercept = (call) => void (call.startsWith("seed") && world.userAddresses.set("10.0.1.8", seedRow("10.0.1.8")));
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect(await world.allocate(uid, "10.0.1.8")).toMatchObject({ ok: false, reason: "taken" });
  });

  it("hazard 10: two that cover each other, both deleted, both wait for the addresses", async () => {
    const world = await startedWorld();
    const a = await world.created("a", ["10.0.1.0/24"]);
    await world.created("b", ["10.0.1.0/24"]);
    const held = await world.allocate(a, "10.0.1.9");
    await world.run(Promise.all([world.remove("a"), world.remove("b")]));
    await world.until(() => world.readyOf("a")?.status === "False" && world.readyOf("b")?.status === "False");
    await world.run(world.owner(a).release([{ address: "10.0.1.9", token: held.token }]));
    await world.until(() => world.object("a") === undefined && world.object("b") === undefined);
    await world.until(() => world.configOf(a)?.retired === true);
  });

  it("hazard 10: a cover that starts deleting after the count is noticed by the transaction that would let the object go", async () => {
    const world = await startedWorld();
    const a = await world.created("a", ["10.0.1.0/24"]);
    await world.created("half", ["10.0.1.0/25"]);
    await world.allocate(a, "10.0.1.9");
    let fenced: () => void = () => undefined;
    world.check = (w) => {
      checkOwnership(w);
      if (Object.values(w.storage.contents.cidrs).some((row) => row.name === "half" && row.fencedUntil > 0)) fenced();
    };
    let counted = false;
    world.intercept = (call) => {
      if (!call.startsWith("countTaken") || counted) return;
      counted = true;
      // The owner is asked while "half" covers 10.0.1.9; before its answer arrives, "half" is on its way out.
      void world.remove("half");
      return new Promise((resolve) => (fenced = resolve));
    };
    await world.run(world.remove("a"));
    await world.pass(60_000);
    expect(counted).toBe(true);
    expect(world.readyOf("a")).toMatchObject(TERMINATING);
    expect(world.readyOf("half")).toMatchObject(TERMINATING);
  });

  it("hazard 10: an owner that lives on is closed to lost rows for the count alone, also when that is lost in a crash", async () => {
    for (const isLost of [false, true]) {
      const world = await startedWorld();
      const outer = await world.created("outer", ["10.0.1.0/24"]);
      await world.created("inner", ["10.0.1.0/25"]);
      await world.run(world.setReady("outer", "False"));
      let wasClosed = false;
      world.intercept = (call) => {
        if (!call.startsWith("countTaken") || !world.configOf(outer)?.closed || wasClosed) return;
        wasClosed = true;
        if (isLost) world.crash();
      };
      await world.run(world.remove("inner"));
      await world.until(() => wasClosed && (isLost || world.object("inner") === undefined));
      // Nothing but the time tells the Coordinator that there was a count.
      if (isLost) await world.run(world.edit("inner", (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } })));
      expect(world.object("inner")).toBeUndefined();
      const row = { address: "10.0.1.9", token: "lost", holder: { kind: "service", namespace: "n", name: "s", uid: "u" } } as const;
      const seed = (): Promise<string> => world.run(world.owner(outer).seed(world.configOf(outer)?.epoch ?? 0, [row]));
      expect([world.configOf(outer)?.closed, await seed()]).toEqual([true, "stale"]);
      await world.pass(60_000);
      expect([world.configOf(outer)?.closed, await seed()]).toEqual([undefined, "ok"]);
      expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
    }
  });

  it("hazard 11: finalizers removed by force: nothing is given out, releases work, the owner retires when it is empty", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    const held = await world.allocate(uid, "10.0.1.9");
    await world.run(world.remove("extra"));
    await world.run(world.edit("extra", (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } })));
    expect(world.object("extra")).toBeUndefined();
    await world.pass(60_000);
    expect(world.configOf(uid)).toMatchObject({ owned: ["10.0.1.0/24"], ranges: [], retired: false });
    expect(await world.allocate(uid, "10.0.1.10")).toMatchObject({ ok: false, reason: "notAllocatable" });
    expect(await world.run(world.owner(uid).release([{ address: "10.0.1.9", token: held.token }]))).toEqual(["released"]);
    await world.until(() => world.configOf(uid)?.retired === true, 60_000);
  });

  it("hazard 11: an object that has no finalizer goes at once, and a new one takes over what it left", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    await world.allocate(uid, "10.0.1.9");
    await world.run(world.remove("extra"));
    await world.run(world.edit("extra", (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } })));
    const again = await world.created("again", ["10.0.0.0/16"]);
    await world.until(() => world.configOf(uid)?.retired === true);
    expect(await world.allocate(again, "10.0.1.9")).toMatchObject({ ok: false, reason: "taken" });
    expect(await world.allocate(again, "10.0.1.10")).toMatchObject({ ok: true });
  });

  it("hazard 12: a second prefix is not allocatable before it is seeded, although the object is Ready", async () => {
    const world = await startedWorld();
    world.userAddresses.set("fd00::7", seedRow("fd00::7"));
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    let before: unknown;
    world.intercept = (call) => {
      if (call.startsWith("seed")) before = world.configOf(uid);
    };
    await world.run(world.edit("extra", (object) => ({ ...object, spec: { cidrs: ["10.0.1.0/24", "fd00::/112"] } })));
    expect(world.readyOf("extra")?.status).toBe("True");
    await world.until(() => world.configOf(uid)?.ranges.length === 2);
    expect(before).toMatchObject({ owned: ["10.0.1.0/24", "fd00::/112"], ranges: ["10.0.1.0/24"] });
    expect(await world.allocate(uid, "fd00::7")).toMatchObject({ ok: false, reason: "taken" });
  });

  it("hazard 12: a client's Ready=True opens nothing, its Ready=False is fenced before it shows and undone by taking it back", async () => {
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

  it("hazard 19: an owner that hangs delays neither another ServiceCIDR nor a topology read", async () => {
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

/** 110 × /112 that somebody has: each leaves about a hundred segments of what is around it. */
function scatter(world: CoordinatorWorld): void {
  for (let i = 0; i < 110; i++) {
    const prefix = `fd${(2 * i + 16).toString(16)}:1:1:1:1:1:1:0/112`;
    world.storage.rangeSave({ uid: "inner", prefix, ready: false });
    world.storage.claimInsert({ prefix, ownerUid: "inner", seeded: true });
  }
}

function seedRow(address: string): {
  address: string;
  token: string;
  holder: { kind: "ipaddress"; namespace: string; name: string; uid: string };
} {
  return { address, token: `seed-${address}`, holder: { kind: "ipaddress", namespace: "", name: address, uid: `uid of ${address}` } };
}

describe("IPv6 ranges of any length", () => {
  it.each(["::/0", "::/1", "fd00::/8", "fd00::/32", "fd00::/48", "fd00::/63", "fd00::/64", "fd00::/124", "fd00::/127"])(
    "%s becomes Ready and gives out addresses of its own",
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

  it("a /64 around the IPv4-mapped addresses is cut by a range inside it without a claim that has no text", async () => {
    const world = await startedWorld();
    await world.created("beside", ["::fffe:0:0/96"]);
    const uid = await world.created("around", ["::/64"]);
    const { claims } = await world.run(world.coordinator.topology());
    expect(claims.filter((claim) => claim.ownerUid === uid).length).toBeGreaterThan(10);
    expect(claims.some((claim) => claim.prefix === "::ffff:0:0/96")).toBe(false);
  });
});

describe("countedTopology", () => {
  it("has what each owner says now, not what was known before", async () => {
    const world = await startedWorld();
    const uid = await world.created("second", ["10.7.0.0/28"]);
    for (const left of [13, 12]) {
      await world.allocate(uid);
      const { free } = await world.run(world.coordinator.countedTopology());
      expect(free.find((counts) => counts.ownerUid === uid)?.IPv4).toEqual({ dynamic: left, static: 0 });
      expect(free.length).toBe(2);
    }
  });
});
