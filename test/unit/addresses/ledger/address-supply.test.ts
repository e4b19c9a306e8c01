import { describe, expect, it } from "vitest";
import { AllocationMetrics } from "../../../../src/addresses/metrics/allocation-metrics";
import { AddressSupply } from "../../../../src/addresses/ledger/address-supply";
import type { SupplyResult } from "../../../../src/addresses/ledger/wanted-address";
import { PendingReleases } from "../../../../src/addresses/ledger/pending-releases";
import type { AllocateResult } from "../../../../src/addresses/rpc/service-cidr";
import { MemoryFreeCountStorage } from "../../../support/memory/ledger-storage";
import { aHolder } from "../../../support/worlds/owner-world";
import { aTopology, LedgerWorld, SOME_FREE } from "../../../support/worlds/ledger-world";

const DEADLINE_MS = 20_000;

class SupplyWorld extends LedgerWorld {
  readonly supply = new AddressSupply(this.supplyPorts);
  #tokens = 0;

  take(address = "", kind: "service" | "ipaddress" = "service", isHeld = false): Promise<SupplyResult> {
    const family = address.includes(":") ? "IPv6" : "IPv4";
    const wanted = { family, address, holder: aHolder({ kind }), isHeld } as const;
    return this.supply.take(wanted, this.scheduler.now + DEADLINE_MS, () => `token-${++this.#tokens}`);
  }

  result(promise: Promise<SupplyResult>): Promise<SupplyResult> {
    return this.scheduler.run(promise);
  }
}

let counter = 0;
const given = (address: string): AllocateResult => ({ ok: true, address, gen: { epoch: 1, counter: ++counter }, scope: "dynamic" });
const refused = (reason: "full" | "taken" | "stale" | "frozen" | "notAllocatable" | "released"): AllocateResult => ({ ok: false, reason });
const NONE = { dynamic: 0, static: 0 };
const reasonOf = (result: SupplyResult): string => (result.ok ? result.taken.address : result.reason);

describe("calls to owners", () => {
  it("fifty takes of one turn: one call to one owner", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24", c: "10.0.2.0/24" });
    world.allocate = (_, { token }) => given(`10.0.0.${token.slice(6)}`);
    const results = await world.scheduler.run(Promise.all(Array.from({ length: 50 }, () => world.take())));
    expect(new Set(results.map(reasonOf)).size).toBe(50);
    expect(world.calls.filter((call) => call !== "topology")).toHaveLength(1);
    expect(world.countOf("topology")).toBe(1);
  });

  it("takes of later turns: each turn draws an owner anew", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.allocate = () => given("10.0.0.9");
    for (let i = 0; i < 40; i++) {
      await world.result(world.take());
      await world.scheduler.pass(1);
    }
    expect(new Set(world.calls)).toEqual(new Set(["topology", "allocate a", "allocate b"]));
  });

  it("static requests of one turn: one call to the owner of each address", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.allocate = (_, { address }) => given(address);
    await world.scheduler.run(Promise.all(["10.0.1.5", "10.0.0.5", "10.0.1.6"].map((address) => world.take(address))));
    expect(world.allocated.map(({ owner, items }) => [owner, items.map(({ address }) => address)]).sort()).toEqual([
      ["a", ["10.0.0.5"]],
      ["b", ["10.0.1.5", "10.0.1.6"]],
    ]);
  });

  it("takes while two calls are under way: go out together in the third", async () => {
    const world = new SupplyWorld();
    let answer: () => void = () => undefined;
    const open = new Promise<void>((resolve) => (answer = resolve));
    world.allocate = async (_, { token }) => {
      await open;
      return given(`10.0.0.${token.slice(6)}`);
    };
    const takes = [];
    for (let i = 0; i < 12; i++) {
      takes.push(world.take());
      await world.scheduler.pass(1);
    }
    expect(world.countOf("allocate")).toBe(2);
    answer();
    await world.scheduler.run(Promise.all(takes));
    expect(world.allocated.map(({ items }) => items.length)).toEqual([1, 1, 10]);
  });
});

/** Owners that count: each gives out what it has, dynamic addresses first. */
class CountingWorld extends SupplyWorld {
  readonly has = new Map<string, { dynamic: number; static: number }>();
  readonly given = new Map<string, { dynamic: number; static: number }>();

  constructor(owners: Record<string, { dynamic: number; static: number }>, counts?: MemoryFreeCountStorage) {
    super(counts);
    const uids = Object.keys(owners);
    this.topology = aTopology(1, Object.fromEntries(uids.map((uid, i) => [uid, `10.${i >> 6}.${(i & 63) << 2}.0/22`])));
    for (const [uid, has] of Object.entries(owners)) this.has.set(uid, { ...has });
    this.free = (uid) => ({ IPv4: { ...(this.has.get(uid) ?? NONE) }, IPv6: { ...NONE } });
    this.allocate = (uid, item) => {
      const has = this.has.get(uid) ?? NONE;
      const scope = has.dynamic > 0 ? "dynamic" : "static";
      if (has[scope] === 0 || (scope === "static" && item.dynamicOnly)) return refused("full");
      has[scope]--;
      const given = this.given.get(uid) ?? { dynamic: 0, static: 0 };
      given[scope]++;
      this.given.set(uid, given);
      return { ok: true, address: "10.0.0.9", gen: { epoch: 1, counter: ++counter }, scope };
    };
  }

