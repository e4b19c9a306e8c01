/** What a pass of repair reads and writes in the tables of real objects, counted row by row: next to nothing where all is well. */
import { createExecutionContext, env, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import type { Env } from "../../../durable-objects/env";
import { repairController, servicesStore } from "../../../durable-objects/peers";
import { app } from "../../../src/worker/app";
import { createRequest, WRITE } from "../../support/worlds/store-world";

const bindings = env as unknown as Env;
const CLUSTER = "repair-cost";
const SERVICES = 10_000;
const TOGETHER = 500;
/** Services and IPAddresses that one slice of the sweep looks at, as in src/addresses/repair/repairer.ts. */
const SLICE = 2 * 2_000;

interface Counted {
  read: number;
  /** in the tables of repair itself */
  writtenHere: number;
  writtenElsewhere: number;
}

/** The rows of other controllers would be counted, too. */
async function onlyRepair(): Promise<void> {
  const init = {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ controllers: ["service-cidr-controller"] }),
  };
  const { status } = await app.request(`http://h/clusters/${CLUSTER}`, init, bindings, createExecutionContext());
  expect(status).toBe(201);
}

async function create(from: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, i) => from + i);
  const results = await Promise.all(
    numbers.map((i) => {
      const object = { metadata: { namespace: "default", name: `web-${String(i)}` }, spec: { ports: [{ port: 80 }] } };
      return servicesStore(bindings, CLUSTER).write(createRequest(object, { ...WRITE, group: "" }));
    }),
  );
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
}

type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>;

/** The cursor, after each use of which `note` is called: in the object whose cursor it is, which alone may ask what it has read. */
function noted(cursor: Cursor, note: () => void): Cursor {
  note();
  return new Proxy(cursor, {
    get(target, key) {
      if (key === Symbol.iterator) {
        return function* () {
          for (const row of target) {
            note();
            yield row;
          }
          note();
        };
      }
      const member = Reflect.get(target, key, target) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        const result = (member as (...given: unknown[]) => unknown).apply(target, args);
        note();
        return result;
      };
    },
  });
}

/** One whole pass, with what all objects read and wrote meanwhile. */
async function countedPass(): Promise<Counted> {
  const stub = bindings.CONTROLLER.getByName(`${CLUSTER}/controllers/repair`);
  const prototype = await runInDurableObject(stub, (_, { storage }) => Object.getPrototypeOf(storage.sql) as SqlStorage);
  const exec = prototype.exec;
  const statements: { query: string; read: number; written: number }[] = [];
  prototype.exec = function (this: SqlStorage, query: string, ...values: unknown[]) {
    const cursor = exec.call(this, query, ...values) as Cursor;
    const statement = { query, read: 0, written: 0 };
    statements.push(statement);
    return noted(cursor, () => Object.assign(statement, { read: cursor.rowsRead, written: cursor.rowsWritten }));
  } as typeof exec;
  try {
    await runInDurableObject(stub, async (instance) => instance.alarm?.());
  } finally {
    prototype.exec = exec;
  }
  const counted: Counted = { read: 0, writtenHere: 0, writtenElsewhere: 0 };
  for (const { query, read, written } of statements) {
    counted.read += read;
    counted[query.includes("repair_") ? "writtenHere" : "writtenElsewhere"] += written;
  }
  return counted;
}

/** Makes the next pass one that sweeps a slice, as after a minute. */
function letMinutePass(): Promise<unknown> {
  const stub = bindings.CONTROLLER.getByName(`${CLUSTER}/controllers/repair`);
  return runInDurableObject(stub, (_, { storage }) => storage.sql.exec("DELETE FROM repair_marks WHERE name = 'slicedAt'").toArray());
}

it("a pass over 10,000 healthy Services: reads the changes and a slice, and writes its cursor alone", async () => {
  await onlyRepair();
  await servicesStore(bindings, CLUSTER).ensureBootstrapped();
  for (let from = 0; from < SERVICES; from += TOGETHER) await create(from, TOGETHER);
  // Through everything once.
  let pass: Counted;
  do pass = await countedPass();
  while (pass.writtenHere > 0 || (await repairController(bindings, CLUSTER).repairCounts()).sweeps === 0);

  const idle = await countedPass();
  expect(idle.read).toBeLessThan(50);
  expect([idle.writtenHere, idle.writtenElsewhere]).toEqual([0, 0]);

  const changed = 20;
  await create(SERVICES, changed);
  const few = await countedPass();
  // Two rows of history for each, and its IPAddress.
  expect(few.read).toBeGreaterThanOrEqual(2 * changed);
  expect(few.read).toBeLessThan(50 + 10 * changed);
  expect([few.writtenHere, few.writtenElsewhere]).toEqual([2, 0]);

  await letMinutePass();
  const slice = await countedPass();
  // Each object, its counterpart, and its rows in the store's table and at the owner; some of them by an index.
  expect(slice.read).toBeGreaterThanOrEqual(SLICE);
  expect(slice.read).toBeLessThan(8 * SLICE);
  expect(slice.writtenElsewhere).toBe(0);
  expect(slice.writtenHere).toBeLessThan(12);
  const { ipErrors, reconcileErrors } = await repairController(bindings, CLUSTER).repairCounts();
  expect([ipErrors, reconcileErrors]).toEqual([{}, 0]);
}, 240_000);
