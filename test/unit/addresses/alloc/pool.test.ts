import { describe, expect, it } from "vitest";
import { Pool } from "../../../../src/addresses/alloc/pool";
import { formatAddress, parseAddress } from "../../../../src/core/net/address";
import type { Family } from "../../../../src/core/net/family";
import { prefixOf } from "../../../model/prefix-of";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

function poolOf({ owned, ranges = owned, seed = 4801 }: { owned: string[]; ranges?: string[]; seed?: number }): Pool {
  const pool = new Pool(seededRandom(seed));
  pool.configure(owned.map(prefixOf), ranges.map(prefixOf));
  return pool;
}

function at(text: string): [Family, bigint] {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw new Error(text);
  return [parsed.value.family, parsed.value.value];
}

/** Allocates until full. */
function drain(pool: Pool, family: Family): { address: string; band: string }[] {
  const picks: { address: string; band: string }[] = [];
  for (let pick = pool.allocateDynamic(family); pick !== undefined; pick = pool.allocateDynamic(family)) {
    picks.push({ address: formatAddress(family, pick.address), band: pick.band });
  }
  return picks;
}

describe("allocateDynamic", () => {
  // upstream: TestAllocateIPAllocator, TestAllocateTiny, TestAllocateSmall, TestAllocateReserved, and the examples of KEP-3070
  it.each([
    { cidr: "10.0.0.5/32", static: 0, dynamic: 0 },
    { cidr: "10.0.0.4/31", static: 0, dynamic: 0 },
    { cidr: "10.0.0.0/30", static: 0, dynamic: 2 },
    { cidr: "10.0.0.0/29", static: 0, dynamic: 6 },
    { cidr: "10.0.0.0/28", static: 0, dynamic: 14 },
    { cidr: "10.0.0.0/26", static: 16, dynamic: 46 },
    { cidr: "10.0.0.0/25", static: 16, dynamic: 110 },
    { cidr: "192.168.1.0/24", static: 16, dynamic: 238 },
    { cidr: "10.0.0.0/22", static: 64, dynamic: 958 },
    { cidr: "10.1.0.0/16", static: 256, dynamic: 65278 },
    { cidr: "fd00::5/128", static: 0, dynamic: 0 },
    { cidr: "fd00::4/127", static: 0, dynamic: 1 },
    { cidr: "fd00::/124", static: 0, dynamic: 15 },
    { cidr: "fd00::/122", static: 16, dynamic: 47 },
    { cidr: "2001:db8:1::/116", static: 256, dynamic: 3839 },
  ])("$cidr: $dynamic dynamic, then $static static, then full", (row) => {
    const pool = poolOf({ owned: [row.cidr] });
    const { family, base } = prefixOf(row.cidr);
    expect(pool.free(family)).toEqual({ dynamic: row.dynamic, static: row.static });
    const seen = new Set<bigint>();
    for (let i = 0; i < row.dynamic + row.static; i++) {
      const pick = pool.allocateDynamic(family);
      if (pick === undefined) throw new Error(`full after ${i}`);
      const inStaticBand = pick.address - base - 1n < BigInt(row.static);
      if (inStaticBand !== i >= row.dynamic || (pick.band === "static") !== inStaticBand) throw new Error(`pick ${i} has the wrong band`);
      if (!pool.isAllocatable(family, pick.address) || pool.bandOf(family, pick.address) !== pick.band)
        throw new Error(`pick ${i} is not allocatable`);
      seen.add(pick.address);
    }
    expect(seen.size).toBe(row.dynamic + row.static);
    for (let i = 0; i < 100; i++) expect(pool.allocateDynamic(family)).toBeUndefined();
    expect(pool.free(family)).toEqual({ dynamic: 0, static: 0 });
    expect(pool.takenCount()).toBe(seen.size);
    pool.verify();
    const last = [...seen].at(-1);
    if (last === undefined) return;
    // Exactly the released addresses come back.
    expect(pool.release(family, last)).toBe(true);
    expect(pool.allocateDynamic(family)?.address).toBe(last);
  });

  it("freed dynamic address: used before the rest of the static band", () => {
    const pool = poolOf({ owned: ["10.0.0.0/26"] });
    for (let i = 0; i < 50; i++) pool.allocateDynamic("IPv4");
    pool.release(...at("10.0.0.40"));
    expect(pool.allocateDynamic("IPv4")).toEqual({ address: at("10.0.0.40")[1], band: "dynamic" });
    expect(pool.allocateDynamic("IPv4")?.band).toBe("static");
  });

  it("static band of one range: used after the dynamic band of every other", () => {
    const pool = poolOf({ owned: ["10.0.0.0/27", "10.9.0.0/27"] });
    const bands = drain(pool, "IPv4").map(({ band }) => band);
    expect(bands).toEqual([...Array<string>(28).fill("dynamic"), ...Array<string>(32).fill("static")]);
  });

  it("nothing owned, or the other family: full", () => {
    expect(new Pool(seededRandom(1)).allocateDynamic("IPv4")).toBeUndefined();
    expect(poolOf({ owned: ["10.0.0.0/24"] }).allocateDynamic("IPv6")).toBeUndefined();
  });

  it("two families in one pool: independent", () => {
    const pool = poolOf({ owned: ["0.0.0.0/28", "::/112"], ranges: ["0.0.0.0/28", "::/112"] });
    expect(drain(pool, "IPv4").length).toBe(14);
    expect(pool.free("IPv6")).toEqual({ dynamic: 65279, static: 256 });
    expect([...pool.taken("IPv6")]).toEqual([]);
  });

  it("IPv6 /64: the free count is the nearest number, and the all-ones address can be taken", () => {
    const pool = poolOf({ owned: ["2001:db8::/64"] });
    expect(pool.free("IPv6")).toEqual({ dynamic: 2 ** 64 - 257, static: 256 });
    expect(pool.take(...at("2001:db8::ffff:ffff:ffff:ffff"))).toBe(true);
    expect(pool.isAllocatable(...at("2001:db8::ffff:ffff:ffff:ffff"))).toBe(true);
    expect(pool.isAllocatable(...at("2001:db8::"))).toBe(false);
    expect(pool.allocateDynamic("IPv6")?.band).toBe("dynamic");
  });
});

