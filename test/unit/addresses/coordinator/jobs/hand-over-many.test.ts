/** The end of a ServiceCIDR with others inside: each of them takes over its part, side by side. How that goes with 120: test/sim/slow. */
import { describe, expect, it } from "vitest";
import { HANDOFF_TIMEOUT_MS } from "../../../../../src/addresses/rpc/limits";
import { delayed, TERMINATING } from "../../../../../src/addresses/coordinator/state/service-cidr-object";
import { expectMoved, OUTER_V6, scattered, withInner } from "../../../../support/worlds/inner-ranges";

const BETWEEN = "fd00::1:ffff:0:0:9";

describe("deleted ServiceCIDR around many others", () => {
  it("target that does not answer: it alone comes later, and the object names it", { timeout: 60_000 }, async () => {
    const { world, source, inner } = await withInner(
      "10.64.0.0/16",
      Array.from({ length: 70 }, (_, i) => `10.64.${i}.0/24`),
    );
    const deaf = inner[10]?.uid ?? "";
    world.deaf.add(deaf);
    const from = world.nowMs;
    await world.run(world.remove("outer"));
    await world.until(() => world.configOf(source)?.owned.length === 1);
    expect(world.nowMs - from, "ms until all others have theirs").toBeLessThan(10_000);
    expect(world.readyOf("outer"), "nothing is wrong yet").toMatchObject({ status: "True" });
    await world.until(() => world.readyOf("outer")?.reason === TERMINATING.reason);
    expect(world.readyOf("outer")).toMatchObject(delayed(["inner-10"]));
    expect(world.nowMs - from).toBeLessThan(HANDOFF_TIMEOUT_MS + 15_000);
    expect(world.configOf(source)?.frozen, "thawed").toEqual([]);
    world.deaf.delete(deaf);
    await world.until(() => world.object("outer") === undefined);
    await expectMoved(world, source, inner);
  });

  it("target that stops answering after the commit: the others come, and the object names it", { timeout: 60_000 }, async () => {
    const { world, source, inner } = await withInner(
      "10.64.0.0/16",
      Array.from({ length: 70 }, (_, i) => `10.64.${i}.0/24`),
    );
    const deaf = inner[10]?.uid ?? "";
    await world.run(world.remove("outer"));
    await world.until(() => world.storage.load().handoffs.some((row) => row.targetUid === deaf && row.phase === "activating"));
    world.deaf.add(deaf);
    await world.until(() => world.configOf(source)?.owned.length === 1, 10_000);
    await world.until(() => world.readyOf("outer")?.message === delayed(["inner-10"]).message);
    world.deaf.delete(deaf);
    await world.until(() => world.object("outer") === undefined);
    await expectMoved(world, source, inner);
  });

  it("address between the others: nothing moves; a new ServiceCIDR around takes everything", { timeout: 60_000 }, async () => {
    const { world, source, inner } = await withInner(OUTER_V6, [1, 2, 3].map(scattered));
    await world.allocate(source, BETWEEN);
    await world.run(world.remove("outer"));
    await world.until(() => world.readyOf("outer")?.reason === TERMINATING.reason);
    await world.pass(120_000);
    expect(world.readyOf("outer")).toMatchObject(TERMINATING);
    expect(world.configOf(source)?.owned).toEqual([OUTER_V6]);
    const around = await world.created("around", ["fd00::/48"]);
    await world.until(() => world.configOf(source)?.retired === true);
    expect((await world.held()).map(({ uid }) => uid)).toEqual(Array(inner.length + 1).fill(around));
  });
});

describe("segments left by a deleted ServiceCIDR", () => {
  it(
    "removed by force: parts of others move, a part with an address stays until it is free, the rest is dropped",
    { timeout: 60_000 },
    async () => {
      const { world, source, inner } = await withInner(OUTER_V6, [1, 2, 3].map(scattered));
      const between = await world.allocate(source, BETWEEN);
      await world.run(world.remove("outer"));
      await world.run(world.dropFinalizers("outer"));
      await world.until(() => world.configOf(source)?.owned.length === 1);
      expect(await world.run(world.owner(source).release([{ address: BETWEEN, token: between.token }]))).toEqual(["released"]);
      await expectMoved(world, source, inner);
    },
  );

  it("part that a ServiceCIDR names that is not Ready: stays for it", async () => {
    const { world, source } = await withInner("10.64.0.0/16", ["10.64.1.0/24"]);
    await world.created("suspended", ["10.64.2.0/24"]);
    await world.run(world.setReady("suspended", "False"));
    await world.run(world.remove("outer"));
    await world.until(() => world.object("outer") === undefined);
    await world.pass(60_000);
    expect(world.configOf(source)?.owned).toEqual(["10.64.2.0/24"]);
    await world.run(world.setReady("suspended", "True"));
    await world.until(() => world.configOf(source)?.retired === true);
    expect(world.storage.load().claims.find(({ prefix }) => prefix === "10.64.2.0/24")?.ownerUid).toBe(world.uidOf("suspended"));
  });

  it("ServiceCIDR created between count and drop: keeps its part", async () => {
    const { world, source } = await withInner("10.64.0.0/16", ["10.64.1.0/24"]);
    let coming: Promise<unknown> | undefined;
    let counts = 0;
    world.intercept = (call) => {
      if (call.startsWith("countTaken") && ++counts === 2) coming = world.create("late", ["10.64.9.0/24"]);
    };
    await world.run(world.remove("outer"));
    await world.until(() => world.readyOf("late")?.status === "True");
    await world.until(() => world.configOf(source)?.retired === true);
    expect(await coming).toBeUndefined();
    const late = world.uidOf("late");
    expect(world.storage.load().claims.filter(({ ownerUid }) => ownerUid === late)).toMatchObject([
      { prefix: "10.64.9.0/24", seeded: true },
    ]);
    expect(await world.allocate(late, "10.64.9.9")).toMatchObject({ ok: true });
  });
});
