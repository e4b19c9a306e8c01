/** Upstream's assertions about allocators of addresses, run against the pool of one owner and the supply that asks owners. */
import { expect, it } from "vitest";
import { AllocationMetrics } from "../../src/addresses/metrics/allocation-metrics";
import { RangeAllocator } from "../../src/clients/allocator/range-allocator";
import { Pool } from "../../src/addresses/alloc/pool";
import { AddressSupply } from "../../src/addresses/ledger/address-supply";
import { formatAddress, parseAddress } from "../../src/core/net/address";
import type { Family } from "../../src/core/net/family";
import type { AllocateResult } from "../../src/addresses/rpc/service-cidr";
import { prefixOf } from "../model/prefix-of";
import { aHolder } from "../support/worlds/owner-world";
import { seededRandom } from "../support/sim/platform/seeded-random";
import { LedgerWorld, aTopology } from "../support/worlds/ledger-world";
import { upstreamRow } from "./upstream-row";

/** A pool that owns `owned` and gives out addresses of `ranges`. */
function poolOf(owned: string[], ranges = owned): Pool {
  const pool = new Pool(seededRandom(7301));
  pool.configure(owned.map(prefixOf), ranges.map(prefixOf));
  return pool;
}

function at(text: string): [Family, bigint] {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw new Error(text);
  return [parsed.value.family, parsed.value.value];
}

/** Takes dynamic addresses until none is left. */
function drained(pool: Pool, family: Family, most = Infinity): string[] {
  const all: string[] = [];
  while (all.length < most) {
    const pick = pool.allocateDynamic(family);
    if (pick === undefined) break;
    all.push(formatAddress(family, pick.address));
  }
  return all;
}

function freeIn(pool: Pool, family: Family): number {
  const { dynamic, static: low } = pool.free(family);
  return dynamic + low;
}

upstreamRow("TestAllocateIPAllocator", () => {
  it.each([
    { cidr: "192.168.1.0/24", free: 254, refused: ["192.168.1.0", "192.168.1.255"], released: "192.168.1.5", usable: "192.168.1.254" },
    { cidr: "2001:db8:1::/116", free: 4095, refused: ["2001:db8:1::"], released: "2001:db8:1::5", usable: "2001:db8:1::fff" },
  ])("$cidr: $free addresses, each once, then full", ({ cidr, free, refused, released, usable }) => {
    const pool = poolOf([cidr]);
    const { family } = prefixOf(cidr);
    expect(freeIn(pool, family)).toBe(free);
    for (const address of refused) expect([address, pool.isAllocatable(...at(address))]).toEqual([address, false]);
    expect(pool.isAllocatable(...at(usable))).toBe(true);
    const all = drained(pool, family);
    expect([all.length, new Set(all).size, freeIn(pool, family)]).toEqual([free, free, 0]);
    expect(pool.allocateDynamic(family)).toBeUndefined();
    pool.release(...at(released));
    expect(freeIn(pool, family)).toBe(1);
    expect(drained(pool, family)).toEqual([released]);
  });
});

upstreamRow("TestAllocateTiny/Small/Reserved", () => {
  it("tiny: a /32 gives nothing", () => {
    const pool = poolOf(["192.168.1.0/32"]);
    expect([freeIn(pool, "IPv4"), pool.allocateDynamic("IPv4")]).toEqual([0, undefined]);
  });

  it("small: a /30 gives two, then a hundred more attempts fail", () => {
    const pool = poolOf(["192.168.1.240/30"]);
    expect(drained(pool, "IPv4").sort()).toEqual(["192.168.1.241", "192.168.1.242"]);
    for (let i = 0; i < 100; i++) expect(pool.allocateDynamic("IPv4")).toBeUndefined();
  });

  it("reserved: a /25 gives .17 to .126 first, and the 16 addresses of the static band last", () => {
    const pool = poolOf(["192.168.1.0/25"]);
    const low = (text: string) => Number(text.split(".")[3]) <= 16;
    expect(drained(pool, "IPv4", 110).filter(low)).toEqual([]);
    expect([pool.free("IPv4"), pool.isAllocatable(...at("192.168.1.1"))]).toEqual([{ dynamic: 0, static: 16 }, true]);
    expect(pool.take(...at("192.168.1.3"))).toBe(true);
    const rest = drained(pool, "IPv4");
    expect([rest.length, rest.every(low), rest.includes("192.168.1.3")]).toEqual([15, true, false]);
  });
});

upstreamRow("TestIPAllocatorClusterIPMetrics", () => {
  it.each([
    { cidr: "192.168.1.0/24", usable: 254 },
    { cidr: "2001:db8::/112", usable: 65535 },
  ])("$cidr: two taken and asked for again, released, then 264 more", ({ cidr, usable }) => {
    const made = RangeAllocator.of(cidr, { random: seededRandom(7302), clock: { now: () => 0 } });
    if (!made.ok) throw new Error(cidr);
    const allocator = made.value;
    const metrics = new AllocationMetrics();
    allocator.enableMetrics(metrics);
    const counts = (): number[] => {
      const total = (of: "total" | "errors") => metrics.values().reduce((sum, each) => sum + each[of].static + each[of].dynamic, 0);
      return [...allocator.usage().flatMap(({ allocated, available }) => [allocated, available]), total("total"), total("errors")];
    };
    const two = [allocator.allocateNext(), allocator.allocateNext()].map((next) => (next.ok ? next.value.address : ""));
    expect(counts()).toEqual([2, usable - 2, 2, 0]);
    for (const address of two) expect(allocator.allocate(address).ok).toBe(false);
    expect(counts()).toEqual([2, usable - 2, 2, 2]);
    for (const address of two) allocator.release(address);
    expect(counts()).toEqual([0, usable, 2, 2]);
    for (let i = 0; i < 264; i++) allocator.allocateNext();
    const given = Math.min(264, usable);
    expect(counts()).toEqual([given, usable - given, 2 + given, 2 + 264 - given]);
  });
});

