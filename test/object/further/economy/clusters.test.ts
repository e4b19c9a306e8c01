/** What the beginning of a cluster costs, with everything that it causes (test/support/economy/bounds.ts). */
import { createExecutionContext, createScheduledController, env } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { DEFAULT_CLUSTER } from "../../../../src/tenancy/cluster-id";
import { DIRECTORY_PREFIX } from "../../../../src/tenancy/directory-keys";
import worker from "../../../../src/worker/index";
import { forgetCluster } from "../../../../src/worker/routing/known-clusters";
import { AccessWorld } from "../../../support/access/access-world";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";
import { wipedAtRest } from "../../../support/runtime/at-rest";
import { forgetWrites } from "../../../support/shards/real-shards";
import { Economy } from "../../../support/economy/meter";

const bindings = env as unknown as Env;

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(() => world.end());

/** The hourly cron enters no cluster of it in its shard. */
async function emptyDirectory(): Promise<void> {
  const { keys } = await bindings.DIRECTORY.list({ prefix: DIRECTORY_PREFIX });
  await Promise.all(keys.map(({ name }) => bindings.DIRECTORY.delete(name)));
}

it(
  "a cluster that is made, and its first tick: no more than their bounds",
  async () => {
    await world.settle();
    const prefix = `${world.cluster}-new-`;
    const economy = new Economy(prefix);
    const make = (name: string) => world.send("PUT", `/clusters/${prefix}${name}`);
    await economy.measure("cluster: made", (attempt) => make(String(attempt)));
    const tick = (cron: string) => async () => {
      const scheduled = { cron, scheduledTime: Date.UTC(2026, 0, 1, 0, 7) };
      return worker.scheduled(createScheduledController(scheduled), world.env, createExecutionContext());
    };
    const made = (kind: string) => async (attempt: number) => {
      await forgetWrites(bindings);
      await emptyDirectory();
      await make(`${kind}-${String(attempt)}`);
    };
    await economy.measure("cluster: its first tick", tick("* * * * *"), { before: made("ticked") });
    await economy.measure("cluster: its first hour's compaction", tick("0 * * * *"), { before: made("compacted") });
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);

it(
  "a cluster that nobody made: reads are 404, and make nothing, whatever its name",
  async () => {
    await world.settle();
    // As on a deployment.
    const access = await new AccessWorld({ IMPLICIT_DEFAULT_CLUSTER: "false" }).begin();
    for (const name of [`${world.cluster}-unmade`, DEFAULT_CLUSTER]) {
      forgetCluster(access.env, name);
      const economy = new Economy(name);
      for (const read of ["services", "services?watch=1", "namespaces/default/services/kubernetes"]) {
        const ask = async () => {
          const { code, body } = await access.ask("GET", `/clusters/${name}/api/v1/${read}`);
          expect([code, body.message]).toEqual([404, `clusters "${name}" not found`]);
        };
        await economy.measure("get in a cluster that nobody made", ask);
      }
      economy.expectWithinBounds();
    }
  },
  SLOW_MACHINE_MS,
);

it(
  "the cluster default on a deployment: begins by PUT, cannot be deleted, and a probe before that is fine",
  async () => {
    await wipedAtRest();
    const access = await new AccessWorld({ IMPLICIT_DEFAULT_CLUSTER: "false" }).begin();
    forgetCluster(access.env, DEFAULT_CLUSTER);
    const get = async () => (await access.ask("GET", "/clusters/default")).code;
    const ready = async () => (await access.ask("GET", "/readyz")).code;
    expect([await get(), await ready()]).toEqual([404, 200]);
    expect((await access.ask("PUT", "/clusters/default")).code).toBe(201);
    expect((await access.ask("PUT", "/clusters/default")).code).toBe(200);
    expect([await get(), await ready()]).toEqual([200, 200]);
    expect((await access.ask("GET", "/clusters/default/api/v1/namespaces/default/services/kubernetes")).code).toBe(200);
    expect((await access.ask("DELETE", "/clusters/default")).code).toBe(403);
  },
  SLOW_MACHINE_MS,
);
