import { beforeEach, describe, expect, it } from "vitest";
import { InvariantError } from "../../../../src/core/base/assert";
import { RELEASED_TOKEN_LIFETIME_MS } from "../../../../src/addresses/rpc/limits";
import { OwnerWorld, aConfig, aHolder } from "../../../support/worlds/owner-world";

const A = "10.0.0.0/24";
const B = "10.0.1.0/24";

let world: OwnerWorld;
beforeEach(() => {
  world = new OwnerWorld();
});

describe("configure", () => {
  it("greater epoch: accepted and in force", async () => {
    expect(await world.owner.configure(aConfig(1, [A]))).toEqual({ ok: true });
    expect(await world.owner.configure(aConfig(2, [A, B]))).toEqual({ ok: true });
    expect(await world.allocate("10.0.1.9")).toMatchObject({ ok: true, gen: { epoch: 2, counter: 1 } });
  });

  it("late configure: superseded, so a fenced range is not opened again", async () => {
    await world.owner.configure(aConfig(7, [A]));
    await world.owner.configure(aConfig(8, [A], { ranges: [] }));
    expect(await world.owner.configure(aConfig(7, [A]))).toEqual({ ok: false, reason: "superseded", epoch: 8 });
    expect(await world.allocate()).toEqual({ ok: false, reason: "full" });
    expect(await world.allocate("10.0.0.9")).toEqual({ ok: false, reason: "notAllocatable" });
  });

  it("equal epoch: equal content is acknowledged without a write, other content is refused", async () => {
    await world.owner.configure(aConfig(8, [A, B], { ranges: [A] }));
    const writes = world.storage.writes;
    expect(await world.owner.configure(aConfig(8, [B, A], { ranges: [A] }))).toEqual({ ok: true });
    expect(await world.owner.configure(aConfig(8, [A, B], { ranges: [A, B] }))).toEqual({ ok: false, reason: "contentDiffers", epoch: 8 });
    expect(world.storage.writes).toBe(writes);
    expect(await world.allocate("10.0.1.9")).toEqual({ ok: false, reason: "notAllocatable" });
  });

  it("restart: the fence stays", async () => {
    await world.owner.configure(aConfig(8, [A], { ranges: [] }));
    world.restart();
    expect(await world.owner.configure(aConfig(7, [A]))).toMatchObject({ ok: false, reason: "superseded" });
    expect(await world.owner.configure(aConfig(8, [A]))).toMatchObject({ ok: false, reason: "contentDiffers" });
  });

  it.each([
    { name: "overlapping segments", config: aConfig(1, [A, "10.0.0.128/25"]) },
    { name: "a frozen segment that is not owned", config: aConfig(1, [A], { frozen: [B] }) },
    { name: "a prefix that is not canonical", config: aConfig(1, ["10.0.0.1/24"]) },
    { name: "no epoch", config: aConfig(0, [A]) },
  ])("$name: a bug of the caller, nothing stored", async ({ config }) => {
    await expect(world.owner.configure(config)).rejects.toThrow(InvariantError);
    expect(world.storage.configLoad()).toBeUndefined();
  });

  it("segment that leaves the configuration: its rows are deleted, others stay", async () => {
    await world.owner.configure(aConfig(1, [A, B]));
    await world.allocate("10.0.0.9");
    await world.allocate("10.0.1.9");
    await world.owner.configure(aConfig(2, [B]));
    expect(await world.held()).toEqual(["10.0.1.9"]);
    await world.owner.configure(aConfig(3, [A, B]));
    expect(await world.allocate("10.0.0.9")).toMatchObject({ ok: true, gen: { epoch: 3, counter: 3 } });
  });

  it("same addresses cut differently: every row stays taken", async () => {
    await world.owner.configure(aConfig(1, ["10.0.0.0/23"]));
    await world.allocate("10.0.0.9");
    await world.allocate("10.0.1.9");
    await world.owner.configure(aConfig(2, [A, B]));
    expect(await world.allocate("10.0.1.9")).toEqual({ ok: false, reason: "taken" });
    world.restart();
    expect(await world.allocate("10.0.0.9")).toEqual({ ok: false, reason: "taken" });
    expect(world.logged.filter(({ level }) => level === "warn")).toEqual([]);
  });
});