  get objectCalls(): string[] {
    return this.calls.map((call) => call.split(" ")[0] ?? "");
  }
}

describe("owner that an address comes from", () => {
  const NUMBER = 1_000;
  /** Of 1,000 full ranges the one with an address. */
  const oneWithRoom = (room = 777) =>
    Object.fromEntries(Array.from({ length: NUMBER }, (_, i) => [`owner-${i}`, { dynamic: i === room ? 1 : 0, static: 0 }]));

  it("1,000 ranges, one with room, counts from before a restart: found in two calls", async () => {
    const counts = new MemoryFreeCountStorage();
    const before = new CountingWorld(oneWithRoom(), counts);
    // Every owner has answered once, and the last one of them has room for a single address.
    await before.scheduler.run(before.source.current());
    for (const uid of before.has.keys()) before.source.counts.note(before.topology, uid, { epoch: 1, free: before.free(uid) });
    before.source.counts.save();
    const after = new CountingWorld(oneWithRoom(), counts);
    expect((await after.result(after.take())).ok).toBe(true);
    expect(after.calls).toEqual(["topology", "allocate owner-777"]);
    await after.scheduler.pass(1);
    // Now all are full: the Coordinator confirms it, and nobody else is asked.
    expect(reasonOf(await after.result(after.take()))).toBe("full");
    expect(after.objectCalls).toEqual(["topology", "allocate", "isReleasing", "countedTopology"]);
    // A release through this store is known at once.
    after.has.set("owner-3", { dynamic: 1, static: 0 });
    after.source.counts.released(after.topology, "owner-3", "10.0.12.200");
    expect((await after.result(after.take())).ok).toBe(true);
    expect(after.calls.slice(4)).toEqual(["allocate owner-3"]);
    await after.scheduler.pass(1);
    // One that somebody else released is found by the Coordinator.
    after.has.set("owner-9", { dynamic: 1, static: 0 });
    expect((await after.result(after.take())).ok).toBe(true);
    expect(after.objectCalls.slice(5)).toEqual(["isReleasing", "countedTopology", "allocate"]);
    expect(after.calls.at(-1)).toBe("allocate owner-9");
  });

  it.each([
    { name: "no saved counts", known: false },
    { name: "filled by IPAddress objects since the count", known: true },
  ])("1,000 ranges, one with room, $name: found in two calls and one question", async ({ known }) => {
    const world = new CountingWorld(oneWithRoom());
    await world.scheduler.run(world.source.current());
    const free = { IPv4: { dynamic: 1_000, static: 0 }, IPv6: NONE };
    if (known) for (const uid of world.has.keys()) world.source.counts.note(world.topology, uid, { epoch: 1, free });
    world.has.set("owner-777", { dynamic: 20, static: 0 });
    world.calls.length = 0;
    const together = await world.scheduler.run(Promise.all(Array.from({ length: 20 }, () => world.take())));
    expect(together.every((result) => result.ok)).toBe(true);
    // One draw for all of them, and one question, after which the counts are known.
    expect(world.objectCalls).toEqual(["allocate", "countedTopology", "allocate"]);
    await world.scheduler.pass(10);
    expect(reasonOf(await world.result(world.take()))).toBe("full");
    expect(world.objectCalls.slice(3)).toEqual(["isReleasing", "countedTopology"]);
  });

  it("1,000 full ranges without counts: full after one call to an owner and the Coordinator's word", async () => {
    const world = new CountingWorld(oneWithRoom(-1));
    expect(reasonOf(await world.result(world.take()))).toBe("full");
    expect(world.objectCalls).toEqual(["topology", "allocate", "countedTopology", "isReleasing", "countedTopology"]);
  });

  it("owner that is full after its last expected address: no recount", async () => {
    const world = new CountingWorld({ a: { dynamic: 30, static: 0 }, b: { dynamic: 25, static: 0 }, c: { dynamic: 40, static: 0 } });
    await world.scheduler.run(world.source.current());
    for (const uid of world.has.keys()) world.source.counts.note(world.topology, uid, { epoch: 1, free: world.free(uid) });
    const results = await world.scheduler.run(Promise.all(Array.from({ length: 95 }, () => world.take())));
    expect(results.every((result) => result.ok)).toBe(true);
    expect(world.objectCalls).toEqual(["topology", "allocate", "allocate", "allocate"]);
  });

  it("old counts and a silent Coordinator: the next owner gives the address within seconds", async () => {
    const world = new CountingWorld({ a: { dynamic: 0, static: 0 }, b: { dynamic: 0, static: 0 }, c: { dynamic: 9, static: 0 } });
    await world.scheduler.run(world.source.current());
    world.countedTopology = () => new Promise(() => undefined);
    const startedAt = world.scheduler.now;
    expect((await world.result(world.take())).ok).toBe(true);
    expect(world.countOf("countedTopology")).toBeLessThanOrEqual(1);
    expect(world.scheduler.now - startedAt).toBeLessThan(6_000);
  });

  it("many draws: in proportion to the free addresses", async () => {
    const room = [60_000, 30_000, 9_000, 1_000];
    const world = new CountingWorld(Object.fromEntries(room.map((dynamic, i) => [`owner-${i}`, { dynamic, static: 0 }])));
    world.topology = aTopology(1, Object.fromEntries(room.map((_, i) => [`owner-${i}`, `10.${i}.0.0/16`])));
    await world.scheduler.run(world.source.current());
    for (const uid of world.has.keys()) world.source.counts.note(world.topology, uid, { epoch: 1, free: world.free(uid) });
    const draws = 6_000;
    for (let i = 0; i < draws; i++) {
      await world.result(world.take());
      await world.scheduler.pass(1);
    }
    const statistic = room.reduce((sum, dynamic, i) => {
      const expected = (dynamic / 100_000) * draws;
      return sum + ((world.given.get(`owner-${i}`)?.dynamic ?? 0) - expected) ** 2 / expected;
    }, 0);
    // Chi-square with three degrees of freedom: beyond 21.1 once in 10,000.
    expect(statistic).toBeLessThan(21.1);
  });

  it("one batch for all dynamic addresses: no static one is given before they are used up", async () => {
    const world = new CountingWorld({
      a: { dynamic: 30, static: 64 },
      b: { dynamic: 25, static: 64 },
      c: { dynamic: 5, static: 64 },
    });
    const results = await world.scheduler.run(Promise.all(Array.from({ length: 60 }, () => world.take())));
    expect(results.every((result) => result.ok)).toBe(true);
    expect([...world.given.values()].reduce((sum, { static: low }) => sum + low, 0)).toBe(0);
    // What one owner could not give goes on to the next together.
    expect(world.countOf("allocate")).toBeLessThanOrEqual(3);
    expect((await world.result(world.take())).ok).toBe(true);
    expect([...world.given.values()].reduce((sum, { static: low }) => sum + low, 0)).toBe(1);
  });

  it("old counts that say full: released addresses and new ranges come before any static band", async () => {
    const world = new CountingWorld({ a: { dynamic: 1, static: 64 }, b: { dynamic: 0, static: 64 } });
    const dynamicOnly = async (): Promise<number> => {
      expect((await world.result(world.take())).ok).toBe(true);
      await world.scheduler.pass(10_000);
      return [...world.given.values()].reduce((sum, { static: low }) => sum + low, 0);
    };
    expect(await dynamicOnly()).toBe(0);
    // The client that filled b by IPAddress objects has deleted one: this store has not heard of it.
    world.has.set("b", { dynamic: 1, static: 64 });
    expect(await dynamicOnly()).toBe(0);
    // A range that this store's topology lacks.
    world.has.set("c", { dynamic: 1, static: 64 });
    world.topology = aTopology(2, { a: "10.0.0.0/22", b: "10.0.4.0/22", c: "10.0.8.0/22" });
    expect(await dynamicOnly()).toBe(0);
    expect(await dynamicOnly(), "now all are used up").toBe(1);
    world.countedTopology = () => Promise.reject(new Error("the Coordinator is away"));
    expect(await dynamicOnly(), "a Coordinator that is away keeps nobody from an address").toBe(2);
  });

  it("twenty static addresses in a row: one question to the Coordinator", async () => {
    const world = new CountingWorld({ a: { dynamic: 0, static: 64 } });
    for (let i = 0; i < 20; i++) {
      expect((await world.result(world.take())).ok).toBe(true);
      await world.scheduler.pass(10);
    }
    expect(world.countOf("countedTopology")).toBe(1);
  });

  it("several owners asked for one address: each with a token of its own", async () => {
    const world = new CountingWorld({ a: { dynamic: 0, static: 0 }, b: { dynamic: 0, static: 0 }, c: { dynamic: 0, static: 9 } });
    await world.result(world.take());
    const tokens = new Map(world.allocated.flatMap(({ owner, items }) => items.map(({ token }) => [token, owner])));
    const owners = new Set(world.allocated.map(({ owner }) => owner));
    expect(tokens.size).toBeGreaterThanOrEqual(owners.size);
    for (const { owner, items } of world.allocated) for (const { token } of items) expect(tokens.get(token)).toBe(owner);
  });
});

