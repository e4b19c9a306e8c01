/** What a pass of repair reads and writes in the tables of real objects, counted row by row: next to nothing where all is well. */
import { createExecutionContext, env, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { repairStub, servicesStore } from "../../../durable-objects/peers/peers";
import { app } from "../../../src/worker/app";
import { countedStatements } from "../../support/objects/counted-rows";
import { isRelease } from "../../support/objects/is-release";
import { createRequest, WRITE } from "../../support/worlds/store-world";

const bindings = env as unknown as Env;
const CLUSTER = "repair-cost";
const SERVICES = isRelease ? 10_000 : 5_000;
const TOGETHER = 500;
/** Services and IPAddresses that one slice of the sweep looks at, as in src/addresses/repair/repairer.ts. */
const PORTION = 2 * 2_000;

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

/** One whole pass, with what all objects read and wrote meanwhile. */
async function countedPass(): Promise<Counted> {
  const stub = bindings.CONTROLLER.getByName(`${CLUSTER}/controllers/repair`);
  const statements = await countedStatements(stub, () => runInDurableObject(stub, async (instance) => instance.alarm?.()));
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
  return runInDurableObject(stub, (_, { storage }) => storage.sql.exec("DELETE FROM repair_marks WHERE name = 'portionedAt'").toArray());
}

it(`a pass over ${String(SERVICES)} healthy Services: reads the changes and a slice, and writes its cursor alone`, async () => {
  await onlyRepair();
  await servicesStore(bindings, CLUSTER).ensureBootstrapped();
  for (let from = 0; from < SERVICES; from += TOGETHER) await create(from, TOGETHER);
  // Through everything once.
  let pass: Counted;
  do pass = await countedPass();
  while (pass.writtenHere > 0 || (await repairStub(bindings, CLUSTER).repairCounts()).sweeps === 0);

  const idle = await countedPass();
  expect(idle.read).toBeLessThan(50);
  expect([idle.writtenHere, idle.writtenElsewhere]).toEqual([0, 0]);

  const changed = 20;
  await create(SERVICES, changed);
  const few = await countedPass();
  // At least a row of history with Services, and one with IPAddresses: those of one turn share rows.
  expect(few.read).toBeGreaterThanOrEqual(2);
  expect(few.read).toBeLessThan(50 + 10 * changed);
  expect([few.writtenHere, few.writtenElsewhere]).toEqual([2, 0]);

  await letMinutePass();
  const slice = await countedPass();
  // Each object, its counterpart, and its rows in the store's table and at the owner; some of them by an index.
  expect(slice.read).toBeGreaterThanOrEqual(PORTION);
  expect(slice.read).toBeLessThan(8 * PORTION);
  expect(slice.writtenElsewhere).toBe(0);
  expect(slice.writtenHere).toBeLessThan(12);
  const { ipErrors, reconcileErrors } = await repairStub(bindings, CLUSTER).repairCounts();
  expect([ipErrors, reconcileErrors]).toEqual([{}, 0]);
}, 240_000);
