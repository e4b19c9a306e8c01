/** What a tick of each cron, and a probe, costs in the end: calls to objects, those included that an object makes because it was called or poked. */
import {
  abortAllDurableObjects,
  createExecutionContext,
  createScheduledController,
  env,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import { servicesStore, recordedObject } from "../../../durable-objects/peers/peers";
import { clusterObjects } from "../../../src/tenancy/cluster-objects";
import { busyKey, busyPrefix, directoryKey } from "../../../src/tenancy/directory-keys";
import { HOOKS } from "../../../src/worker/system/start-hooks";
import worker from "../../../src/worker/index";
import { type Call, countedCalls } from "../../support/objects/counted-calls";
import { isRelease } from "../../support/objects/is-release";
import { createRequest, WRITE } from "../../support/worlds/store-world";

const bindings = env as unknown as Env;
/** With how many rounds through all clusters an idle one has had everything of the job, and whether the job visits one that is busy. */
const CRONS = [
  { cron: "* * * * *", job: "maintain", rounds: 8, visitsBusy: true },
  { cron: "*/5 * * * *", job: "topology", rounds: 1, visitsBusy: false },
  { cron: "0 * * * *", job: "compact", rounds: 2, visitsBusy: true },
] as const;
const IDLE = isRelease ? 2_000 : 300;
const CALLS_MAX = 20;
/** The garbage collector asks every store what has changed. */
const COLLECTOR_CALLS_MAX = 28;
const BUSY = "work";
/** Before every other name in the directory's order: objects of other tests, in the same runtime, may note their clusters there, too. */
const IDLE_PREFIX = "0-idle-";
const nameOf = (i: number): string => `${IDLE_PREFIX}${String(i).padStart(4, "0")}`;

async function cluster(name: string): Promise<void> {
  const services = servicesStore(bindings, name);
  await services.ensureBootstrapped();
  for (let i = 0; i < 5; i++) {
    const object = { metadata: { namespace: "default", name: `web-${i}` }, spec: { ports: [{ port: 80 }] } };
    expect(await services.write(createRequest(object, { ...WRITE, group: "" }))).toMatchObject({ ok: true });
  }
}

async function noteBusy(name: string): Promise<void> {
  for (const rhythm of ["minute", "hour"] as const) await bindings.DIRECTORY.put(busyKey(rhythm, name), "");
}

/** Nobody has written for long. */
async function forgetNotes(): Promise<void> {
  for (const rhythm of ["minute", "hour"] as const) {
    const { keys } = await bindings.DIRECTORY.list({ prefix: busyPrefix(rhythm) });
    await Promise.all(keys.map(({ name }) => bindings.DIRECTORY.delete(name)));
  }
}

/** Whatever still waits for its time in these clusters is done now. Owners have no alarms. */
async function ringAlarms(clusters: readonly string[]): Promise<void> {
  for (const cluster of clusters) {
    for (const object of clusterObjects(CONTROLLERS.names)) {
      const stub = recordedObject(bindings, cluster, object) as unknown as DurableObjectStub;
      await runDurableObjectAlarm(stub);
    }
  }
}

/** As after hours in which nobody asked for anything: the sweep's next slice is due, and all objects have been put to sleep. */
async function rest(name: string): Promise<void> {
  await runInDurableObject(bindings.CONTROLLER.getByName(`${name}/controllers/repair`), (_, { storage }) => {
    expect(storage.sql.exec("UPDATE repair_marks SET value = 0 WHERE name = 'slicedAt'").rowsWritten).toBeGreaterThan(0);
  });
  await abortAllDurableObjects();
}

/** When identity Leases are collected, too. */
const FULL_HOUR = new Date(Date.UTC(2026, 0, 1));

const tick = (cron: string): Promise<Call[]> =>
  countedCalls(() => worker.scheduled(createScheduledController({ cron, scheduledTime: FULL_HOUR }), bindings, createExecutionContext()));
const ofBusy = ({ object }: Call): boolean => object.startsWith(`${BUSY}/`);
/** Objects of other tests, in the same runtime, go on with their own work when they have been put to sleep. */
const ofIdle = ({ object }: Call): boolean => object.startsWith(IDLE_PREFIX);
const told = (calls: readonly Call[]): string => calls.map(({ object, method }) => `${object} ${method}`).join("\n");

describe(`with ${String(IDLE)} idle clusters and one that is busy`, () => {
  it(`a tick: at most ${String(CALLS_MAX)} calls to objects (garbage collection ${String(COLLECTOR_CALLS_MAX)}) besides those of the busy cluster, nested ones counted; a probe: as many at rest, none in a cluster that nobody has used`, async () => {
    await Promise.all(Array.from({ length: IDLE }, (_, i) => bindings.DIRECTORY.put(directoryKey(nameOf(i)), "{}")));
    // The first one in the directory's order is the one that is visited here. It has been busy, too.
    const real = [BUSY, nameOf(0)];
    await countedCalls(() => Promise.all(real.map(cluster)));
    for (const name of real) await noteBusy(name);
    await tick("* * * * *");
    await ringAlarms(real);
    await countedCalls(() => Promise.resolve());
    for (const { cron, job, rounds, visitsBusy } of CRONS) {
      for (let run = 0; run < rounds; run++) {
        await bindings.DIRECTORY.put(`cron/cursor/${job}/all`, `${String(run)} `);
        await rest(nameOf(0));
        // Objects of other tests may have noted theirs, too.
        await forgetNotes();
        await noteBusy(BUSY);
        const calls = await tick(cron);
        const idle = calls.filter(ofIdle);
        expect(idle.length, cron).toBeGreaterThan(0);
        expect(calls.some(ofBusy), cron).toBe(visitsBusy);
        expect(new Set(idle.map(({ object }) => object.split("/")[0])).size, told(idle)).toBeLessThanOrEqual(1);
        const isCollector = idle.some(({ object }) => object.endsWith("/garbage-collection"));
        const max = isCollector ? COLLECTOR_CALLS_MAX : CALLS_MAX;
        expect(idle.length, `${cron}, run ${String(run)}\n${told(idle)}`).toBeLessThanOrEqual(max);
      }
    }
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
});