describe("metrics and log of allocations", () => {
  it("allocations and refusals: counted by range and scope, timed; a slow one: its steps are logged", async () => {
    const world = new SupplyWorld();
    const metrics = new AllocationMetrics();
    const lines: object[] = [];
    const supply = new AddressSupply({
      ...world.supplyPorts,
      metrics,
      recorder: { log: (level, event, fields) => void lines.push({ level, event, ...fields }) },
    });
    const take = (address = "") => {
      const wanted = { family: "IPv4", address, holder: aHolder() } as const;
      return world.result(supply.take(wanted, world.scheduler.now + DEADLINE_MS, () => `token-${lines.length}-${address}`));
    };
    world.allocate = (_, { address }) => given(address || "10.0.0.77");
    await take();
    await take("10.0.0.5");
    world.allocate = () => refused("taken");
    await take("10.0.0.5");
    world.allocate = () => refused("full");
    await take();
    expect(lines).toEqual([]);
    world.allocate = async () => {
      await world.clock.sleep(700);
      return given("10.0.0.78");
    };
    world.free = () => structuredClone(SOME_FREE);
    await take();
    expect(lines).toMatchObject([{ level: "warn", event: "slow allocation", family: "IPv4", outcome: "10.0.0.78" }]);
    expect(JSON.stringify(lines)).toMatch(/"durationMs":7\d\d/);
    expect(JSON.stringify(lines)).toContain("ms: a ok");
    // Many at a time share a line, also when no other one comes after them.
    const wanted = { family: "IPv4", address: "", holder: aHolder() } as const;
    const together = [1, 2, 3].map((i) => supply.take(wanted, world.scheduler.now + DEADLINE_MS, () => `together-${i}`));
    await world.scheduler.run(Promise.all(together));
    await world.scheduler.pass(1_000);
    await take();
    expect(lines.slice(1)).toMatchObject([
      { event: "slow allocation, more of them", count: 3 },
      { event: "slow allocation", untoldBefore: 0 },
    ]);
    const [range] = metrics.values();
    expect(range).toMatchObject({ cidr: "10.0.0.0/24", total: { dynamic: 6, static: 1 }, errors: { dynamic: 1, static: 1 } });
    expect(range?.durations.counts.reduce((sum, count) => sum + count, 0)).toBe(7);
    expect(range?.durations.sum).toBeGreaterThan(0.69);
  });
});

