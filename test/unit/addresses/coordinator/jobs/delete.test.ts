/** The deletion of ServiceCIDRs. */
import { describe, expect, it } from "vitest";
import { TERMINATING } from "../../../../../src/addresses/coordinator/state/service-cidr-object";
import { checkOwnership, startedWorld } from "../../../../support/worlds/coordinator-world";

describe("deleted ServiceCIDR", () => {
  it("address that it alone covers: waits with upstream's condition until the address is free", async () => {
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

  it("addresses that another ServiceCIDR covers: the other takes them over, and it goes", async () => {
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

  it("network address of an inner range: blocks the outer one's deletion", async () => {
    const world = await startedWorld({ ranges: ["10.0.4.0/24"] });
    await world.created("outer", ["10.0.0.0/16"]);
    const held = await world.allocate(world.uidOf("kubernetes"), "10.0.4.0");
    expect(held.ok).toBe(true);
    await world.run(world.remove("outer"));
    await world.until(() => world.readyOf("outer")?.reason === "Terminating");
    await world.run(world.owner(world.uidOf("kubernetes")).release([{ address: "10.0.4.0", token: held.token }]));
    await world.until(() => world.object("outer") === undefined);
  });

  it("new cover while it waits: it goes", async () => {
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
});

describe("hazard 10: cover that goes meanwhile", () => {
  it("two that cover each other, both deleted: both wait for the addresses", async () => {
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

  it("cover that starts deleting after the count: the transaction that would let the object go notices", async () => {
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

  it("owner that lives on: closed to lost rows for the count alone, also when a crash loses the count", async () => {
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
      if (isLost) await world.run(world.dropFinalizers("inner"));
      expect(world.object("inner")).toBeUndefined();
      const row = { address: "10.0.1.9", token: "lost", holder: { kind: "service", namespace: "n", name: "s", uid: "u" } } as const;
      const seed = (): Promise<string> => world.run(world.owner(outer).seed(world.configOf(outer)?.epoch ?? 0, [row]));
      expect([world.configOf(outer)?.closed, await seed()]).toEqual([true, "stale"]);
      await world.pass(60_000);
      expect([world.configOf(outer)?.closed, await seed()]).toEqual([undefined, "ok"]);
      expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
    }
  });
});
