/** Zones: ranges of an owner that are kept for the Services of some namespaces. */
import { describe, expect, it } from "vitest";
import { Pool } from "../../../../src/addresses/alloc/pool";
import { ANY_ZONE } from "../../../../src/addresses/rpc/service-cidr";
import { bandsOf } from "../../../../src/core/net/band";
import { memberAt } from "../../../../src/core/net/interval";
import { containsAddress, formatPrefix, lastOf, parsePrefix, type Prefix } from "../../../../src/core/net/prefix";
import { aConfig, aHolder, OwnerWorld } from "../../../support/worlds/owner-world";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const ALL = "10.0.0.0/24";
const ZONE = "10.0.0.64/28";
const STALE = { ok: false, reason: "stale" };

async function zoned(): Promise<OwnerWorld> {
  const world = new OwnerWorld();
  await world.owner.configure(aConfig(1, [ALL], { ranges: [ALL, ZONE], zones: [ZONE], zoned: true }));
  return world;
}

describe("an owner with a zone", () => {
  it.each([
    ["a dynamic request for the zone", "", ZONE, "zone"],
    ["a dynamic request for what no zone has", "", "", "open"],
    ["a dynamic request that is not judged", "", ANY_ZONE, "open"],
    ["a dynamic request for a zone that is none here", "", "10.0.0.0/28", "stale"],
    ["a dynamic request of a store that knows of no zones", "", undefined, "stale"],
    ["a named address in the zone, for the zone", "10.0.0.70", ZONE, "zone"],
    ["a named address in the zone, for none", "10.0.0.70", "", "stale"],
    ["a named address in the zone, not judged", "10.0.0.70", ANY_ZONE, "zone"],
    ["a named address outside, for the zone", "10.0.0.99", ZONE, "stale"],
    ["a named address outside, for none", "10.0.0.99", "", "open"],
    ["a named address of a store that knows of no zones", "10.0.0.99", undefined, "stale"],
  ])("%s", async (_, address, zone, want) => {
    const world = await zoned();
    const result = await world.allocate(address, zone === undefined ? {} : { zone });
    if (want === "stale") return expect(result).toEqual(STALE);
    const last = result.ok ? Number(result.address.split(".")[3]) : -1;
    expect(last >= 64 && last < 80 ? "zone" : last < 0 ? "refused" : "open").toBe(want);
  });

  it("an IPAddress of a client: takes any address, as before", async () => {
    const world = await zoned();
    expect(await world.allocate("10.0.0.70", { holder: aHolder({ kind: "ipaddress" }) })).toMatchObject({ ok: true });
  });

  it("a zone and what is outside: each is full by itself, and the free counts are of what no zone has", async () => {
    const world = await zoned();
    for (let i = 0; i < 16; i++) expect(await world.allocate("", { zone: ZONE })).toMatchObject({ ok: true });
    expect(await world.allocate("", { zone: ZONE })).toEqual({ ok: false, reason: "full" });
    const { free } = await world.owner.allocate([world.item("", { zone: "" })]);
    expect(free.IPv4.dynamic + free.IPv4.static).toBe(254 - 16 - 1);
    world.restart();
    expect(await world.allocate("", { zone: ZONE })).toEqual({ ok: false, reason: "full" });
  });

  it("a zone that comes and goes: what is taken stays taken", async () => {
    const world = new OwnerWorld();
    await world.owner.configure(aConfig(1, [ALL]));
    const taken = await world.allocate("10.0.0.70");
    await world.owner.configure(aConfig(2, [ALL], { ranges: [ALL, ZONE], zones: [ZONE], zoned: true }));
    for (let i = 0; i < 15; i++) expect(await world.allocate("", { zone: ZONE })).toMatchObject({ ok: true });
    expect(await world.allocate("", { zone: ZONE })).toEqual({ ok: false, reason: "full" });
    expect(await world.release("10.0.0.70", "token-1")).toBe("released");
    expect(taken.ok).toBe(true);
    expect(await world.allocate("", { zone: ZONE })).toMatchObject({ address: "10.0.0.70" });
    await world.owner.configure(aConfig(3, [ALL]));
    expect(await world.allocate("10.0.0.70")).toEqual({ ok: false, reason: "taken" });
    expect(await world.allocate()).toMatchObject({ ok: true });
  });

  it("a configuration without zones: is stored as before", async () => {
    const world = new OwnerWorld();
    await world.owner.configure(aConfig(1, [ALL]));
    expect(world.storage.configLoad()?.content).not.toContain("zone");
  });
});

function prefixOf(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}

it.each([1, 2, 3, 4, 5, 6])(
  "random zones over dense and sparse segments (seed %i): each pick is in its zone and band, until it is full",
  (seed) => {
    const random = seededRandom(seed);
    const cases = [
      { owned: ["10.0.0.0/25", "10.0.0.128/26"], whole: "10.0.0.0/24", bits: 32 },
      { owned: ["fd00::/90"], whole: "fd00::/120", bits: 128 },
    ];
    for (const { owned, whole, bits } of cases) {
      const { family, base } = prefixOf(whole);
      const zones = new Map<string, Prefix>();
      for (let i = 0; i < 4; i++) {
        const length = bits - 2 - random.below(5);
        const size = 1n << BigInt(bits - length);
        const prefix = { family, base: base + (BigInt(random.below(256)) / size) * size, length };
        zones.set(formatPrefix(prefix), prefix);
      }
      const ranges = [prefixOf(whole), ...[...zones.values()].slice(0, 2)];
      const pool = new Pool(random);
      pool.configure(owned.map(prefixOf), ranges, true, [...zones.values()]);
      const bands = bandsOf(ranges);
      const left = { dynamic: new Map<string, number>(), static: new Map<string, number>() };
      for (let address = base; address <= lastOf(prefixOf(whole)); address++) {
        if (!owned.some((text) => containsAddress(prefixOf(text), family, address))) continue;
        const [longest] = [...zones.values()]
          .filter((prefix) => containsAddress(prefix, family, address))
          .sort((a, b) => b.length - a.length);
        const zone = longest ? formatPrefix(longest) : "";
        expect(pool.zoneOf(family, address)).toBe(zone);
        for (const band of ["dynamic", "static"] as const) {
          if (memberAt(bands[band], address)) left[band].set(zone, (left[band].get(zone) ?? 0) + 1);
        }
      }
      for (const zone of ["", ...zones.keys()]) {
        for (const band of ["dynamic", "static"] as const) {
          for (let i = left[band].get(zone) ?? 0; i > 0; i--) {
            const pick = pool.allocateDynamic(family, band === "dynamic", zone);
            expect(pick && { zone: pool.zoneOf(family, pick.address), band: pick.band }).toEqual({ zone, band });
          }
          if (band === "dynamic") expect(pool.allocateDynamic(family, true, zone)).toBeUndefined();
        }
        expect(pool.allocateDynamic(family, false, zone)).toBeUndefined();
        pool.verify();
      }
    }
  },
);