describe("retired", () => {
  it("retired: rows and tokens are gone, every answer is stale, no epoch revives it", async () => {
    await world.owner.configure(aConfig(1, [A]));
    await world.allocate("10.0.0.9", { token: "t" });
    await world.release("10.0.0.9", "unknown");
    expect(await world.owner.configure(aConfig(5, [], { retired: true }))).toEqual({ ok: true });
    for (const restart of [false, true]) {
      if (restart) world.restart();
      expect(await world.allocate()).toEqual({ ok: false, reason: "stale" });
      expect(await world.allocate("10.0.0.9")).toEqual({ ok: false, reason: "stale" });
      expect(await world.release("10.0.0.9", "t")).toBe("stale");
      expect(await world.owner.seed(5, [{ address: "10.0.0.9", holder: aHolder(), token: "s" }])).toBe("stale");
      expect(await world.held()).toEqual([]);
      expect(await world.owner.configure(aConfig(9, [A]))).toEqual({ ok: false, reason: "retired", epoch: 5 });
      expect(await world.owner.configure(aConfig(5, [], { retired: true }))).toEqual({ ok: true });
    }
    expect(world.storage.releasedCount).toBe(0);
    expect(world.storage.pagesLoad()).toEqual([]);
  });

  it("never configured: can be retired, so that a late configure finds the tombstone", async () => {
    expect(await world.allocate()).toEqual({ ok: false, reason: "stale" });
    expect(await world.release("10.0.0.9", "t")).toBe("stale");
    await world.owner.configure(aConfig(8, [], { retired: true }));
    expect(await world.owner.configure(aConfig(7, [A]))).toEqual({ ok: false, reason: "retired", epoch: 8 });
  });
});