describe("allocations without a CIDR", () => {
  it.each([
    ["taken, as the owner says twice", () => refused("taken"), 2],
    ["given all the same, to the Service that holds it", () => given("10.0.0.5"), 1],
  ])("an address that no range gives out, %s: not counted", async (_, answer, calls) => {
    const world = new SupplyWorld();
    const metrics = new AllocationMetrics();
    world.topology = { ...aTopology(1, { a: "10.0.0.0/24" }), ranges: [] };
    world.allocate = answer;
    const wanted = { family: "IPv4", address: "10.0.0.5", holder: aHolder() } as const;
    const supply = new AddressSupply({ ...world.supplyPorts, metrics });
    await world.result(supply.take(wanted, world.scheduler.now + DEADLINE_MS, () => "token"));
    expect([world.countOf("allocate"), metrics.values()]).toEqual([calls, []]);
  });
});

describe("answers that are not final", () => {
  it("stale: the topology is read again, and the owner that it names is asked", async () => {
    const world = new SupplyWorld();
    world.allocate = (owner) => {
      world.topology = aTopology(2, { b: "10.0.0.0/24" });
      return owner === "a" ? refused("stale") : given("10.0.0.5");
    };
    expect(reasonOf(await world.result(world.take("10.0.0.5")))).toBe("10.0.0.5");
    expect(world.calls).toEqual(["topology", "allocate a", "topology", "allocate b"]);
  });

  it.each(["stale", "frozen"] as const)(
    "%s, no address named: another owner is asked at once, also while the Coordinator is silent",
    async (kind) => {
      const world = new SupplyWorld();
      world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24", c: "10.0.2.0/24" });
      let calls = 0;
      world.allocate = (_, { token }) => (++calls <= 20 ? refused(kind) : given(`10.0.0.${token.slice(6)}`));
      await world.scheduler.run(world.source.current());
      world.coordinator = () => new Promise(() => undefined);
      const startedAt = world.scheduler.now;
      const results = await world.scheduler.run(Promise.all(Array.from({ length: 20 }, () => world.take())));
      expect(results.every(({ ok }) => ok)).toBe(true);
      expect(world.scheduler.now).toBe(startedAt);
      expect(world.countOf("allocate")).toBe(2);
      expect(new Set(world.allocated.map(({ owner }) => owner)).size).toBe(2);
      expect(new Set(world.allocated.flatMap(({ items }) => items.map(({ token }) => token))).size, "a token for each owner").toBe(40);
    },
  );

  it.each(["stale", "frozen"] as const)(
    "%s from everybody: asked again with growing pauses until the deadline, then unavailable",
    async (kind) => {
      const world = new SupplyWorld();
      world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24", c: "10.0.2.0/24" });
      world.allocate = () => refused(kind);
      const startedAt = world.scheduler.now;
      expect(reasonOf(await world.result(world.take()))).toBe("unavailable");
      expect(world.scheduler.now - startedAt).toBeGreaterThanOrEqual(DEADLINE_MS);
      const rounds = new Map<string, number>();
      for (const { owner } of world.allocated) rounds.set(owner, (rounds.get(owner) ?? 0) + 1);
      expect([...rounds.keys()].sort()).toEqual(["a", "b", "c"]);
      for (const count of rounds.values()) expect(count).toBeGreaterThan(20);
      for (const count of rounds.values()) expect(count).toBeLessThan(250);
    },
  );

  it("a frozen owner: seldom drawn by the next takes, and drawn by its share again after the thaw", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { large: "10.0.0.0/16", small: "10.1.0.0/24" });
    world.free = (owner) => ({ IPv4: { dynamic: owner === "large" ? 60_000 : 200, static: 16 }, IPv6: { ...NONE } });
    let frozen = true;
    world.allocate = (owner) => (owner === "large" && frozen ? refused("frozen") : given("10.0.0.9"));
    const takeFor = async (durationMs: number): Promise<void> => {
      world.calls.length = 0;
      for (const endAt = world.scheduler.now + durationMs; world.scheduler.now < endAt;) {
        expect((await world.result(world.take())).ok).toBe(true);
        await world.scheduler.pass(1);
      }
    };
    await takeFor(1_000);
    expect(world.countOf("allocate large")).toBeGreaterThan(3);
    expect(world.countOf("allocate large")).toBeLessThan(20);
    frozen = false;
    await takeFor(200);
    await takeFor(200);
    expect(world.countOf("allocate small")).toBeLessThan(20);
  });

  it("a frozen owner with a dynamic address: asked again before a static address is given", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.1.0.0/24" });
    world.free = (owner) => ({ IPv4: { dynamic: owner === "a" ? 1 : 0, static: 16 }, IPv6: { ...NONE } });
    await world.scheduler.run(world.source.current());
    world.source.counts.note(world.topology, "b", { epoch: 1, free: world.free("b") });
    let calls = 0;
    world.allocate = (owner, { dynamicOnly }) =>
      owner === "a" && dynamicOnly && ++calls > 1 ? given("10.0.0.99") : dynamicOnly ? refused("frozen") : given("10.1.0.1");
    expect(reasonOf(await world.result(world.take()))).toBe("10.1.0.1");
    expect(reasonOf(await world.result(world.take()))).toBe("10.0.0.99");
  });

  it.each(["frozen", "unknown"] as const)(
    "%s from the only owner: asked with the same token until the deadline, then unavailable",
    async (kind) => {
      const world = new SupplyWorld();
      world.topology = aTopology(1, { a: "10.0.0.0/24" });
      world.allocate = () => (kind === "frozen" ? refused("frozen") : Promise.reject(new Error("connection lost")));
      const start = world.scheduler.now;
      expect(await world.result(world.take())).toEqual({ ok: false, reason: "unavailable" });
      expect(world.scheduler.now - start).toBeGreaterThanOrEqual(DEADLINE_MS);
      expect(world.scheduler.now - start).toBeLessThan(DEADLINE_MS + 1_000);
      expect(world.allocated.length).toBeGreaterThan(20);
      expect(new Set(world.allocated.flatMap(({ items }) => items.map(({ token }) => token)))).toEqual(new Set(["token-1"]));
    },
  );

  it("a lost answer: only that owner is asked again, also when its segment freezes meanwhile", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24", c: "10.0.2.0/24" });
    let calls = 0;
    world.allocate = () => {
      calls++;
      if (calls === 1) return Promise.reject(new Error("connection lost"));
      return calls < 9 ? refused("frozen") : given("10.0.0.5");
    };
    expect(reasonOf(await world.result(world.take()))).toBe("10.0.0.5");
    expect(new Set(world.allocated.map(({ owner }) => owner)).size).toBe(1);
  });

  it("no answer: the owner is asked again after the timeout", async () => {
    const world = new SupplyWorld();
    let calls = 0;
    world.allocate = () => (++calls === 1 ? new Promise<never>(() => undefined) : given("10.0.0.5"));
    expect(reasonOf(await world.result(world.take()))).toBe("10.0.0.5");
  });

  it("a silent Coordinator: unavailable, never full", async () => {
    const world = new SupplyWorld();
    world.allocate = () => refused("full");
    let calls = 0;
    world.coordinator = () => (++calls === 1 ? Promise.resolve(world.topology) : new Promise(() => undefined));
    expect(reasonOf(await world.result(world.take()))).toBe("unavailable");
    world.coordinator = () => Promise.resolve(world.topology);
    await world.scheduler.pass(10_000);
    expect(reasonOf(await world.result(world.take()))).toBe("full");
  });
});

