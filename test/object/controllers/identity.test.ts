/** What the identity Lease costs: calls to objects, those included that an object makes because it was called. */
import { createExecutionContext, createScheduledController, env } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { Controller } from "../../../durable-objects/controller";
import type { Env } from "../../../durable-objects/platform/env";
import { leasesStore } from "../../../durable-objects/peers/peers";
import worker from "../../../src/worker/index";
import { ensureBootstrapped } from "../../../src/worker/routing/bootstrap";
import { RENEW_IDENTITY } from "../../../src/worker/routing/identity-signal";
import { countedCalls } from "../../support/objects/counted-calls";

const bindings: Env = { ...(env as unknown as Env), HOST_NAME: "node-1", APISERVER_LEASE_RENEW_SECONDS: "3000" };
/** An interval with all of its jitter: no tick of a slow machine comes that late. */
const INTERVAL_MS = 3_120_000;

const now = Date.now;

afterEach(() => {
  Date.now = now;
  vi.restoreAllMocks();
});

it("ticks of an idle server: each renewal is one call to the store of Leases, and wakes nothing else", async () => {
  const store = "default/leases.coordination.k8s.io";
  const renewed = async (): Promise<string[]> => {
    const calls = await countedCalls(() =>
      worker.scheduled(createScheduledController({ cron: RENEW_IDENTITY }), bindings, createExecutionContext()),
    );
    return calls.map(({ object, method }) => `${object} ${method}`);
  };
  await ensureBootstrapped(bindings, "default");
  await countedCalls(() => Promise.resolve());
  // The beginning of the cluster has passes behind it that wait for time.
  vi.spyOn(Controller.prototype, "alarm").mockResolvedValue();
  // The first write makes the store known to cron, and asks whether quotas may limit it and whether its namespace is open.
  expect((await renewed()).sort()).toEqual([
    "default/controllers/repair askVisits",
    "default/controllers/repair entered",
    `${store} get`,
    `${store} write`,
    "default/namespaces get",
  ]);
  const { revision } = await leasesStore(bindings, "default").counters();
  expect(await renewed()).toEqual([]);
  for (let renewal = 1; renewal <= 2; renewal++) {
    // The clock goes on, for a count of calls waits by it.
    Date.now = () => now() + renewal * INTERVAL_MS;
    // The note of a write, once an hour, is the shard's.
    expect((await renewed()).filter((call) => !/^shards\/\d+ enter$/.test(call))).toEqual([`${store} write`]);
  }
  expect((await leasesStore(bindings, "default").counters()).revision).toBe(revision + 2);
});