describe("take and release", () => {
  it("take and release: answer whether something changed; only allocatable addresses count as free", () => {
    const pool = poolOf({ owned: ["10.0.0.0/24"] });
    expect([pool.take(...at("10.0.0.1")), pool.take(...at("10.0.0.1"))]).toEqual([true, false]);
    expect(pool.free("IPv4")).toEqual({ dynamic: 238, static: 15 });
    // The network address is owned and may be held by an IPAddress that was there first.
    expect(pool.isAllocatable(...at("10.0.0.0"))).toBe(false);
    expect(pool.take(...at("10.0.0.0"))).toBe(true);
    expect(pool.free("IPv4")).toEqual({ dynamic: 238, static: 15 });
    expect(pool.takenCount()).toBe(2);
    expect([pool.release(...at("10.0.0.1")), pool.release(...at("10.0.0.1"))]).toEqual([true, false]);
    expect([pool.isTaken(...at("10.0.0.0")), pool.isTaken(...at("10.0.0.1"))]).toEqual([true, false]);
    expect(pool.free("IPv4")).toEqual({ dynamic: 238, static: 16 });
  });

  it("address that is not owned: changes fail an assertion, questions answer no", () => {
    const pool = poolOf({ owned: ["10.0.0.0/24"] });
    expect(() => pool.take(...at("10.0.1.0"))).toThrow("not owned");
    expect(() => pool.release(...at("9.255.255.255"))).toThrow("not owned");
    expect(() => pool.take(...at("::1"))).toThrow("not owned");
    expect(pool.isOwned(...at("10.0.1.0"))).toBe(false);
    expect(pool.isAllocatable(...at("10.0.1.0"))).toBe(false);
    expect(pool.isTaken(...at("10.0.1.0"))).toBe(false);
  });

  it("takenIn: counts inside the interval, over several segments with gaps", () => {
    const pool = poolOf({ owned: ["10.0.0.0/30", "10.0.0.8/30"] });
    for (const address of ["10.0.0.1", "10.0.0.3", "10.0.0.8", "10.0.0.9"]) pool.take(...at(address));
    const count = (first: string, last: string) => pool.takenIn("IPv4", at(first)[1], at(last)[1]);
    expect(count("0.0.0.0", "255.255.255.255")).toBe(4);
    expect(count("10.0.0.2", "10.0.0.8")).toBe(2);
    expect(count("10.0.0.4", "10.0.0.7")).toBe(0);
    expect(count("10.0.0.9", "10.0.0.9")).toBe(1);
    expect(pool.takenIn("IPv6", 0n, 2n ** 128n - 1n)).toBe(0);
    expect([...pool.taken()].map(({ family, address }) => formatAddress(family, address))).toEqual([
      "10.0.0.1",
      "10.0.0.3",
      "10.0.0.8",
      "10.0.0.9",
    ]);
  });
});

