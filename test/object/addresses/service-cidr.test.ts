import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { ServiceCIDR } from "../../../durable-objects/service-cidr";
import { migrate } from "../../../durable-objects/sql/migrate";
import { OWNER_MIGRATIONS, ownerStorage } from "../../../durable-objects/sql/owner-sql";
import type { AllocateItem } from "../../../src/addresses/rpc/service-cidr";
import { ownerStorageCases } from "../../contract/owner-storage.suite";
import { aConfig, aHolder } from "../../support/worlds/owner-world";

const { SERVICE_CIDR } = env as unknown as { SERVICE_CIDR: DurableObjectNamespace<ServiceCIDR> };
const RANGE = "10.0.0.0/24";

let objects = 0;
const freshName = (): string => `owner-test/${++objects}`;

async function configured(name = freshName()) {
  const stub = SERVICE_CIDR.getByName(name);
  expect(await stub.configure(aConfig(1, [RANGE]))).toEqual({ ok: true });
  return stub;
}

let tokens = 0;
const item = (address = "", token = `token-${++tokens}`): AllocateItem => ({ token, holder: aHolder(), family: "IPv4", address });

/** Addresses by the rows, and by what a dynamic or static request may still get. */
async function rowsAndFree(stub: DurableObjectStub<ServiceCIDR>) {
  const { rows } = await stub.rowsSince(0, 1_000);
  const { free } = await stub.free();
  return { held: rows.map(({ address }) => address).sort(), free: free.IPv4.dynamic + free.IPv4.static };
}

describe("group commit", () => {
  it("calls that reach the object in one turn: one transaction, each caller its own address", async () => {
    const stub = await configured();
    const { drains, operations, answers } = await runInDurableObject(stub, async (owner: ServiceCIDR) => {
      const calls = Array.from({ length: 100 }, () => owner.allocate([item()]));
      return { answers: await Promise.all(calls), ...owner.counters() };
    });
    expect({ drains, operations }).toEqual({ drains: 1, operations: 100 });
    const addresses = answers.map(({ results }) => (results[0]?.ok ? results[0].address : ""));
    expect(new Set(addresses).size).toBe(100);
    expect(await rowsAndFree(stub)).toEqual({ held: addresses.sort(), free: 154 });
  });

  it("calls over RPC, whatever turns they arrive in: each caller its own address, no commit for each", async () => {
    const stub = await configured();
    const answers = await Promise.all(Array.from({ length: 200 }, () => stub.allocate([item()])));
    const addresses = answers.map(({ results }) => (results[0]?.ok ? results[0].address : ""));
    expect(new Set(addresses).size).toBe(200);
    const { drains, operations } = await stub.counters();
    expect(operations).toBe(200);
    expect(drains).toBeLessThan(200);
  });

  it("allocate, release and seed of one turn: share the transaction; a refused one in the middle: affects no other", async () => {
    const stub = await configured();
    await stub.allocate([item("10.0.0.9", "nine")]);
    const [first, second, released, seeded, again] = await runInDurableObject(stub, async (owner: ServiceCIDR) => {
      const before = owner.counters();
      const calls = await Promise.all([
        owner.allocate([item("10.0.0.20")]),
        owner.allocate([item("10.0.0.20")]),
        owner.release([
          { address: "10.0.0.9", token: "nine" },
          { address: "10.7.0.0", token: "elsewhere" },
        ]),
        owner.seed(1, [{ address: "10.0.0.30", holder: aHolder({ kind: "ipaddress" }), token: "uid-of-ip" }]),
        owner.allocate([item("10.0.0.9")]),
      ]);
      expect(owner.counters().drains - before.drains).toBe(1);
      return calls;
    });
    expect(first.results[0]).toMatchObject({ ok: true, address: "10.0.0.20" });
    expect(second.results[0]).toEqual({ ok: false, reason: "taken" });
    expect(released).toEqual(["released", "stale"]);
    expect(seeded).toBe("ok");
    expect(again.results[0]).toMatchObject({ ok: true, address: "10.0.0.9" });
    expect(await rowsAndFree(stub)).toEqual({ held: ["10.0.0.20", "10.0.0.30", "10.0.0.9"], free: 251 });
  });

  it("a lost transaction: its callers are rejected, nothing of it is kept, memory follows storage", async () => {
    const stub = await configured();
    await stub.allocate([item("10.0.0.9")]);
    const calls = await runInDurableObject(stub, (owner: ServiceCIDR, { storage }) => {
      // A row behind the owner's back: the bitmap calls the address free, the row's key refuses it.
      storage.sql.exec(
        "INSERT INTO address SELECT 99, '40a000058', 'rogue', epoch, scope, kind, namespace, name, uid, 99 FROM address WHERE counter = 1",
      );
      return Promise.allSettled([owner.allocate([item("10.0.0.50")]), owner.allocate([item("10.0.0.88")])]);
    });
    expect(calls.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await rowsAndFree(stub)).toEqual({ held: ["10.0.0.88", "10.0.0.9"], free: 252 });
    expect((await stub.allocate([item("10.0.0.88")])).results).toEqual([{ ok: false, reason: "taken" }]);
    expect((await stub.allocate([item("10.0.0.50")])).results[0]).toMatchObject({ ok: true });
  });
});

