/** The first write of a store that no quota was told to: whatever comes first and whoever dies, no quota that was acknowledged before is overrun. */
import { expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../src/api/registry/config-maps/definition";
import { resourceQuotasDefinition } from "../../../src/api/registry/resource-quotas/definition";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import type { WriteOptions, WriteResult } from "../../../src/api/rpc/store";
import { SimCluster } from "../../support/sim/cluster";
import { CLIENT } from "../../support/sim/platform/network";
import { type QuotaSabotage, SimQuotas } from "../../support/sim/quotas";

const OPTIONS: WriteOptions = { dryRun: false, fieldManager: "test", fieldValidation: "Strict", force: false, group: "", version: "v1" };
const QUOTA = { metadata: { name: "none", namespace: "default" }, spec: { hard: { configmaps: "0" } } };
const WHO = ["configmaps", "quotas", "repair"] as const;

interface Play {
  /** the ConfigMap is sent so long behind the quota; negative = before it */
  gapMs: number;
  death?: { who: readonly (typeof WHO)[number][]; ms: number };
  dryRun?: boolean;
  sabotage?: QuotaSabotage;
}

class World {
  readonly cluster = new SimCluster({ seed: 1, ranges: ["10.0.0.0/26"], families: ["IPv4"] });
  readonly quotas: SimQuotas;

  constructor(sabotage?: QuotaSabotage) {
    this.quotas = new SimQuotas(this.cluster, sabotage);
  }

  /** undefined = no answer came. */
  create(definition: ResourceDefinition, object: KubeObject, dryRun = false): Promise<WriteResult | undefined> {
    const request = { verb: "create", namespace: "default", object: JSON.stringify(object), options: { ...OPTIONS, dryRun } } as const;
    return this.cluster.network.call(CLIENT, this.quotas.store(definition), (store) => store.write(request)).catch(() => undefined);
  }

  limit(): Promise<WriteResult | undefined> {
    return this.create(resourceQuotasDefinition, QUOTA as KubeObject);
  }

  config(name: string, dryRun?: boolean): Promise<WriteResult | undefined> {
    return this.create(configMapsDefinition, { metadata: { name, namespace: "default" } }, dryRun);
  }

  crash(who: (typeof WHO)[number]): void {
    if (who === "repair") this.cluster.controllerNodes.repair.crash();
    else this.quotas.store(who === "quotas" ? resourceQuotasDefinition : configMapsDefinition).crash();
  }
}

/** What did not hold, and what became of the ConfigMap. */
async function play({ gapMs, death, dryRun, sabotage }: Play): Promise<{ wrong: string[]; met: string }> {
  const world = new World(sabotage);
  const { scheduler } = world.cluster;
  await scheduler.pass(10_000);
  const begun = scheduler.now;
  const wrong: string[] = [];
  let isLimited = false;
  const quota = async (): Promise<void> => void (isLimited = (await world.limit())?.ok ?? false);
  const config = async (name: string): Promise<string> => {
    const wasLimited = isLimited;
    const answer = await world.config(name, dryRun);
    if (wasLimited && answer?.ok) wrong.push(`${name} is made beyond a quota that was acknowledged before`);
    return answer ? (answer.ok ? "made" : String(answer.status.code)) : "no answer";
  };
  let met = "";
  scheduler.after(Math.max(0, -gapMs), () => void quota());
  scheduler.after(Math.max(0, gapMs), () => void config("first").then((outcome) => (met = outcome)));
  if (death) scheduler.after(death.ms, () => death.who.forEach((who) => world.crash(who)));
  await scheduler.pass(60_000);
  // What the quota's answer did not wait for, cron tells.
  if (!isLimited) isLimited = (await scheduler.run(world.limit()))?.ok ?? false;
  world.quotas.cron();
  await scheduler.pass(60_000);
  const late = await scheduler.run(config("late"));
  if (late !== "403") wrong.push(`a late ConfigMap: ${late}`);
  world.quotas.cron();
  await scheduler.pass(60_000);
  if (!dryRun) wrong.push(...world.quotas.atRest());
  const told = death ? `, ${death.who.join(" and ")} died after ${String(death.ms)} ms` : "";
  return { wrong: wrong.map((what) => `${String(gapMs)} ms behind${told}: ${what} (${String(scheduler.now - begun)} ms)`), met };
}

const GAPS = Array.from({ length: 41 }, (_, i) => 3 * (i - 20));

it("a quota and the first write of a store, at each distance: the write is refused or was first", async () => {
  const met = new Set<string>();
  for (const gapMs of GAPS) {
    const played = await play({ gapMs });
    expect(played.wrong).toEqual([]);
    met.add(played.met);
  }
  expect([...met].sort()).toEqual(["403", "made"]);
});

it.each(WHO.flatMap((who, i) => [[who], [who, WHO[(i + 1) % WHO.length] ?? who]]))(
  "deaths of %s %s at each moment between the two: no quota is overrun, and in the end the store has it",
  async (...who) => {
    for (const gapMs of [-20, -4, 0, 4, 20, 80])
      for (let ms = 0; ms < 100; ms += 4) expect((await play({ gapMs, death: { who, ms } })).wrong).toEqual([]);
  },
  120_000,
);

it("a dry run in a store that nobody used: is judged by the quota, and makes the store known to nobody", async () => {
  expect(await play({ gapMs: 5_000, dryRun: true })).toEqual({ wrong: [], met: "403" });
});

it("without the question before the first write: a quota is overrun", async () => {
  expect((await play({ gapMs: 5_000, sabotage: { isUnasked: true } })).wrong.join()).toContain("first is made beyond a quota");
});

it("the store of quotas does not answer: the first write is refused for now, and a later one is judged", async () => {
  const world = new World();
  const { scheduler } = world.cluster;
  await scheduler.pass(10_000);
  expect((await scheduler.run(world.limit()))?.ok).toBe(true);
  const { brain } = world.quotas.store(resourceQuotasDefinition);
  brain.limitsHeld = () => Promise.reject(new Error("down"));
  expect(await scheduler.run(world.config("a"))).toMatchObject({ ok: false, status: { code: 503, details: { retryAfterSeconds: 1 } } });
  brain.limitsHeld = () => Promise.resolve(false);
  expect(await scheduler.run(world.config("a"))).toMatchObject({ ok: false, status: { code: 503 } });
  Reflect.deleteProperty(brain, "limitsHeld");
  expect(await scheduler.run(world.config("a"))).toMatchObject({ ok: false, status: { code: 403 } });
});

it("a store that is brought back in time while the store of quotas is silent: begins above all the same", async () => {
  const world = new World();
  const { scheduler } = world.cluster;
  await scheduler.pass(10_000);
  await scheduler.run(world.config("a"));
  expect((await scheduler.run(world.limit()))?.ok).toBe(true);
  const { brain } = world.quotas.store(configMapsDefinition);
  world.quotas.store(resourceQuotasDefinition).brain.limitsHeld = () => Promise.reject(new Error("down"));
  const beginning = { head: brain.store.revision, asOf: scheduler.clock().now() };
  expect(await scheduler.run(brain.beginAbove(beginning))).toBeGreaterThan(beginning.head);
  expect(brain.store.revision).toBeGreaterThan(beginning.head);
});

it("no quota was ever made: the first write makes no store of quotas", async () => {
  const world = new World();
  const { scheduler } = world.cluster;
  await scheduler.pass(10_000);
  world.quotas.store(resourceQuotasDefinition).brain.limitsHeld = () => Promise.reject(new Error("nobody asks"));
  expect(await scheduler.run(world.config("a"))).toMatchObject({ ok: true });
});
