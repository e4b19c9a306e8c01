/** What cron costs each minute, with everything that it causes (test/support/economy/bounds.ts). */
import { createExecutionContext, createScheduledController, env, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, it } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import worker from "../../../../src/worker/index";
import { forgetWrites, idleVisitDue } from "../../../support/shards/real-shards";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";

const bindings = env as unknown as Env;
const EVERY_MINUTE = "* * * * *";
const SERVICES = "/api/v1/namespaces/default/services";
/** No full hour, at which identity Leases are collected. */
const DUE = Date.UTC(2026, 0, 1, 0, 7);

let world: EconomyWorld;
beforeEach(async () => {
  // Shards with clusters of other files would be poked, too.
  await forgetWrites(bindings);
  world = await new EconomyWorld().begin();
});
afterEach(() => world.end());

/** The minute's tick, so many minutes behind DUE. */
const tick = (minute: number): Promise<void> => {
  const scheduledTime = DUE + minute * 60_000;
  return Promise.resolve(
    worker.scheduled(createScheduledController({ cron: EVERY_MINUTE, scheduledTime }), world.env, createExecutionContext()),
  );
};

/** The part of repair that this round has is due. */
async function slicesDue(): Promise<void> {
  await runInDurableObject(bindings.CONTROLLER.getByName(`${world.cluster}/controllers/repair`), (_, { storage }) => {
    storage.sql.exec("UPDATE repair_marks SET value = 0 WHERE name IN ('portionedAt', 'nodePortsCheck')");
  });
}

it(
  "ticks of a minute, of a cluster with writes and of one that sleeps: no more than their bounds",
  async () => {
    const { economy } = world;
    for (let i = 0; i < 5; i++) {
      const spec = { ...(i === 0 && { type: "NodePort" }), selector: { app: "web" }, ports: [{ port: 80 }] };
      await world.send("POST", SERVICES, { metadata: { name: `web-${String(i)}` }, spec });
    }
    const busyMinute = async (minute: number): Promise<void> => {
      await world.send("PATCH", `${SERVICES}/web-0`, { metadata: { labels: { minute: String(minute) } } });
    };
    // The first tick of a new cluster visits everybody, and the next ones meet what its beginning has left.
    for (let minute = 0; minute < 3; minute++) {
      await busyMinute(minute);
      await world.settle();
      await tick(minute);
      await world.settle();
    }
    await economy.measure("minute's tick: a cluster with writes", (attempt) => tick(3 + attempt), {
      before: (attempt) => busyMinute(3 + attempt),
    });
    await world.settle();
    await economy.measure("minute's tick: a cluster with writes, with a portion of repair's sweep", (attempt) => tick(6 + attempt), {
      before: async (attempt) => {
        await busyMinute(6 + attempt);
        await slicesDue();
      },
    });
    await world.settle();
    await economy.measure("minute's tick: the first one behind the last writes", (attempt) => tick(9 + attempt));
    await world.settle();
    await tick(12);
    await world.settle();
    await economy.measure("minute's tick: a cluster whose writes have been met", (attempt) => tick(13 + attempt));
    await slicesDue();
    await forgetWrites(bindings);
    await economy.measure("minute's tick: an idle cluster", () => tick(17));
    const { cluster } = world;
    // The first one may meet controllers that have not begun.
    await (await idleVisitDue(bindings, cluster)).rings();
    await world.settle();
    let due = { rings: () => Promise.resolve<unknown>(undefined) };
    const before = async (): Promise<void> => {
      await forgetWrites(bindings);
      due = await idleVisitDue(bindings, cluster);
    };
    await economy.measure("the visit of each day: an idle cluster", () => due.rings(), { before });
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);