describe("negative answers (rule 17)", () => {
  it("full: every owner is asked before full is answered, and the Coordinator has the last word", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24", c: "10.0.2.0/24" });
    world.allocate = () => refused("full");
    expect(reasonOf(await world.result(world.take()))).toBe("full");
    // Each is asked for its dynamic band and then for any; the Coordinator has the last word.
    expect(world.countOf("allocate")).toBe(3);
    expect(world.calls.at(-1)).toBe("countedTopology");
    world.allocate = (owner) => (owner === "c" ? given("10.0.2.7") : refused("full"));
    world.free = () => structuredClone(SOME_FREE);
    expect(reasonOf(await world.result(world.take()))).toBe("10.0.2.7");
  });

  it("full: a range that the cached topology lacks is found (hazard 18)", async () => {
    const world = new SupplyWorld();
    world.allocate = (owner) => (owner === "b" ? given("10.0.1.7") : refused("full"));
    await world.result(world.take());
    world.topology = aTopology(2, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    expect(reasonOf(await world.result(world.take()))).toBe("10.0.1.7");
  });

  it("full at an earlier epoch: the owner is asked again at the next one", async () => {
    const world = new SupplyWorld();
    world.allocate = async () => {
      world.allocate = () => given("10.0.5.5");
      await world.clock.sleep(10);
      return refused("full");
    };
    const taken = world.take();
    await world.scheduler.pass(5);
    // While the answer is on its way the owner gets another range, and another request brings the news.
    world.topology = aTopology(2, { a: "10.0.4.0/23" });
    world.free = () => structuredClone(SOME_FREE);
    world.source.adopt(structuredClone(world.topology));
    expect(reasonOf(await world.result(taken))).toBe("10.0.5.5");
  });

  it("full from an owner without the newest configuration: not final, asked again (hazard 18)", async () => {
    const world = new SupplyWorld();
    world.topology = { ...aTopology(2, { a: "10.0.0.0/24" }), owners: [{ uid: "a", epoch: 3 }] };
    world.allocate = () => refused("full");
    world.free = () => ({ IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } });
    const taken = world.take();
    await world.scheduler.pass(3_000);
    expect(world.countOf("allocate")).toBeGreaterThan(5);
    expect(world.countOf("countedTopology")).toBe(0);
    world.topology = { ...world.topology, epoch: 3 };
    world.allocate = () => given("10.0.0.9");
    expect(reasonOf(await world.result(taken))).toBe("10.0.0.9");
  });

  it("full beside an owner that could not be counted: unavailable", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.allocate = (owner) => (owner === "a" ? refused("full") : refused("frozen"));
    world.countedTopology = async () => ({
      ...(await world.coordinator()),
      free: [{ ownerUid: "a", IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } }],
    });
    expect(reasonOf(await world.result(world.take()))).toBe("unavailable");
  });

  it("out of range from an owner without the newest configuration: not final, asked again", async () => {
    const world = new SupplyWorld();
    world.topology = { ...aTopology(2, { a: "10.0.0.0/24" }), owners: [{ uid: "a", epoch: 3 }] };
    world.allocate = () => refused("notAllocatable");
    const taken = world.take("10.0.0.7");
    await world.scheduler.pass(3_000);
    world.topology = { ...world.topology, epoch: 3 };
    world.allocate = (_, { address }) => given(address);
    expect(reasonOf(await world.result(taken))).toBe("10.0.0.7");
  });

  it("out of range: answered only at the Coordinator's epoch, with and without a claim (hazard 18)", async () => {
    const world = new SupplyWorld();
    world.allocate = () => refused("notAllocatable");
    expect(reasonOf(await world.result(world.take("10.9.0.1")))).toBe("outOfRange");
    expect(world.countOf("topology")).toBe(2);
    expect(reasonOf(await world.result(world.take("10.0.0.0")))).toBe("outOfRange");
    expect(world.countOf("topology")).toBe(3);

    world.topology = aTopology(2, { a: "10.0.0.0/24", b: "10.9.0.0/24" });
    world.allocate = (_, { address }) => given(address);
    expect(reasonOf(await world.result(world.take("10.9.0.1")))).toBe("10.9.0.1");
  });

  it("family without a range: noRange", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "fd00::/112" });
    expect(reasonOf(await world.result(world.take()))).toBe("noRange");
  });

  it("taken, said by the owner twice: final; a released token: unavailable", async () => {
    const world = new SupplyWorld();
    world.allocate = () => refused("taken");
    expect(reasonOf(await world.result(world.take("10.0.0.5")))).toBe("taken");
    world.allocate = () => refused("released");
    expect(reasonOf(await world.result(world.take("10.0.0.5")))).toBe("unavailable");
    expect(world.countOf("allocate")).toBe(3);
  });
});