describe("overlapping ranges over one owned segment", () => {
  it("network and broadcast address of an inner range: usable through the outer one only", () => {
    const inner = ["10.0.0.16", "10.0.0.31"];
    const allocatable = (ranges: string[]) =>
      inner.map((address) => poolOf({ owned: ["10.0.0.0/24"], ranges }).isAllocatable(...at(address)));
    expect(allocatable(["10.0.0.16/28"])).toEqual([false, false]);
    expect(allocatable(["10.0.0.16/28", "10.0.0.0/24"])).toEqual([true, true]);
    expect(allocatable(["10.0.0.16/28", "10.0.0.16/29"])).toEqual([false, false]);
  });

  // upstream: TestCIDRAllocateShadow, Grow, Shrink
  it("/28 inside a /24: no address counts twice; without the /24 there are 14", () => {
    const pool = poolOf({ owned: ["10.0.0.0/24"], ranges: ["10.0.0.0/28"] });
    const sum = () => pool.free("IPv4").dynamic + pool.free("IPv4").static;
    expect(sum()).toBe(14);
    pool.configure([prefixOf("10.0.0.0/24")], ["10.0.0.0/28", "10.0.0.0/24"].map(prefixOf));
    expect(sum()).toBe(254);
    pool.configure([prefixOf("10.0.0.0/24")], [prefixOf("10.0.0.0/28")]);
    expect(sum()).toBe(14);
  });

  it.each([
    // in the static band of the inner range, in the dynamic band of the outer one
    ["10.0.4.1", "static"],
    ["10.0.4.16", "static"],
    ["10.0.4.17", "dynamic"],
    // the inner network address: usable in the outer range only, and there dynamic
    ["10.0.4.0", "dynamic"],
    // in the static band of the outer range
    ["10.0.1.0", "static"],
    ["10.0.1.1", "dynamic"],
  ] as const)("%s, %s: any range that contains the address decides", (address, band) => {
    const pool = poolOf({ owned: ["10.0.0.0/16"], ranges: ["10.0.0.0/16", "10.0.4.0/24"] });
    expect(pool.bandOf(...at(address))).toBe(band);
  });

  it("band of a larger range: decides in a smaller segment, too", () => {
    // Only the /24 is owned; the Ready /16 around it has its static band up to 10.0.1.0.
    const pool = poolOf({ owned: ["10.0.0.0/24"], ranges: ["10.0.0.0/16"] });
    expect(pool.free("IPv4")).toEqual({ dynamic: 0, static: 255 });
    expect(pool.isAllocatable(...at("10.0.0.255"))).toBe(true);
    expect(pool.isAllocatable(...at("10.0.0.0"))).toBe(false);
    expect(pool.allocateDynamic("IPv4")?.band).toBe("static");
  });

  it("owned without a Ready range: gives out nothing, and taken addresses stay", () => {
    const pool = poolOf({ owned: ["10.0.0.0/24"] });
    pool.take(...at("10.0.0.7"));
    pool.configure([prefixOf("10.0.0.0/24")], []);
    expect(pool.free("IPv4")).toEqual({ dynamic: 0, static: 0 });
    expect(pool.allocateDynamic("IPv4")).toBeUndefined();
    expect(pool.isTaken(...at("10.0.0.7"))).toBe(true);
    expect(pool.release(...at("10.0.0.7"))).toBe(true);
  });

  it("owned /48: gives out the whole /48 while it is a range, then the inner /64 that alone is one", () => {
    const pool = poolOf({ owned: ["fd00::/48"], ranges: ["fd00::/48", "fd00:0:0:5::/64"] });
    expect(pool.isAllocatable(...at("fd00:0:0:5::1"))).toBe(true);
    expect(pool.isAllocatable(...at("fd00:0:0:6::1"))).toBe(true);
    expect(pool.bandOf(...at("fd00:0:0:5::1"))).toBe("static");
    pool.configure([prefixOf("fd00::/48")], [prefixOf("fd00:0:0:5::/64")]);
    expect(pool.isAllocatable(...at("fd00:0:0:6::1"))).toBe(false);
    const pick = pool.allocateDynamic("IPv6");
    expect(pick !== undefined && pick.address >> 64n === 0xfd00_0000_0000_0005n).toBe(true);
  });
});