describe("allocate", () => {
  beforeEach(() => world.owner.configure(aConfig(3, [A, B], { ranges: [A], frozen: [] })));

  it("static: taken once, then refused to another token", async () => {
    expect(await world.allocate("10.0.0.5")).toEqual({ ok: true, address: "10.0.0.5", gen: { epoch: 3, counter: 1 }, scope: "static" });
    expect(await world.allocate("10.0.0.200")).toMatchObject({ ok: true, scope: "dynamic", gen: { counter: 2 } });
    expect(await world.allocate("10.0.0.5")).toEqual({ ok: false, reason: "taken" });
  });

  it.each([
    { name: "outside the owned segments", address: "10.0.2.1", reason: "stale" },
    { name: "the network address", address: "10.0.0.0", reason: "notAllocatable" },
    { name: "the broadcast address", address: "10.0.0.255", reason: "notAllocatable" },
    { name: "owned, in no Ready range", address: "10.0.1.1", reason: "notAllocatable" },
    { name: "a family without segments", address: "fd00::1", reason: "stale" },
  ])("static, $name: $reason", async ({ address, reason }) => {
    expect(await world.allocate(address)).toEqual({ ok: false, reason });
  });

  it("same token again: same answer and no second row, static and dynamic, also after a restart", async () => {
    const first = await world.allocate("", { token: "d" });
    const second = await world.allocate("10.0.0.7", { token: "s" });
    world.restart();
    const writes = world.storage.writes;
    expect(await world.allocate("", { token: "d" })).toEqual(first);
    expect(await world.allocate("10.0.0.7", { token: "s" })).toEqual(second);
    expect(await world.held()).toHaveLength(2);
    expect(world.storage.writes).toBe(writes);
  });

  it("same parent with another token: another address", async () => {
    const answer = await world.owner.allocate([world.item(), world.item()]);
    const [a, b] = answer.results;
    expect(a?.ok && b?.ok && a.address !== b.address).toBe(true);
  });

  it("dynamic: every address of the range once, the static band last, then full; free counts down to 0", async () => {
    const items = Array.from({ length: 254 }, () => world.item());
    const answer = await world.owner.allocate(items);
    const given = answer.results.map((result) => (result.ok ? result.address : result.reason));
    expect(new Set(given).size).toBe(254);
    expect(answer.results.slice(0, 238).every((result) => result.ok && result.scope === "dynamic")).toBe(true);
    expect(answer.results.slice(238).every((result) => result.ok && result.scope === "static")).toBe(true);
    expect(answer.free).toEqual({ IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } });
    expect(await world.allocate()).toEqual({ ok: false, reason: "full" });
  });

  it("one batch: results in order, and a refusal in the middle affects no other", async () => {
    const answer = await world.owner.allocate([
      world.item("10.0.0.5"),
      world.item("10.0.0.5"),
      world.item("10.0.9.9"),
      world.item("10.0.0.6"),
    ]);
    expect(answer.epoch).toBe(3);
    expect(answer.results.map((result) => (result.ok ? result.address : result.reason))).toEqual([
      "10.0.0.5",
      "taken",
      "stale",
      "10.0.0.6",
    ]);
    expect(answer.free).toEqual((await world.owner.free()).free);
  });

  it("many calls of one turn: one transaction, one commit", async () => {
    const commits = world.storage.commits;
    await Promise.all(Array.from({ length: 50 }, () => world.allocate()));
    expect(world.storage.commits - commits).toBe(1);
    expect(world.owner.counters).toMatchObject({ drains: 1, operations: 50 });
  });

  it("refusals: write nothing", async () => {
    await world.allocate("10.0.0.5");
    const { writes } = world.storage;
    await Promise.all([
      world.allocate("10.0.0.5"),
      world.allocate("10.0.9.9"),
      world.allocate("10.0.1.1"),
      world.allocate("", { family: "IPv6" }),
    ]);
    expect(world.storage.writes).toBe(writes);
  });

  it.each([
    { name: "an empty token", item: { token: "" } },
    { name: "an endless token", item: { token: "x".repeat(65) } },
    { name: "an endless name", item: { holder: aHolder({ name: "x".repeat(300) }) } },
    { name: "an address of the other family", item: { family: "IPv6" as const, address: "10.0.0.5" } },
    { name: "a loose address", item: { address: "10.0.0.05" } },
    { name: "no address at all", item: { address: "web" } },
  ])("$name: a bug of the caller that rejects its call alone", async ({ item }) => {
    const good = world.allocate("10.0.0.8");
    await expect(world.allocate("10.0.0.9", item)).rejects.toThrow(InvariantError);
    expect(await good).toMatchObject({ ok: true });
  });

  it("too many items in a call: refused as a whole", async () => {
    await expect(world.owner.allocate(Array.from({ length: 2_001 }, () => world.item()))).rejects.toThrow(InvariantError);
    expect(await world.held()).toEqual([]);
  });

  it("calls beyond the queue of an overrun object: refused; queued calls: answered", async () => {
    const call = () => world.owner.allocate(Array.from({ length: 2_000 }, () => world.item("10.0.9.9")));
    const queued = Array.from({ length: 10 }, call);
    await expect(call()).rejects.toThrow("too many allocations");
    expect((await Promise.all(queued)).every(({ results }) => results.length === 2_000)).toBe(true);
  });
});

describe("frozen", () => {
  it("frozen segment: takes no allocate and no release; thawed, everything is as before", async () => {
    await world.owner.configure(aConfig(1, [A, B]));
    await world.allocate("10.0.0.9", { token: "t" });
    await world.owner.configure(aConfig(2, [A, B], { frozen: [A] }));
    for (const restart of [false, true]) {
      if (restart) world.restart();
      expect(await world.allocate("10.0.0.10")).toEqual({ ok: false, reason: "frozen" });
      expect(await world.allocate("10.0.0.9", { token: "t" })).toEqual({ ok: false, reason: "frozen" });
      expect(await world.release("10.0.0.9", "t")).toBe("stale");
      expect(await world.owner.seed(2, [{ address: "10.0.0.77", holder: aHolder(), token: "s" }])).toBe("stale");
      expect(await world.owner.countTaken([{ first: "10.0.0.0", last: "10.0.0.255" }])).toMatchObject({ taken: [1] });
    }
    expect(await world.allocate()).toMatchObject({ ok: true, address: expect.stringMatching(/^10\.0\.1\./) });
    await world.owner.configure(aConfig(3, [A, B]));
    expect(await world.allocate("10.0.0.9")).toEqual({ ok: false, reason: "taken" });
    expect(await world.release("10.0.0.9", "t")).toBe("released");
  });

  it("dynamic with every open address taken: frozen, not full", async () => {
    await world.owner.configure(aConfig(1, [A, "10.0.1.0/30"], { frozen: [A] }));
    expect(await world.allocate()).toMatchObject({ ok: true });
    expect(await world.allocate()).toMatchObject({ ok: true });
    expect(await world.allocate()).toEqual({ ok: false, reason: "frozen" });
    expect(await world.allocate("", { family: "IPv6" })).toEqual({ ok: false, reason: "full" });
  });
});