describe("releases that are pending (rule 17)", () => {
  /** A store whose outbox has a row for the address; the owner frees the address when the row gets there. */
  class PendingWorld extends LedgerWorld {
    readonly releases = new PendingReleases(this.ports);
    readonly metrics = new AllocationMetrics();
    readonly supply = new AddressSupply({ ...this.ports, releases: this.releases, metrics: this.metrics });
    isFree = false;

    constructor(address = "10.0.0.5") {
      super();
      this.allocate = (_, item) => (this.isFree ? given("10.0.0.5") : refused(item.address ? "taken" : "full"));
      this.free = () => structuredClone(this.isFree ? SOME_FREE : { IPv4: NONE, IPv6: NONE });
      this.release = () => {
        this.isFree = true;
        return "released";
      };
      const row = this.releases.made({ address, token: "gone", gen: { epoch: 1, counter: 1 } });
      this.storage.transaction(() => this.releases.write([row]));
      this.storage.releaseDefer(row.token, 9, this.scheduler.now + 60_000);
      this.releases.reload();
    }

    async take(address: string): Promise<{ outcome: string; tookMs: number }> {
      const startedAt = this.scheduler.now;
      const wanted = { family: "IPv4", address, holder: aHolder() } as const;
      let tokens = 0;
      const result = await this.scheduler.run(this.supply.take(wanted, startedAt + DEADLINE_MS, () => `token-${++tokens}`));
      return { outcome: reasonOf(result), tookMs: this.scheduler.now - startedAt };
    }
  }

  it.each(["10.0.0.5", ""])("wanted %j: the release is hurried, and the address is given", async (address) => {
    const world = new PendingWorld();
    expect(await world.take(address)).toMatchObject({ outcome: "10.0.0.5" });
    expect(world.countOf("release a")).toBe(1);
    expect(world.metrics.values().map(({ errors }) => errors)).toEqual([{ static: 0, dynamic: 0 }]);
  });

  it.each(["10.0.0.5", ""])("wanted %j, the owner frees nothing: unavailable at the deadline, never full or taken", async (address) => {
    const world = new PendingWorld();
    world.release = () => Promise.reject(new Error("overloaded"));
    const { outcome, tookMs } = await world.take(address);
    expect(outcome).toBe("unavailable");
    expect(tookMs).toBeGreaterThanOrEqual(DEADLINE_MS);
    expect(tookMs).toBeLessThan(DEADLINE_MS + 1_000);
    expect(world.metrics.values()).toEqual([]);
  });

  it.each(["10.0.0.5", ""])("wanted %j, the owner does not answer the release: unavailable at the deadline", async (address) => {
    const world = new PendingWorld();
    world.release = () => new Promise(() => undefined);
    const { outcome, tookMs } = await world.take(address);
    expect([outcome, tookMs < DEADLINE_MS + 1_000]).toEqual(["unavailable", true]);
  });

  it.each(["10.0.0.5", ""])("wanted %j, the release gets there while the owner refuses: asked again", async (address) => {
    const world = new PendingWorld();
    const { allocate } = world;
    world.allocate = async (owner, item) => {
      const answer = await allocate(owner, item);
      await world.releases.hurry({ family: "IPv4", address: "10.0.0.5" });
      return answer;
    };
    expect(await world.take(address)).toMatchObject({ outcome: "10.0.0.5" });
  });

  it('wanted "10.0.0.5", a release of another address: taken at once', async () => {
    const world = new PendingWorld("10.0.0.6");
    expect(await world.take("10.0.0.5")).toEqual({ outcome: "taken", tookMs: 0 });
  });

  /** A world whose release goes through when `meanwhile` is first called. Then a release of another owner waits for its answer. */
  function goingMeanwhile(): { world: PendingWorld; meanwhile: () => Promise<void> } {
    const world = new PendingWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", silent: "10.0.1.0/24" });
    const { release } = world;
    world.release = (owner, item) => (owner === "silent" ? new Promise(() => undefined) : release(owner, item));
    let isFirst = true;
    const meanwhile = async (): Promise<void> => {
      if (!isFirst) return;
      isFirst = false;
      const other = world.releases.made({ address: "10.0.1.5", token: "other", gen: { epoch: 1, counter: 1 } });
      world.storage.transaction(() => world.releases.write([other]));
      void world.releases.send([other]);
      await world.releases.hurry({ family: "IPv4", address: "10.0.0.5" });
    };
    return { world, meanwhile };
  }

  it('wanted "10.0.0.5", released meanwhile and taken by another client: taken, whatever else is under way', async () => {
    const { world, meanwhile } = goingMeanwhile();
    world.allocate = () => meanwhile().then(() => refused("taken"));
    const { outcome, tookMs } = await world.take("10.0.0.5");
    expect(outcome).toBe("taken");
    expect(tookMs).toBeLessThan(1_000);
  });

  it('wanted "", released while owners are counted: given, whatever else is under way', async () => {
    const { world, meanwhile } = goingMeanwhile();
    const { countedTopology } = world;
    world.countedTopology = async () => {
      const counted = await countedTopology();
      await meanwhile();
      return counted;
    };
    const { outcome, tookMs } = await world.take("");
    expect(outcome).toBe("10.0.0.5");
    expect(tookMs).toBeLessThan(1_000);
  });

  it.each([
    { name: "another family", address: "fd00::5" },
    { name: "no range", address: "10.9.0.5" },
  ])('wanted "", a release of an address of $name: full at once', async ({ address }) => {
    const world = new PendingWorld(address);
    expect(await world.take("")).toEqual({ outcome: "full", tookMs: 0 });
  });
});