upstreamRow("TestCIDRAllocateMultiple/Shadow/Grow/Shrink", () => {
  it("multiple: a second /28 adds its 14 addresses", () => {
    expect(freeIn(poolOf(["192.168.0.0/28"]), "IPv4")).toBe(14);
    const pool = poolOf(["192.168.0.0/28", "10.0.0.0/28"]);
    expect([freeIn(pool, "IPv4"), new Set(drained(pool, "IPv4")).size]).toEqual([28, 28]);
  });

  it("shadow: only the outer range gives out the network address of an inner range", () => {
    const pool = poolOf(["192.168.0.0/24"], ["192.168.1.0/24"]);
    pool.configure(["192.168.0.0/23"].map(prefixOf), ["192.168.1.0/24"].map(prefixOf));
    expect(pool.isAllocatable(...at("192.168.1.0"))).toBe(false);
    pool.configure(["192.168.0.0/23"].map(prefixOf), ["192.168.1.0/24", "192.168.0.0/23"].map(prefixOf));
    expect(pool.isAllocatable(...at("192.168.1.0"))).toBe(true);
  });

  it("grow and shrink: a /28 inside a /24 has 254 addresses, and 14 again without the /24", () => {
    const pool = poolOf(["192.168.0.0/24"], ["192.168.0.0/28"]);
    expect(freeIn(pool, "IPv4")).toBe(14);
    pool.configure(["192.168.0.0/24"].map(prefixOf), ["192.168.0.0/28", "192.168.0.0/24"].map(prefixOf));
    expect(freeIn(pool, "IPv4")).toBe(254);
    const all = drained(pool, "IPv4");
    expect([all.length, new Set(all).size]).toEqual([254, 254]);
    for (const address of all) pool.release(...at(address));
    pool.configure(["192.168.0.0/24"].map(prefixOf), ["192.168.0.0/28"].map(prefixOf));
    expect([freeIn(pool, "IPv4"), drained(pool, "IPv4").length]).toEqual([14, 14]);
  });
});

upstreamRow("TestUsedWithCIDRFiltering, TestUsedWithInvalidIPs, TestFreeWithOverflowProtection", () => {
  it("used: addresses outside the range and network addresses do not count", () => {
    const pool = poolOf(["10.0.0.0/24", "10.0.1.0/24"], ["10.0.0.0/24"]);
    for (const address of ["10.0.0.0", "10.0.0.7", "10.0.1.7"]) expect(pool.take(...at(address))).toBe(true);
    expect([pool.takenCount(), freeIn(pool, "IPv4")]).toEqual([3, 253]);
  });

  it("free: of a /64 without overflow, of a full range 0", () => {
    const large = poolOf(["2001:db8::/64"]);
    drained(large, "IPv6", 100);
    const { dynamic } = large.free("IPv6");
    expect([Number.isFinite(dynamic), dynamic >= Number.MAX_SAFE_INTEGER]).toEqual([true, true]);
    const full = poolOf(["10.0.0.0/29"]);
    for (let i = 0; i < 8; i++) full.take("IPv4", at("10.0.0.0")[1] + BigInt(i));
    expect(full.free("IPv4")).toEqual({ dynamic: 0, static: 0 });
  });
});

upstreamRow("TestAllocateNextStopOnError / _Collision; TestCIDRAllocateNextStopOnError / DontStopOnNot", () => {
  const ranges = { a: "10.0.0.0/24", b: "10.0.1.0/24" };
  const refused = (reason: "full" | "taken" | "notAllocatable"): AllocateResult => ({ ok: false, reason });
  const given = (address: string): AllocateResult => ({ ok: true, address, gen: { epoch: 1, counter: 1 }, scope: "dynamic" });
  async function take(world: LedgerWorld, address = ""): Promise<string> {
    const supply = new AddressSupply(world.supplyPorts);
    const deadline = world.scheduler.now + 20_000;
    const result = await world.scheduler.run(supply.take({ family: "IPv4", address, holder: aHolder() }, deadline, () => "token"));
    return result.ok ? result.taken.address : result.reason;
  }

  it("a range that is full or closed: 200 of 200 addresses come from the other", async () => {
    for (let i = 0; i < 200; i++) {
      const world = new LedgerWorld();
      world.topology = aTopology(1, ranges);
      world.allocate = (owner) => (owner === "a" ? refused("full") : given(`10.0.1.${String(i)}`));
      expect(await take(world)).toBe(`10.0.1.${String(i)}`);
    }
  });

  it("a requested address that is taken: no other owner is asked", async () => {
    const world = new LedgerWorld();
    world.topology = aTopology(1, ranges);
    world.allocate = () => refused("taken");
    expect(await take(world, "10.0.0.9")).toBe("taken");
    expect(world.calls.filter((call) => call !== "topology")).toEqual(["allocate a", "isReleasing 10.0.0.9", "allocate a"]);
  });
});
