/** What a tick of each cron, and a probe, costs in the end: calls to objects, those included that an object makes because it was called or poked. */
import {
  abortAllDurableObjects,
  createExecutionContext,
  createScheduledController,
  env,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import { clusterShard, servicesStore, recordedObject } from "../../../durable-objects/peers/peers";
import { RepairController } from "../../../src/addresses/repair/repair-controller";
import { clusterObjects } from "../../../src/tenancy/cluster-objects";
import { directoryKey } from "../../../src/tenancy/directory-keys";
import type { ShardEntry } from "../../../src/tenancy/rpc";
import { clusterShardOf, visitTimeOf } from "../../../src/tenancy/shards";
import { HOOKS } from "../../../src/worker/system/start-hooks";
import worker from "../../../src/worker/index";
import { type Call, countedCalls } from "../../support/objects/counted-calls";
import { forgetWrites, idleVisitDue, noteWrite } from "../../support/shards/real-shards";
import { isRelease } from "../../support/objects/is-release";
import { createRequest, WRITE } from "../../support/worlds/store-world";
import { platformStub } from "../../support/objects/every-object";

const bindings = env as unknown as Env;
const CRONS = [
  { cron: "* * * * *", visitsBusy: true },
  // It pokes the next shard, for which the minute's tick has done everything.
  { cron: "*/5 * * * *", visitsBusy: false },
  { cron: "0 * * * *", visitsBusy: true },
] as const;
const CLUSTERS = isRelease ? 2_000 : 300;
/** How many of them have writes: a tick visits each of them. */
const MANY_BUSY = 200;
/** A day's visit of an idle cluster: the garbage collector alone asks every store what has changed. */
const IDLE_CALLS_MAX = 100;
/** A probe. */
const CALLS_MAX = 20;
const BUSY = "work";
const IDLE_PREFIX = "0-idle-";
const DAY_MS = 86_400_000;
/** None of those whose time of the day comes while the test runs. */
const isLater = (id: string): boolean => (visitTimeOf(id) - (Date.now() % DAY_MS) + DAY_MS) % DAY_MS > DAY_MS / 10;
const NAMES = Array.from({ length: 2 * CLUSTERS }, (_, i) => `${IDLE_PREFIX}${String(i)}`).filter(isLater);
const nameOf = (i: number): string => NAMES[i] ?? "";

async function cluster(name: string): Promise<void> {
  const services = servicesStore(bindings, name);
  await services.ensureBootstrapped();
  for (let i = 0; i < 5; i++) {
    const object = { metadata: { namespace: "default", name: `web-${i}` }, spec: { ports: [{ port: 80 }] } };
    expect(await services.write(createRequest(object, { ...WRITE, group: "" }))).toMatchObject({ ok: true });
  }
}

/** Whatever still waits for its time in these clusters is done now. Owners have no alarms. */
async function ringAlarms(clusters: readonly string[]): Promise<void> {
  for (const cluster of clusters) {
    for (const object of clusterObjects(CONTROLLERS.namesIn(false))) {
      await runDurableObjectAlarm(platformStub(recordedObject(bindings, cluster, object)));
    }
  }
}

/** As after hours in which nobody asked for anything: the sweep's next slice is due, and all objects have been put to sleep. */
async function rest(name: string): Promise<void> {
  await runInDurableObject(bindings.CONTROLLER.getByName(`${name}/controllers/repair`), (_, { storage }) => {
    expect(storage.sql.exec("UPDATE repair_marks SET value = 0 WHERE name = 'portionedAt'").rowsWritten).toBeGreaterThan(0);
  });
  await forgetWrites(bindings);
}

/** When identity Leases are collected, too. */
const FULL_HOUR = new Date(Date.UTC(2026, 0, 1));

/** A tick, so many minutes behind the full hour. */
const tick = (cron: string, minute = 0): Promise<Call[]> => {
  const scheduledTime = new Date(FULL_HOUR.getTime() + minute * 60_000);
  return countedCalls(() => worker.scheduled(createScheduledController({ cron, scheduledTime }), bindings, createExecutionContext()));
};
const ofBusy = ({ object }: Call): boolean => object.startsWith(`${BUSY}/`);
/** Objects of other tests, in the same runtime, go on with their own work when they have been put to sleep. */
const ofIdle = ({ object }: Call): boolean => object.startsWith(IDLE_PREFIX);
const told = (calls: readonly Call[]): string => calls.map(({ object, method }) => `${object} ${method}`).join("\n");

/** Many clusters whose names alone are known: a visit of one finds nothing, and makes its objects. */
const entered = (names: readonly string[], rhythms: ShardEntry["rhythms"]): Promise<void[]> => {
  const byShard = Map.groupBy(names, clusterShardOf);
  return Promise.all([...byShard.values()].map((ids) => clusterShard(bindings, ids[0] ?? "").enter(ids.map((id) => ({ id, rhythms })))));
};

describe(`with ${String(CLUSTERS)} idle clusters and one that is busy`, () => {
  it(`a tick: no call to an idle cluster; its day's visit: at most ${String(IDLE_CALLS_MAX)}, nested ones counted; a probe: at most ${String(CALLS_MAX)}, none in a cluster that nobody has used`, async () => {
    await entered(NAMES.slice(0, CLUSTERS), []);
    for (const i of [1, 2]) await bindings.DIRECTORY.put(directoryKey(nameOf(i)), "{}");
    const real = [BUSY, nameOf(0)];
    await countedCalls(() => Promise.all(real.map(cluster)));
    for (const name of real) await noteWrite(bindings, name);
    // A full visit, and those that the writes have asked for.
    for (let minute = 0; minute < 5; minute++) {
      await tick("* * * * *", minute);
      await ringAlarms(real);
    }
    await countedCalls(() => Promise.resolve());
    await rest(nameOf(0));
    await countedCalls(() => noteWrite(bindings, BUSY));
    for (const { cron, visitsBusy } of CRONS) {
      const calls = await tick(cron, 60);
      expect(calls.filter(ofIdle), cron).toEqual([]);
      expect(calls.some(ofBusy), cron).toBe(visitsBusy);
      // The poke of one shard, and each job that has work there.
      const pokes = calls.filter(({ object, method }) => object.startsWith("shards/") && method === "poke");
      expect(pokes.length, cron).toBeLessThanOrEqual(2);
    }
    const visit = async (): Promise<Call[]> => {
      await rest(nameOf(0));
      const due = await idleVisitDue(bindings, nameOf(0));
      return countedCalls(() => due.rings());
    };
    // The first one meets controllers that have not begun.
    await visit();
    await ringAlarms([nameOf(0)]);
    await countedCalls(() => Promise.resolve());
    const idle = (await visit()).filter(({ object }) => object.startsWith(`${nameOf(0)}/`));
    expect(idle.length).toBeGreaterThan(CALLS_MAX);
    expect(idle.length, told(idle)).toBeLessThanOrEqual(IDLE_CALLS_MAX);
    const probe = async (name: string, check: string): Promise<void> => {
      const answered = async (): Promise<number> => {
        // A new isolate: no hook has passed.
        const request = new Request(`http://h/clusters/${name}/readyz/${check}`);
        return (await worker.fetch(request, { ...bindings }, createExecutionContext())).status;
      };
      await expect.poll(answered, { timeout: 60_000 }).toBe(200);
    };
    const [repairedLately, atRest, unused] = [nameOf(0), nameOf(1), nameOf(2)];
    await probe(unused, "ping");
    await bindings.DIRECTORY.delete(directoryKey(unused));
    for (const [name, max] of [
      [repairedLately, 5],
      [atRest, CALLS_MAX],
      [unused, 0],
    ] as const) {
      await abortAllDurableObjects();
      const calls = await countedCalls(async () => {
        for (const hook of Object.values(HOOKS)) await probe(name, `poststarthook/${hook}`);
      });
      // A probe that waits for repair asks as often as that takes.
      const counted = calls.filter(({ object, method }) => object.startsWith(`${name}/`) && (name !== atRest || method !== "repairCounts"));
      expect(counted.length, told(counted)).toBeLessThanOrEqual(max);
    }
  }, 120_000);

  it(`${String(MANY_BUSY)} clusters with writes, in real shards: each tick visits each of them once, and every shard is poked once`, async () => {
    await forgetWrites(bindings);
    const names = Array.from({ length: 2 * MANY_BUSY }, (_, i) => `many-${String(i)}`)
      .filter(isLater)
      .slice(0, MANY_BUSY);
    // Their objects say that there is nothing to do.
    const visits = vi.spyOn(RepairController.prototype, "pokeFrom").mockImplementation(() => Promise.resolve("rests" as const));
    try {
      await countedCalls(() => entered(names, ["minute"]));
      for (let minute = 1; minute <= 3; minute++) {
        const calls = (await tick("* * * * *", minute)).filter(({ object }) => object.startsWith("many-"));
        expect(calls.map(({ object }) => object.split("/")[0]).sort()).toEqual([...names].sort());
      }
      // Cron fires in several places, or twice.
      const again = await tick("* * * * *", 3);
      expect(again.filter(({ object }) => object.startsWith("many-"))).toEqual([]);
      expect(again.filter(({ method }) => method === "poke").length).toBe(new Set(names.map(clusterShardOf)).size);
      // All shards die; the next tick visits everybody.
      await abortAllDurableObjects();
      const after = (await tick("* * * * *", 4)).filter(({ object }) => object.startsWith("many-"));
      expect(new Set(after.map(({ object }) => object.split("/")[0])).size).toBe(MANY_BUSY);
    } finally {
      visits.mockRestore();
      await forgetWrites(bindings);
    }
  }, 120_000);
});