describe("releases that are pending in the other store (rule 17)", () => {
  /** The owner refuses until the release of the other store has come. */
  class OtherWorld extends SupplyWorld {
    isFree = false;

    constructor() {
      super();
      this.allocate = (_, item) => (this.isFree ? given("10.0.0.5") : refused(item.address ? "taken" : "full"));
      this.free = () => structuredClone(this.isFree ? SOME_FREE : { IPv4: NONE, IPv6: NONE });
      this.isReleasing = () => Promise.resolve(!this.isFree);
    }
  }

  it.each(["10.0.0.5", ""])("wanted %j: the address is given when it has come", async (address) => {
    const world = new OtherWorld();
    const taken = world.take(address);
    await world.scheduler.pass(3_000);
    expect(world.countOf(`isReleasing ${address}`)).toBeGreaterThan(4);
    world.isFree = true;
    expect(reasonOf(await world.result(taken))).toBe("10.0.0.5");
  });

  it.each(["10.0.0.5", ""])("wanted %j, the release comes while the other store is asked: asked again", async (address) => {
    const world = new OtherWorld();
    world.isReleasing = () => {
      world.isFree = true;
      return Promise.resolve(false);
    };
    expect(reasonOf(await world.result(world.take(address)))).toBe("10.0.0.5");
  });

  it.each([
    { name: "the release never comes", isReleasing: () => Promise.resolve(true) },
    { name: "the other store rejects", isReleasing: () => Promise.reject(new Error("no connection")) },
    { name: "the other store is silent", isReleasing: () => new Promise<boolean>(() => undefined) },
  ])("$name: unavailable at the deadline, never full or taken", async ({ isReleasing }) => {
    for (const address of ["10.0.0.5", ""]) {
      const world = new OtherWorld();
      world.isReleasing = isReleasing;
      const startedAt = world.scheduler.now;
      expect(reasonOf(await world.result(world.take(address)))).toBe("unavailable");
      expect(world.scheduler.now - startedAt).toBeGreaterThanOrEqual(DEADLINE_MS);
      expect(world.scheduler.now - startedAt).toBeLessThan(DEADLINE_MS + 1_000);
    }
  });

  it("none: refused after one question", async () => {
    const world = new OtherWorld();
    world.isReleasing = () => Promise.resolve(false);
    expect(reasonOf(await world.result(world.take("10.0.0.5")))).toBe("taken");
    expect(reasonOf(await world.result(world.take()))).toBe("full");
    expect(world.countOf("isReleasing")).toBe(2);
  });

  it("an address that nobody refuses: no question", async () => {
    const world = new OtherWorld();
    world.isFree = true;
    await world.scheduler.run(Promise.all([world.take(), world.take("10.0.0.5")]));
    expect(world.countOf("isReleasing")).toBe(0);
  });
});

