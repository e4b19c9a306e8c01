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
    const counter = results[2]?.ok ? results[2].gen.counter : 0;
    expect(counter, "behind what the first rows reserved").toBeGreaterThan(1_000);
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
        [...OWNER_MIGRATIONS, { id: 4, sql: "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT; INSERT INTO later VALUES (7)" }],
        1,
      );
      expect(applied()).toEqual([...before, { id: 4, applied_ms: 1 }]);
      expect(() => migrate(storage, [{ id: 5, sql: "INSERT INTO later VALUES (8); INSERT INTO nowhere VALUES (1)" }], 1)).toThrow();
      expect(storage.sql.exec("SELECT id FROM later").toArray()).toEqual([{ id: 7 }]);
      // Left by newer code: older code takes the object as it is.
      migrate(storage, OWNER_MIGRATIONS, 2);
      expect(applied()).toEqual([...before, { id: 4, applied_ms: 1 }]);
    });
  });

  it("a step that says from where on its rows can be read: code that knows less refuses the object by name, other code takes it as it is", async () => {
    const stub = await configured();
    await runInDurableObject(stub, (_, { storage }) => {
      const [four, five] = [
        { id: 4, sql: "CREATE TABLE both (id INTEGER PRIMARY KEY) STRICT" },
        { id: 5, sql: "DROP TABLE both", readableFrom: 4 },
      ];
      const [known, next, last] = [OWNER_MIGRATIONS, [...OWNER_MIGRATIONS, four], [...OWNER_MIGRATIONS, four, five]];
      migrate(storage, next, 1);
      migrate(storage, known, 1);
      migrate(storage, last, 2);
      const refused =
        "NEWER_DATA: a newer release has written this object: it is of schema 5, which is readable from schema 4 on, and this release knows 3";
      expect(() => migrate(storage, known, 3)).toThrow(refused);
      migrate(storage, next, 3);
      migrate(storage, last, 3);
      // What a later step demands is all that counts, and it stays.
      migrate(storage, [...last, { id: 6, sql: "CREATE TABLE six (id INTEGER PRIMARY KEY) STRICT", readableFrom: 6 }], 4);
      for (const older of [known, next, last])
        expect(() => migrate(storage, older, 5)).toThrow(/^NEWER_DATA: .* readable from schema 6 on, and this release knows [345]$/u);
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

describe("positions and released tokens of other releases", () => {
  /** Tables as the release before these lists left them, then migrated. */
  function old(storage: DurableObjectStorage, statements: string): void {
    storage.transactionSync(() => {
      for (const table of ["_migrations", "config", "counter", "address", "released", "released_lists", "page", "receiving"]) {
        storage.sql.exec(`DROP TABLE IF EXISTS ${table}`);
      }
    });
    migrate(storage, OWNER_MIGRATIONS.slice(0, 2), 1);
    storage.sql.exec(statements);
    migrate(storage, OWNER_MIGRATIONS, 2);
  }

  it("tables of the release before: it goes on behind the counter, and its released tokens are remembered", async () => {
    const found = await runInDurableObject(SERVICE_CIDR.getByName(freshName()), (_, { storage }) => {
      old(
        storage,
        `INSERT INTO counter (only, value) VALUES (1, 70);
         INSERT INTO released (id, token, expires_ms) VALUES (999, 'a', 10), (1000, 'b', 30), (1001, 'c', 20);`,
      );
      const { reservedLoad, releasedLists } = ownerStorage(storage);
      return { reserved: reservedLoad(), lists: [...releasedLists()] };
    });
    expect(found).toEqual({
      reserved: 70,
      lists: [
        { id: 1, expiresMs: 10, tokens: ["a"] },
        { id: 2, expiresMs: 30, tokens: ["b", "c"] },
      ],
    });
  });

  it("one release back and forward again: each begins behind every position of the other", async () => {
    const stub = await configured();
    const position = async (): Promise<number> => {
      const { results } = await stub.allocate([item()]);
      return results[0]?.ok ? results[0].gen.counter : 0;
    };
    const newest = [await position(), await position()].at(-1) ?? 0;
    const before = await runInDurableObject(stub, (_, { storage }) => {
      const { reservedLoad, reservedSave } = ownerStorage(storage);
      const reserved = reservedLoad();
      // That release writes the same row, with each position that it gives.
      reservedSave(reserved + 5);
      return reserved;
    });
    expect(before).toBeGreaterThan(newest);
    await abortAllDurableObjects();
    expect(await SERVICE_CIDR.getByName(stub.name ?? "").allocate([item()])).toMatchObject({ results: [{ gen: { counter: before + 6 } }] });
  });
});