describe("pages", () => {
  it("pool made from stored pages: equals the pool that wrote them", () => {
    const owned = ["10.0.0.0/20", "10.1.0.0/30", "fd00::/64"];
    const pool = poolOf({ owned });
    const rows = new Map<string, Uint8Array>();
    const save = () => {
      for (const { segment, page, bytes } of pool.takeDirtyPages()) {
        if (bytes === null) rows.delete(`${segment} ${page}`);
        else rows.set(`${segment} ${page}`, bytes);
      }
    };
    for (let i = 0; i < 3000; i++) {
      pool.allocateDynamic("IPv4");
      if (i % 10 === 0) pool.allocateDynamic("IPv6");
      if (i % 500 === 0) save();
    }
    for (const { family, address } of [...pool.taken()].filter((_, i) => i % 3 === 0)) pool.release(family, address);
    save();
    expect(pool.takeDirtyPages()).toEqual([]);
    const copy = poolOf({ owned });
    for (const [key, bytes] of rows) {
      const [segment = "", page = ""] = key.split(" ");
      copy.loadPage(segment, page, bytes);
    }
    expect([...copy.taken()]).toEqual([...pool.taken()]);
    expect([copy.free("IPv4"), copy.free("IPv6"), copy.takenCount()]).toEqual([pool.free("IPv4"), pool.free("IPv6"), pool.takenCount()]);
    expect(copy.takeDirtyPages()).toEqual([]);
    copy.verify();
  });

  it("dirty pages: name segment and page, and have null for a page that became all free", () => {
    const pool = poolOf({ owned: ["10.0.0.0/16", "fd00::/64"] });
    pool.take(...at("10.0.16.0"));
    pool.take(...at("fd00::1:0:0:1"));
    expect(pool.takeDirtyPages().map(({ segment, page, bytes }) => [segment, page, bytes?.length])).toEqual([
      ["10.0.0.0/16", "1", 10],
      ["fd00::/64", String(2n ** 48n / 4096n), 10],
    ]);
    pool.release(...at("10.0.16.0"));
    expect(pool.takeDirtyPages()).toEqual([{ segment: "10.0.0.0/16", page: "1", bytes: null }]);
  });

  it("damaged page, or page of a segment that is not owned: fails an assertion", () => {
    const pool = poolOf({ owned: ["10.0.0.0/24"] });
    expect(() => pool.loadPage("10.0.0.0/24", "0", new Uint8Array(8))).toThrow("page 0 of 10.0.0.0/24 is damaged: version");
    pool.take(...at("10.0.0.1"));
    const bytes = pool.takeDirtyPages()[0]?.bytes ?? new Uint8Array();
    expect(() => pool.loadPage("10.0.1.0/24", "0", bytes)).toThrow("10.0.1.0/24 is not owned");
  });
});

describe("configure: segments that change", () => {
  it("segment that stays: keeps its taken addresses, and is not written again", () => {
    const pool = poolOf({ owned: ["10.0.0.0/24"] });
    pool.take(...at("10.0.0.9"));
    pool.takeDirtyPages();
    pool.configure(["10.0.0.0/24", "10.0.9.0/24"].map(prefixOf), ["10.0.0.0/16"].map(prefixOf));
    expect(pool.isTaken(...at("10.0.0.9"))).toBe(true);
    expect(pool.takeDirtyPages()).toEqual([]);
  });

  it("segment that is given away: its addresses are gone, and its pages come out as null", () => {
    const pool = poolOf({ owned: ["10.0.0.0/24", "10.0.9.0/24"] });
    pool.take(...at("10.0.0.9"));
    pool.take(...at("10.0.9.9"));
    pool.takeDirtyPages();
    pool.configure([prefixOf("10.0.9.0/24")], [prefixOf("10.0.0.0/16")]);
    expect([...pool.taken()].map(({ family, address }) => formatAddress(family, address))).toEqual(["10.0.9.9"]);
    expect(pool.takeDirtyPages()).toEqual([{ segment: "10.0.0.0/24", page: "0", bytes: null }]);
  });

  it("segment that is cut: addresses that stay owned stay taken, in pages of the parts", () => {
    const pool = poolOf({ owned: ["10.0.0.0/24"] });
    for (const address of ["10.0.0.9", "10.0.0.200", "10.0.0.255"]) pool.take(...at(address));
    pool.takeDirtyPages();
    pool.configure(["10.0.0.0/26", "10.0.0.192/26"].map(prefixOf), [prefixOf("10.0.0.0/24")]);
    expect([...pool.taken()].map(({ family, address }) => formatAddress(family, address))).toEqual([
      "10.0.0.9",
      "10.0.0.200",
      "10.0.0.255",
    ]);
    expect(pool.takeDirtyPages().map(({ segment, page, bytes }) => [segment, page, bytes === null])).toEqual([
      ["10.0.0.0/24", "0", true],
      ["10.0.0.0/26", "0", false],
      ["10.0.0.192/26", "0", false],
    ]);
    pool.verify();
  });

  it("overlapping owned segments: fail an assertion", () => {
    expect(() => poolOf({ owned: ["10.0.0.0/24", "10.0.0.128/25"] })).toThrow("overlap");
  });
});