describe("row of an object that has its address already", () => {
  it.each([
    { name: "an IPAddress object (rule 15)", kind: "ipaddress", isHeld: false },
    { name: "a Service that lost its row", kind: "service", isHeld: true },
  ] as const)("$name: taken although no range gives out the address", async ({ kind, isHeld }) => {
    const world = new SupplyWorld();
    let seeded = false;
    world.seed = () => {
      seeded = true;
      return Promise.resolve("ok");
    };
    world.allocate = (_, { address }) => (seeded ? given(address) : refused("notAllocatable"));
    expect(reasonOf(await world.result(world.take("10.0.0.0", kind, isHeld)))).toBe("10.0.0.0");
    expect(world.calls).toEqual(["topology", "allocate a", "topology", "seed a 10.0.0.0", "allocate a"]);
    expect(new Set(world.allocated.flatMap(({ items }) => items.map(({ token }) => token))).size).toBe(1);
  });

  it("an owner that has lost the claim: the topology is read again, and the new owner writes the row", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24" });
    world.allocate = (owner, { address }) => (owner === "a" ? refused("notAllocatable") : given(address));
    await world.result(world.take("10.0.0.0", "service"));
    world.topology = aTopology(2, { b: "10.0.0.0/24" });
    expect(reasonOf(await world.result(world.take("10.0.0.0", "ipaddress")))).toBe("10.0.0.0");
    expect(world.calls.slice(-3)).toEqual(["allocate a", "topology", "allocate b"]);
  });
});
