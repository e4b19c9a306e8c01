/** The loop of controllers on its real object: an alarm that cannot be set, and a pass that hangs. */
import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { repairStub, servicesStore } from "../../../../durable-objects/peers/peers";
import { SYNC_WAIT_MS } from "../../../../durable-objects/platform/wipe";
import { PASS_MAX_MS } from "../../../../src/controllers/frame/controller";
import { countedCalls } from "../../../support/objects/counted-calls";
import { PATIENCE } from "../../../support/objects/patience";
import { ringAtOnce } from "../../../support/objects/quick-timers";
import { freshCluster } from "../../../support/objects/store-stubs";

const bindings = env as unknown as Env;
let cluster: string;
beforeEach(async () => {
  cluster = freshCluster();
  // To the end of what follows: pokes that come late would begin passes of their own.
  await countedCalls(() => servicesStore(bindings, cluster).ensureBootstrapped());
});

const controllerObject = () => bindings.CONTROLLER.getByName(`${cluster}/controllers/repair`);

it("an alarm that cannot be set: ends neither the pass nor the one that a poke asked for meanwhile", async () => {
  await runInDurableObject(controllerObject(), async (instance, { storage }) => {
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

it("a pass that hangs: its object restarts, keeps what it had stored, and its alarm asks for the next pass", async () => {
  const soon = ringAtOnce(PASS_MAX_MS);
  const hung = await runInDurableObject(controllerObject(), async (instance, { storage }) => {
    storage.sql.exec("INSERT INTO repair_suspects (id, due_at) VALUES ('services/default/kept', ?)", Date.now() + 3_600_000);
    // The answers of peers never come while the object itself goes on.
    await (instance as unknown as { poke(): Promise<void> }).poke();
    return instance;
  });
  await vi.waitFor(() => runInDurableObject(controllerObject(), (instance) => expect(instance).not.toBe(hung)), PATIENCE);
  soon.mockRestore();
  await vi.waitFor(async () => expect(await runDurableObjectAlarm(controllerObject())).toBe(true), PATIENCE);
  expect(await repairStub(bindings, cluster).repairCounts()).toMatchObject({ reconcileErrors: 0 });
  await runInDurableObject(controllerObject(), (_, { storage }) => {
    expect(storage.sql.exec("SELECT id FROM repair_suspects").toArray()).toEqual([{ id: "services/default/kept" }]);
  });
});

it("a pass that hangs, and storage that confirms nothing: its object restarts all the same", async () => {
  ringAtOnce(PASS_MAX_MS);
  const soon = ringAtOnce(SYNC_WAIT_MS);
  const hung = await runInDurableObject(controllerObject(), async (instance, { storage }) => {
    vi.spyOn(storage, "sync").mockReturnValue(new Promise(() => undefined));
    await (instance as unknown as { poke(): Promise<void> }).poke();
    return instance;
  });
  await vi.waitFor(() => runInDurableObject(controllerObject(), (instance) => expect(instance).not.toBe(hung)), PATIENCE);
  soon.mockRestore();
});