describe("release", () => {
  beforeEach(() => world.owner.configure(aConfig(1, [A])));

  it("right token: the address is free again, and its next row has a greater gen", async () => {
    const before = await world.allocate("10.0.0.5", { token: "t" });
    expect(await world.release("10.0.0.5", "t")).toBe("released");
    const after = await world.allocate("10.0.0.5");
    expect(before.ok && after.ok && after.gen.counter > before.gen.counter).toBe(true);
  });

  it("release repeated after the address has another holder: frees nothing", async () => {
    await world.allocate("10.0.0.5", { token: "of S" });
    expect(await world.release("10.0.0.5", "of S")).toBe("released");
    expect(await world.allocate("10.0.0.5", { token: "of T" })).toMatchObject({ ok: true });
    expect(await world.release("10.0.0.5", "of S")).toBe("released");
    expect(await world.allocate("10.0.0.5", { token: "of V" })).toEqual({ ok: false, reason: "taken" });
  });

  it("same parent, retyped back: the old release does not free its new row", async () => {
    const holder = aHolder();
    await world.allocate("10.0.0.5", { token: "first", holder });
    await world.release("10.0.0.5", "first");
    await world.allocate("10.0.0.5", { token: "second", holder });
    await world.release("10.0.0.5", "first");
    expect(await world.held()).toEqual(["10.0.0.5"]);
  });

  it("allocate that arrives after its release: refused for 15 minutes, also after a restart", async () => {
    expect(await world.release("10.0.0.5", "late")).toBe("released");
    world.restart();
    world.nowMs += RELEASED_TOKEN_LIFETIME_MS - 1;
    expect(await world.allocate("10.0.0.5", { token: "late" })).toEqual({ ok: false, reason: "released" });
    expect(await world.allocate("", { token: "late" })).toEqual({ ok: false, reason: "released" });
    expect(await world.held()).toEqual([]);
    world.nowMs += 1;
    expect(await world.allocate("10.0.0.5", { token: "late" })).toMatchObject({ ok: true });
  });

  it("release and allocate of one token in one turn: the order of the calls decides", async () => {
    const [released, allocated] = await Promise.all([world.release("10.0.0.5", "t"), world.allocate("10.0.0.5", { token: "t" })]);
    expect([released, allocated]).toEqual(["released", { ok: false, reason: "released" }]);
  });

  it("unknown address: the address of the token is freed, or the token is remembered", async () => {
    await world.allocate("", { token: "held" });
    expect(await world.release("", "held")).toBe("released");
    expect(await world.release("", "never seen")).toBe("released");
    expect(await world.held()).toEqual([]);
    expect(await world.allocate("", { token: "never seen" })).toEqual({ ok: false, reason: "released" });
  });

  it("outside the owned segments: stale, and nothing is remembered", async () => {
    expect(await world.release("10.0.1.5", "t")).toBe("stale");
    expect(world.storage.releasedCount).toBe(0);
  });

  it("expired tokens: forgotten by later releases", async () => {
    for (let i = 0; i < 20; i++) await world.release("10.0.0.5", `old ${i}`);
    world.nowMs += RELEASED_TOKEN_LIFETIME_MS;
    await world.release("10.0.0.5", "new");
    expect(world.storage.releasedCount).toBe(1);
  });
});