describe("restart", () => {
  it("a restart: keeps configuration, rows, counter, tokens and bitmap", async () => {
    const name = freshName();
    const stub = await configured(name);
    await Promise.all(Array.from({ length: 30 }, () => stub.allocate([item()])));
    await stub.allocate([item("10.0.0.9", "idempotent")]);
    await stub.release([{ address: "10.0.0.200", token: "late" }]);
    const before = await rowsAndFree(stub);
    await abortAllDurableObjects();

    const again = SERVICE_CIDR.getByName(name);
    expect(await rowsAndFree(again)).toEqual(before);
    expect(await again.configure(aConfig(1, [RANGE], { ranges: [] }))).toEqual({ ok: false, reason: "contentDiffers", epoch: 1 });
    const { results } = await again.allocate([item("10.0.0.9", "idempotent"), item("10.0.0.200", "late"), item()]);
    expect(results[0]).toMatchObject({ ok: true, address: "10.0.0.9" });
    expect(results[1]).toEqual({ ok: false, reason: "released" });
    expect(results[2]).toMatchObject({ ok: true, gen: { epoch: 1, counter: 32 } });
  });

  it("a restart without bitmap pages: rebuilds them from the rows", async () => {
    const name = freshName();
    const stub = await configured(name);
    await Promise.all(Array.from({ length: 30 }, () => stub.allocate([item()])));
    const before = await rowsAndFree(stub);
    await runInDurableObject(stub, (_, { storage }) => storage.sql.exec("DELETE FROM page"));
    await abortAllDurableObjects();
    const again = SERVICE_CIDR.getByName(name);
    expect(await rowsAndFree(again)).toEqual(before);
    expect(await runInDurableObject(again, (_, { storage }) => storage.sql.exec("SELECT count(*) AS n FROM page").one().n)).toBe(1);
  });

  it("an up-to-date object: runs no migration", async () => {
    const stub = await configured();
    await runInDurableObject(stub, (_, { storage }) => {
      const applied = () => storage.sql.exec("SELECT id, applied_ms FROM _migrations").toArray();
      const before = applied();
      migrate(storage, OWNER_MIGRATIONS, 1);
      expect(applied()).toEqual(before);
      migrate(
        storage,
        [...OWNER_MIGRATIONS, { id: 3, sql: "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT; INSERT INTO later VALUES (7)" }],
        1,
      );
      expect(applied()).toEqual([...before, { id: 3, applied_ms: 1 }]);
      expect(() => migrate(storage, [{ id: 4, sql: "INSERT INTO later VALUES (8); INSERT INTO nowhere VALUES (1)" }], 1)).toThrow();
      expect(storage.sql.exec("SELECT id FROM later").toArray()).toEqual([{ id: 7 }]);
      // Left by newer code: older code takes the object as it is.
      migrate(storage, OWNER_MIGRATIONS, 2);
      expect(applied()).toHaveLength(3);
    });
  });
});

describe("answers over RPC", () => {
  it("every answer over RPC: deep-equal to the owner's own", async () => {
    const stub = SERVICE_CIDR.getByName(freshName());
    const free = { IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } };
    expect(await stub.free()).toEqual({ epoch: 0, free });
    expect(await stub.allocate([item()])).toEqual({ epoch: 0, results: [{ ok: false, reason: "stale" }], free });
    expect(await stub.configure(aConfig(3, ["10.0.0.0/30"]))).toEqual({ ok: true });
    expect(await stub.configure(aConfig(2, []))).toEqual({ ok: false, reason: "superseded", epoch: 3 });
    const holder = aHolder();
    const gen = { epoch: 3, counter: 1 };
    expect(await stub.allocate([{ token: "t", holder, family: "IPv4", address: "10.0.0.1" }])).toEqual({
      epoch: 3,
      results: [{ ok: true, address: "10.0.0.1", gen, scope: "dynamic" }],
      free: { ...free, IPv4: { dynamic: 1, static: 0 } },
    });
    expect(await stub.rowsSince(0, 5)).toEqual({ epoch: 3, rows: [{ address: "10.0.0.1", token: "t", gen, holder, position: 1 }] });
    expect(await stub.countTaken([{ first: "10.0.0.0", last: "10.0.0.3" }])).toEqual({ epoch: 3, taken: [1] });
    expect(await stub.seed(3, [])).toBe("ok");
    expect(await stub.release([{ address: "10.0.0.1", token: "t" }])).toEqual(["released"]);
    expect(await stub.configure(aConfig(4, [], { retired: true }))).toEqual({ ok: true });
    expect(await stub.configure(aConfig(5, [RANGE]))).toEqual({ ok: false, reason: "retired", epoch: 4 });
  });
});

describe("OwnerStorage over SQLite", () => {
  it.each(ownerStorageCases)("$name", async ({ run }) => {
    await runInDurableObject(SERVICE_CIDR.getByName(freshName()), (_, { storage }) => run(ownerStorage(storage)));
  });
});
