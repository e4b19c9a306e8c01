/** What writes of Services cost, with everything that they cause (test/support/economy/bounds.ts). */
import { env } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { CREATED_ROWS } from "../../support/economy/created-rows";
import { PATHS, service } from "../../support/economy/requests";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../support/economy/world";

const bindings = env as unknown as Env;
const SERVICES = PATHS.services;
const MANY = 40;
const CHANGES = 3;

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(() => world.end());

const many = (attempt: number): string[] => Array.from({ length: MANY }, (_, i) => `many-${String(attempt)}-${String(i)}`);
const create = (...names: string[]) => Promise.all(names.map((name) => world.send("POST", SERVICES, service(name))));
const remove = (...names: string[]) => Promise.all(names.map((name) => world.send("DELETE", `${SERVICES}/${name}`)));

/** Each row of a create has its reason, and no reason is left of a row that is written no more. */
function expectNamedRows(written: ReadonlyMap<string, number>): void {
  const line = (where: string, rows: number): string => `${where}: ${String(rows)}`;
  const named = CREATED_ROWS.map(({ object, table, rows }) => line(`${object} ${table}`, rows));
  const is = [...written].map(([where, rows]) => line(where, rows));
  expect(is.toSorted(), "test/support/economy/created-rows.ts").toEqual(named.toSorted());
}

it(
  "Services created, changed and deleted: no operation costs more than its bound",
  async () => {
    const { economy } = world;
    await create("first");
    await world.settle();
    await economy.measure("Service: created alone", (i) => create(`web-${String(i)}`));
    expectNamedRows(economy.rowsOf("Service: created alone"));
    const change = (metadata: object) => world.send("PATCH", `${SERVICES}/web-0`, { metadata });
    await economy.measure("Service: update that no controller copies", (i) => change({ annotations: { note: String(i) } }));
    await economy.measure("Service: update of a label, which slices and Endpoints copy", (i) => change({ labels: { team: String(i) } }));
    const trim = () => world.trim(bindings.SERVICES_STORE.getByName(`${world.cluster}/services`));
    const changes = async (attempt: number): Promise<void> => {
      await trim();
      for (let i = 0; i < CHANGES; i++) await change({ annotations: { note: `${String(attempt)}.${String(i)}` } });
    };
    await economy.measure("trimming of history: per change", trim, { times: CHANGES, before: changes });
    const manyChanges = async (attempt: number): Promise<void> => {
      await trim();
      await Promise.all(many(0).map((name) => change({ annotations: { note: `${String(attempt)} ${name}` } })));
    };
    await economy.measure("trimming of history: per change of 40 at once", trim, { times: MANY, before: manyChanges });
    const spare = (i: number) => create(`spare-${String(i)}`);
    await economy.measure("Service: deleted alone", (i) => remove(`spare-${String(i)}`), { before: spare });
    // The first forty are deleted below.
    await economy.measure("Service: one of 40 created at once", (i) => create(...many(i)), { times: MANY });
    const manyMore = async (i: number): Promise<void> => void (i > 0 && (await create(...many(i + 10))));
    const removed = (i: number) => remove(...many(i > 0 ? i + 10 : 0));
    await economy.measure("Service: one of 40 deleted at once", removed, { times: MANY, before: manyMore });
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);