describe("seed", () => {
  const seeds = (...addresses: string[]) =>
    addresses.map((address) => ({ address, holder: aHolder({ kind: "ipaddress" }), token: `uid of ${address}` }));
  beforeEach(() => world.owner.configure(aConfig(4, [A], { ranges: [] })));

  it("addresses that are not allocatable yet: taken, the network address too; repeats and addresses outside are no-ops", async () => {
    expect(await world.owner.seed(4, seeds("10.0.0.0", "10.0.0.9", "10.7.7.7"))).toBe("ok");
    const { writes } = world.storage;
    expect(await world.owner.seed(4, seeds("10.0.0.9", "10.0.0.0"))).toBe("ok");
    expect(world.storage.writes).toBe(writes);
    expect(await world.held()).toEqual(["10.0.0.0", "10.0.0.9"]);
    await world.owner.configure(aConfig(5, [A]));
    expect(await world.allocate("10.0.0.9")).toEqual({ ok: false, reason: "taken" });
  });

  it("another epoch: stale, whether late or early", async () => {
    expect(await world.owner.seed(3, seeds("10.0.0.9"))).toBe("stale");
    expect(await world.owner.seed(5, seeds("10.0.0.9"))).toBe("stale");
    expect(await world.held()).toEqual([]);
  });

  it("closed owner: takes nothing for a Service, also after a restart, until a configuration opens it", async () => {
    const lost = [{ address: "10.0.0.9", holder: aHolder({ kind: "service" }), token: "lost" }];
    const closed = aConfig(5, [A], { ranges: [], closed: true });
    expect(await world.owner.configure(closed)).toEqual({ ok: true });
    expect(await world.owner.configure(closed), "said again").toEqual({ ok: true });
    expect(await world.owner.configure(aConfig(5, [A], { ranges: [] }))).toMatchObject({ ok: false, reason: "contentDiffers" });
    world.restart();
    expect([await world.owner.seed(5, lost), await world.owner.seed(5, seeds("10.0.0.7"))]).toEqual(["stale", "ok"]);
    await world.owner.configure(aConfig(6, [A], { ranges: [] }));
    expect(await world.owner.seed(6, lost)).toBe("ok");
    expect(await world.held()).toEqual(["10.0.0.7", "10.0.0.9"]);
  });

  it("object deleted before its seed arrives: leaves nothing", async () => {
    await world.release("10.0.0.9", "uid of 10.0.0.9");
    expect(await world.owner.seed(4, seeds("10.0.0.9"))).toBe("ok");
    expect(await world.held()).toEqual([]);
  });
});

describe("reads", () => {
  beforeEach(() => world.owner.configure(aConfig(1, [A, "fd00::/120"])));

  it("rowsSince: rows behind a position, in order, at most the limit", async () => {
    for (const address of ["10.0.0.9", "fd00::9", "10.0.0.7"]) await world.allocate(address, { token: `t ${address}` });
    const { epoch, rows } = await world.owner.rowsSince(1, 10);
    expect(epoch).toBe(1);
    expect(rows).toEqual([
      { address: "fd00::9", token: "t fd00::9", gen: { epoch: 1, counter: 2 }, holder: aHolder(), position: 2 },
      { address: "10.0.0.7", token: "t 10.0.0.7", gen: { epoch: 1, counter: 3 }, holder: aHolder(), position: 3 },
    ]);
    expect((await world.owner.rowsSince(0, 2)).rows).toHaveLength(2);
  });

  it("countTaken: each of the inclusive intervals of both families", async () => {
    for (const address of ["10.0.0.9", "10.0.0.20", "fd00::9"]) await world.allocate(address);
    const count = (...intervals: [string, string][]) => world.owner.countTaken(intervals.map(([first, last]) => ({ first, last })));
    expect(await count(["10.0.0.9", "10.0.0.20"])).toEqual({ epoch: 1, taken: [2] });
    expect(await count(["fd00::", "fd00::ff"], ["10.0.0.10", "10.0.0.255"])).toEqual({ epoch: 1, taken: [1, 1] });
    expect(await count(["10.0.0.10", "10.0.0.19"])).toEqual({ epoch: 1, taken: [0] });
  });

  it("free: by family and band", async () => {
    await world.allocate("10.0.0.5");
    expect((await world.owner.free()).free).toEqual({ IPv4: { dynamic: 238, static: 15 }, IPv6: { dynamic: 239, static: 16 } });
  });
});
