import { describe, expect, it } from "vitest";
import { AddressSupply, type SupplyResult } from "../../../src/clusterip/address-supply";
import type { AllocateResult } from "../../../src/rpc/service-cidr";
import { aHolder } from "../../support/owner-world";
import { aTopology, LedgerWorld, SOME_FREE } from "../../support/sim-ledger-world";

const DEADLINE_MS = 20_000;

class SupplyWorld extends LedgerWorld {
  readonly supply = new AddressSupply(this.ports);
  #tokens = 0;

  take(address = "", kind: "service" | "ipaddress" = "service"): Promise<SupplyResult> {
    const family = address.includes(":") ? "IPv6" : "IPv4";
    const wanted = { family, address, holder: aHolder({ kind }) } as const;
    return this.supply.take(wanted, this.scheduler.now + DEADLINE_MS, () => `token-${++this.#tokens}`);
  }

  result(promise: Promise<SupplyResult>): Promise<SupplyResult> {
    return this.scheduler.run(promise);
  }
}

let counter = 0;
const given = (address: string): AllocateResult => ({ ok: true, address, gen: { epoch: 1, counter: ++counter }, scope: "dynamic" });
const refused = (reason: "full" | "taken" | "stale" | "frozen" | "notAllocatable" | "released"): AllocateResult => ({ ok: false, reason });
const reasonOf = (result: SupplyResult): string => (result.ok ? result.taken.address : result.reason);

describe("grouping", () => {
  it("asks one owner once for all that one turn takes", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24", c: "10.0.2.0/24" });
    world.allocate = (_, { token }) => given(`10.0.0.${token.slice(6)}`);
    const results = await world.scheduler.run(Promise.all(Array.from({ length: 50 }, () => world.take())));
    expect(new Set(results.map(reasonOf)).size).toBe(50);
    expect(world.calls.filter((call) => call !== "topology")).toHaveLength(1);
    expect(world.countOf("topology")).toBe(1);
  });

  it("draws again in the next turn", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.allocate = () => given("10.0.0.9");
    for (let i = 0; i < 40; i++) {
      await world.result(world.take());
      await world.scheduler.pass(1);
    }
    expect(new Set(world.calls)).toEqual(new Set(["topology", "allocate a", "allocate b"]));
  });

  it("sends a static request to the owner of its address, in the same call as others for it", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.allocate = (_, { address }) => given(address);
    await world.scheduler.run(Promise.all(["10.0.1.5", "10.0.0.5", "10.0.1.6"].map((address) => world.take(address))));
    expect(world.allocated.map(({ owner, items }) => [owner, items.map(({ address }) => address)]).sort()).toEqual([
      ["a", ["10.0.0.5"]],
      ["b", ["10.0.1.5", "10.0.1.6"]],
    ]);
  });

  it("lets what comes while two calls are under way go out together", async () => {
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

describe("answers that say nothing final", () => {
  it("stale: reads the topology again and asks the owner it names", async () => {
    const world = new SupplyWorld();
    world.allocate = (owner) => {
      world.topology = aTopology(2, { b: "10.0.0.0/24" });
      return owner === "a" ? refused("stale") : given("10.0.0.5");
    };
    expect(reasonOf(await world.result(world.take("10.0.0.5")))).toBe("10.0.0.5");
    expect(world.calls).toEqual(["topology", "allocate a", "topology", "allocate b"]);
  });

  it.each(["frozen", "unknown"] as const)("%s: the same token at the same owner until the deadline, then unavailable", async (kind) => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24" });
    world.allocate = () => (kind === "frozen" ? refused("frozen") : Promise.reject(new Error("connection lost")));
    const start = world.scheduler.now;
    expect(await world.result(world.take())).toEqual({ ok: false, reason: "unavailable" });
    expect(world.scheduler.now - start).toBeGreaterThanOrEqual(DEADLINE_MS);
    expect(world.scheduler.now - start).toBeLessThan(DEADLINE_MS + 1_000);
    expect(world.allocated.length).toBeGreaterThan(20);
    expect(new Set(world.allocated.flatMap(({ items }) => items.map(({ token }) => token)))).toEqual(new Set(["token-1"]));
  });

  it("unknown: no other owner is asked with the token, also not when the segment freezes meanwhile", async () => {
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

  it("no answer at all: asks again after the timeout", async () => {
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
  it("full: the next owner is asked, and full is answered only when none is left at the Coordinator's epoch", async () => {
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

  it("full: a range that the cached topology lacks is found", async () => {
    const world = new SupplyWorld();
    world.allocate = (owner) => (owner === "b" ? given("10.0.1.7") : refused("full"));
    await world.result(world.take());
    world.topology = aTopology(2, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    expect(reasonOf(await world.result(world.take()))).toBe("10.0.1.7");
  });

  it("full: what an owner said at an earlier epoch does not count at the next", async () => {
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

  it("full: an owner without the newest configuration says nothing final", async () => {
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

  it("full: an owner whose free addresses the Coordinator could not count keeps the question open", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.allocate = (owner) => (owner === "a" ? refused("full") : refused("frozen"));
    world.countedTopology = async () => ({
      ...(await world.coordinator()),
      free: [{ ownerUid: "a", IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } }],
    });
    expect(reasonOf(await world.result(world.take()))).toBe("unavailable");
  });

  it("out of range: an owner without the newest configuration says nothing final", async () => {
    const world = new SupplyWorld();
    world.topology = { ...aTopology(2, { a: "10.0.0.0/24" }), owners: [{ uid: "a", epoch: 3 }] };
    world.allocate = () => refused("notAllocatable");
    const taken = world.take("10.0.0.7");
    await world.scheduler.pass(3_000);
    world.topology = { ...world.topology, epoch: 3 };
    world.allocate = (_, { address }) => given(address);
    expect(reasonOf(await world.result(taken))).toBe("10.0.0.7");
  });

  it("out of range: only at the Coordinator's epoch, for addresses in no claim and for those that no range gives out", async () => {
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

  it("no range of the family", async () => {
    const world = new SupplyWorld();
    world.topology = aTopology(1, { a: "fd00::/112" });
    expect(reasonOf(await world.result(world.take()))).toBe("noRange");
  });

  it("taken is final at once; a released token is given up", async () => {
    const world = new SupplyWorld();
    world.allocate = () => refused("taken");
    expect(reasonOf(await world.result(world.take("10.0.0.5")))).toBe("taken");
    world.allocate = () => refused("released");
    expect(reasonOf(await world.result(world.take("10.0.0.5")))).toBe("unavailable");
    expect(world.countOf("allocate")).toBe(2);
  });
});

describe("rows of IPAddress objects (rule 15)", () => {
  it("are taken where no range gives out the address yet", async () => {
    const world = new SupplyWorld();
    let seeded = false;
    world.seed = () => {
      seeded = true;
      return Promise.resolve("ok");
    };
    world.allocate = (_, { address }) => (seeded ? given(address) : refused("notAllocatable"));
    expect(reasonOf(await world.result(world.take("10.0.0.0", "ipaddress")))).toBe("10.0.0.0");
    expect(world.calls).toEqual(["topology", "allocate a", "seed a 10.0.0.0", "allocate a"]);
    expect(new Set(world.allocated.flatMap(({ items }) => items.map(({ token }) => token))).size).toBe(1);
  });
});
