/** A controller whose alarm cannot be set goes on with what it is asked for. */
import { env, runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import type { Env } from "../../durable-objects/env";
import { servicesStore } from "../../durable-objects/peers";

const bindings = env as unknown as Env;
const CLUSTER = "controller-alarm";

it("an alarm that cannot be set ends neither the pass nor the one that a poke asked for meanwhile", async () => {
  await servicesStore(bindings, CLUSTER).ensureBootstrapped();
  const stub = bindings.CONTROLLER.getByName(`${CLUSTER}/controllers/repair`);
  await runInDurableObject(stub, async (instance, { storage }) => {
    const controller = instance as unknown as { poke(): Promise<void>; alarm(): Promise<void> };
    await controller.alarm();
    // Something to be looked at in an hour: each pass sets the alarm.
    storage.sql.exec("INSERT INTO repair_suspects (id, due_at) VALUES ('services/default/gone', ?)", Date.now() + 3_600_000);
    await storage.deleteAlarm();
    let asked = 0;
    const setAlarm = vi.spyOn(storage, "setAlarm").mockImplementation(() => {
      if (asked++ === 0) void controller.poke();
      return Promise.reject(new Error("no alarm today"));
    });
    await expect(controller.alarm()).resolves.toBeUndefined();
    // The pass and the one that was asked for while it ran.
    expect(asked).toBe(2);
    setAlarm.mockRestore();
    await controller.alarm();
    expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
  });
});
