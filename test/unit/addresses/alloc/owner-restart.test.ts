import { beforeEach, describe, expect, it } from "vitest";
import { addressKey } from "../../../../src/addresses/alloc/owner-key";
import { OwnerWorld, aConfig, aHolder } from "../../../support/worlds/owner-world";

const A = "10.0.0.0/24";
const GEN = { epoch: 1, counter: 900 };

let world: OwnerWorld;
beforeEach(async () => {
  world = new OwnerWorld();
  await world.owner.configure(aConfig(1, [A, "fd00::/64"]));
});

async function fill(): Promise<void> {
  await world.owner.allocate([world.item("10.0.0.5"), world.item("10.0.0.6"), world.item("fd00::5"), world.item(), world.item()]);
}

const warnings = (): string[] => world.logged.filter(({ level }) => level === "warn").map(({ event }) => event);

describe("restart", () => {
  it("stored pages: restored without reading rows", async () => {
    await fill();
    const before = { held: await world.held(), free: await world.owner.free() };
    const { writes } = world.storage;
    world.restart();
    expect({ held: await world.held(), free: await world.owner.free() }).toEqual(before);
    expect(await world.allocate("10.0.0.5")).toEqual({ ok: false, reason: "taken" });
    expect(await world.allocate("fd00::5")).toEqual({ ok: false, reason: "taken" });
    expect(warnings()).toEqual([]);
    expect(world.storage.writes).toBe(writes);
  });

  it("counter: goes on behind what is reserved, whatever became of the rows, over every order of coming and going", async () => {
    const order = ["+a", "+b", "-a", "+c", "-c", "-b", "+d", "+a", "-d", "+b", "-b", "-a", "+c"];
    const addresses = new Map(["a", "b", "c", "d"].map((name, i) => [name, `10.0.0.${String(5 + i)}`]));
    const tokens = new Map<string, string>();
    const counters: number[] = [];
    for (const step of order) {
      const address = addresses.get(step.slice(1)) ?? "";
      if (step.startsWith("+")) {
        tokens.set(address, world.token());
        const result = await world.allocate(address, { token: tokens.get(address) ?? "" });
        counters.push(result.ok ? result.gen.counter : 0);
      } else {
        expect(await world.release(address, tokens.get(address) ?? ""), step).toBe("released");
      }
      world.restart();
    }
    expect(counters).toEqual(counters.map((_, i) => 1 + i * 1_001));
  });

  it("counter: begins behind a row that was lost, too", async () => {
    await world.allocate("10.0.0.5", { token: "t" });
    world.storage.rowDelete(addressKey("IPv4", 0x0a000005n), "t");
    world.storage.pagesClear();
    world.restart();
    expect(await world.allocate("10.0.0.5")).toMatchObject({ ok: true, gen: { counter: 1_002 } });
  });

  it("counter: 1,000 positions are reserved at a time", async () => {
    const reserved = new Set<number>();
    for (let i = 0; i < 200; i++) {
      await world.allocate("");
      reserved.add(world.storage.reservedLoad());
    }
    expect([...reserved]).toEqual([1_001]);
    // The number of an earlier release is that of its newest row.
    world.storage.reservedSave(1_500);
    world.restart();
    expect(await world.allocate("")).toMatchObject({ ok: true, gen: { counter: 1_501 } });
    expect(world.storage.reservedLoad()).toBe(2_501);
  });

  it.each([
    { name: "a page row is lost", damage: () => world.storage.pagesDelete(A) },
    { name: "every page row is lost", damage: () => world.storage.pagesClear() },
    { name: "a page is damaged", damage: () => world.storage.pageSave({ segment: A, page: "0", bytes: new Uint8Array([250, 1, 2]) }) },
    {
      name: "a page of a segment that is not owned is left",
      damage: () => world.storage.pageSave({ segment: "10.9.0.0/24", page: "0", bytes: new Uint8Array([1]) }),
    },
    { name: "a row is there that no page knows", damage: () => insertRow("10.0.0.77") },
  ])("$name: pages are rebuilt from the rows, with a warning", async ({ damage }) => {
    await fill();
    damage();
    world.restart();
    expect(warnings()).toEqual(["pages of an owner were rebuilt"]);
    for (const address of await world.held()) expect(await world.allocate(address)).toEqual({ ok: false, reason: "taken" });
    world.restart();
    expect(warnings()).toHaveLength(1);
  });
});

function insertRow(address: "10.0.0.77"): void {
  const key = addressKey("IPv4", 0x0a00004dn);
  world.storage.rowInsert({ key, position: GEN.counter, token: `row ${address}`, gen: GEN, band: "dynamic", holder: aHolder() });
}

describe("lost transaction", () => {
  it("before its commit: every call of the drain is rejected, nothing is kept, memory is as before", async () => {
    await fill();
    const before = { held: await world.held(), free: await world.owner.free() };
    world.storage.crashNext = "beforeCommit";
    const calls = await Promise.allSettled([
      world.allocate("10.0.0.50", { token: "a" }),
      world.allocate("", { token: "b" }),
      world.release("10.0.0.5", "token-1"),
      world.owner.seed(1, [{ address: "10.0.0.60", holder: aHolder(), token: "c" }]),
    ]);
    expect(calls.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "rejected"]);
    expect({ held: await world.held(), free: await world.owner.free() }).toEqual(before);
    expect(await world.allocate("10.0.0.50", { token: "a" })).toMatchObject({ ok: true });
    expect(await world.allocate("10.0.0.5")).toEqual({ ok: false, reason: "taken" });
  });

  it("after its commit: the caller heard an error, and its repeat gets the very same address", async () => {
    world.storage.crashNext = "afterCommit";
    const item = world.item("", { token: "t" });
    await expect(world.owner.allocate([item])).rejects.toThrow("crash after commit");
    const kept = await world.held();
    const { results } = await world.owner.allocate([item]);
    expect(results[0]).toMatchObject({ ok: true, address: kept[0], gen: { epoch: 1, counter: 1 } });
    expect(await world.held()).toEqual(kept);
  });

  it("release whose answer is lost: can be repeated", async () => {
    await world.allocate("10.0.0.5", { token: "t" });
    world.storage.crashNext = "afterCommit";
    await expect(world.release("10.0.0.5", "t")).rejects.toThrow();
    expect(await world.release("10.0.0.5", "t")).toBe("released");
    expect(await world.allocate("10.0.0.5")).toMatchObject({ ok: true });
  });

  it.each(["beforeCommit", "afterCommit"] as const)(
    "a configuration, crash %s: memory follows storage, and the push can be repeated",
    async (crash) => {
      await fill();
      const held = await world.held();
      world.storage.crashNext = crash;
      await expect(world.owner.configure(aConfig(2, [A]))).rejects.toThrow("crash");
      const kept = crash === "afterCommit";
      expect((await world.owner.free()).epoch).toBe(kept ? 2 : 1);
      expect(await world.held()).toEqual(kept ? held.filter((address) => !address.includes(":")) : held);
      expect(await world.owner.configure(aConfig(2, [A]))).toEqual({ ok: true });
      expect(await world.allocate("fd00::6")).toEqual({ ok: false, reason: "stale" });
    },
  );

  it("bitmap that has a held address free: the row's key refuses a second holder, and the bitmap is rebuilt", async () => {
    await fill();
    insertRow("10.0.0.77");
    await expect(world.allocate("10.0.0.77")).rejects.toThrow("UNIQUE");
    expect(await world.allocate("10.0.0.77")).toEqual({ ok: false, reason: "taken" });
    expect(warnings()).toEqual([]);
  });
});
