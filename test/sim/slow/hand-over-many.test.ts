/** The end of a ServiceCIDR with many others inside: each of them takes over its part, side by side. */
import { describe, expect, it } from "vitest";
import { HANDOFF_TIMEOUT_MS } from "../../../src/addresses/rpc/limits";
import { delayed, TERMINATING } from "../../../src/addresses/coordinator/service-cidr-object";
import { type CoordinatorWorld, startedWorld } from "../../support/worlds/coordinator-world";

const RANGES = ["10.9.0.0/28"];
const OUTER_V6 = "fd00:0:0:1::/64";
const BETWEEN = "fd00::1:ffff:0:0:9";

/** The n-th of prefixes that lie far apart: between any two there are some 40 segments. */
function scattered(n: number): string {
  return `fd00::1:${hex(n * 40_503)}:${hex(n * 7_919)}:${hex(n)}:0/112`;
}

function hex(n: number): string {
  return (n & 0xffff || 1).toString(16);
}

interface Inner {
  uid: string;
  address: string;
  token: string;
}

/** `outer` owns everything, and there is an address in each of the inner ones. */
async function withInner(outer: string, prefixes: readonly string[]) {
  const world = await startedWorld({ ranges: RANGES });
  const source = await world.created("outer", [outer]);
  const inner: Inner[] = [];
  for (const [i, prefix] of prefixes.entries()) {
    const uid = await world.created(`inner-${i}`, [prefix]);
    const address = prefix.replace(/0?\/.*$/, "7");
    const got = await world.allocate(source, address);
    expect(got).toMatchObject({ ok: true });
    inner.push({ uid, address, token: got.token });
  }
  return { world, source, inner };
}

async function expectMoved(world: CoordinatorWorld, source: string, inner: readonly Inner[]): Promise<void> {
  await world.until(() => world.configOf(source)?.retired === true);
  const held = (await world.held()).map(({ uid, address }) => `${uid} ${address}`);
  expect(held.sort()).toEqual(inner.map(({ uid, address }) => `${uid} ${address}`).sort());
  for (const { uid, address, token } of inner.slice(0, 3)) {
    expect(await world.run(world.owner(uid).release([{ address, token }]))).toEqual(["released"]);
  }
  await world.pass(400_000);
  expect(world.storage.load().handoffs).toEqual([]);
  expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
}

function countCalls(world: CoordinatorWorld): (method: string) => number {
  const from = world.points.length;
  // Each call has one point before its effect and one after it.
  return (method) => world.points.slice(from).filter((point) => point.startsWith(method)).length / 2;
}

describe("deleted ServiceCIDR around many others", () => {
  it.each([
    { name: "120 × /24 in a /16", outer: "10.64.0.0/16", prefixes: Array.from({ length: 120 }, (_, i) => `10.64.${i}.0/24`) },
    { name: "120 × /112 all over a /64", outer: OUTER_V6, prefixes: Array.from({ length: 120 }, (_, i) => scattered(i + 1)) },
  ])("$name: moved in a few rounds, with one segment per part and short freezes", { timeout: 60_000 }, async (shape) => {
    const { world, source, inner } = await withInner(shape.outer, shape.prefixes);
    const calls = countCalls(world);
    let [segments, frozen] = [0, 0];
    const check = world.check;
    world.check = (w) => {
      check(w);
      const config = w.configOf(source);
      segments = Math.max(segments, config?.owned.length ?? 0);
      frozen = Math.max(frozen, config?.frozen.length ?? 0);
    };
    await world.run(world.remove("outer"));
    await world.until(() => world.object("outer") === undefined);
    expect(segments).toBe(shape.prefixes.length);
    expect(frozen).toBeLessThanOrEqual(100);
    expect(calls("partition")).toBeLessThanOrEqual(6);
    expect(calls("copyOut")).toBe(shape.prefixes.length);
    await expectMoved(world, source, inner);
  });

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
