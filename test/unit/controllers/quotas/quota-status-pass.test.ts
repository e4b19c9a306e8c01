import { describe, expect, it } from "vitest";
import { configMapsDefinition } from "../../../../src/api/registry/config-maps/definition";
import { eventsDefinition } from "../../../../src/api/registry/events/definition";
import { podsDefinition } from "../../../../src/api/registry/pods/definition";
import { resourceQuotasDefinition } from "../../../../src/api/registry/resource-quotas/definition";
import type { ResourceQuota } from "../../../../src/api/meta/kubernetes";
import type { HeldLimits, UsageQuestion } from "../../../../src/api/rpc/quota";
import { ObjectFeedReader } from "../../../../src/api/store/feeds/object-feed-reader";
import { quotaStatusPass } from "../../../../src/controllers/quotas/quota-status-pass";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { StoreWorld } from "../../../support/worlds/store-world";

class World {
  readonly scheduler = new SimScheduler();
  readonly store = new StoreWorld({ definition: resourceQuotasDefinition, scheduler: this.scheduler });
  readonly asked: Record<string, UsageQuestion[][]> = {};
  readonly amounts: Record<string, number> = {};
  /** what the store of quotas is told of the limits that stores hold */
  readonly heard: HeldLimits[][] = [];
  broken = "";
  /** the store that nobody ever used */
  unused = "";
  /** The stores run the release before. */
  isOlder = false;

  readonly #pass = quotaStatusPass({
    clock: this.scheduler.clock(),
    recorder: { log: () => undefined },
    quotas: () => ({
      objectsAfter: (after, limit) => Promise.resolve(new ObjectFeedReader(this.store.store).objectsAfter(after, limit)),
      write: (request) => this.store.store.write(request),
      limitsHeld: (held) => (
        this.heard.push(held),
        this.broken === "quotas" ? Promise.reject(new Error("no answer")) : Promise.resolve(true)
      ),
    }),
    isUnused: (name) => Promise.resolve(name === this.unused),
    stores: [configMapsDefinition, podsDefinition, eventsDefinition].map((definition) => ({
      definition,
      store: () => ({
        quotaUsage: (questions) => Promise.resolve(this.#amountsOf(questions)),
        quotaReport: (questions) => {
          (this.asked[definition.resource] ??= []).push(questions);
          if (this.broken === definition.resource) return Promise.reject(new Error("no answer"));
          if (this.isOlder) return Promise.reject(new TypeError('The RPC receiver does not implement the method "quotaReport".'));
          const amounts = this.#amountsOf(questions);
          return Promise.resolve({ amounts, held: { source: "quotas", through: this.amounts[definition.resource] ?? 0 } });
        },
      }),
    })),
  });

  #amountsOf(questions: readonly UsageQuestion[]): number[][] {
    return questions.map(({ names }) => names.map((name) => this.amounts[name] ?? 0));
  }

  async pass(): Promise<{ left: boolean }> {
    const { left } = await this.scheduler.run(this.#pass(true));
    return { left };
  }

  async put(name: string, spec: ResourceQuota["spec"], namespace = "ns"): Promise<void> {
    expect(await this.store.create({ metadata: { name, namespace }, spec } as ResourceQuota, { group: "" })).toMatchObject({ ok: true });
  }

  status(name: string): ResourceQuota["status"] {
    return this.store.stored<ResourceQuota>(name)?.status;
  }
}

describe("the status of quotas", () => {
  it("limits and used amounts: written once, then only when they change; each store is asked once for all namespaces", async () => {
    const world = new World();
    await world.put("q", { hard: { pods: "5", "count/configmaps": "2", "count/events": "1", cpu: "1" } });
    await world.put("r", { hard: { pods: "7" } }, "other");
    world.amounts.pods = 3;
    expect(await world.pass()).toEqual({ left: false });
    const used = { "count/configmaps": "0", pods: "3" };
    expect(world.status("q")).toEqual({ hard: { pods: "5", "count/configmaps": "2", "count/events": "1", cpu: "1" }, used });
    const { revision } = world.store.store;
    await world.pass();
    expect(world.store.store.revision).toBe(revision);
    world.amounts.pods = 4;
    await world.pass();
    expect(world.store.store.revision).toBe(revision + 2);
    expect(world.asked.pods?.[0]).toEqual([
      { namespace: "ns", names: ["pods"] },
      { namespace: "other", names: ["pods"] },
    ]);
    expect(world.asked.events).toBeUndefined();
  });

  it("a store that nobody ever used: is not asked, and uses nothing", async () => {
    const world = new World();
    await world.put("q", { hard: { pods: "5", "count/configmaps": "2" } });
    world.unused = "configmaps";
    world.amounts.pods = 3;
    world.amounts["count/configmaps"] = 9;
    expect(await world.pass()).toEqual({ left: false });
    expect(world.status("q")?.used).toEqual({ "count/configmaps": "0", pods: "3" });
    expect([world.asked.configmaps, world.heard.flat().map(({ resource }) => resource)]).toEqual([undefined, ["pods"]]);
  });

  it("what nobody here counts: keeps what is said of it; a quota with scopes has limits and nothing used", async () => {
    const world = new World();
    await world.put("q", { hard: { cpu: "4", memory: "1Gi" } });
    const stored = world.store.stored<ResourceQuota>("q");
    await world.store.update({ ...stored, status: { used: { cpu: "2", "requests.cpu": "1" } } } as ResourceQuota, { group: "" }, "status");
    await world.put("scoped", { hard: { pods: "1" }, scopes: ["BestEffort"] });
    expect(await world.pass()).toEqual({ left: false });
    expect(world.status("q")).toEqual({ hard: { cpu: "4", memory: "1Gi" }, used: { cpu: "2" } });
    expect(world.status("scoped")).toEqual({ hard: { pods: "1" }, used: {} });
    expect(world.asked).toEqual({});
  });

  it("limits that stores hold: the store of quotas hears of those that say so; the status is written although it does not answer", async () => {
    const world = new World();
    await world.put("q", { hard: { pods: "5", "count/configmaps": "2" } });
    world.amounts.pods = 3;
    world.broken = "configmaps";
    await world.pass();
    expect(world.heard).toEqual([[{ resource: "pods", source: "quotas", through: 3 }]]);
    world.amounts.pods = 4;
    world.broken = "quotas";
    expect(await world.pass()).toEqual({ left: true });
    expect(world.status("q")?.used).toMatchObject({ pods: "4" });
  });

  it("stores of a release that does not say what they hold: used amounts are right, and the store of quotas hears nothing", async () => {
    const world = new World();
    await world.put("q", { hard: { pods: "5", "count/configmaps": "2" } });
    world.amounts.pods = 3;
    world.isOlder = true;
    expect(await world.pass()).toEqual({ left: false });
    expect(world.status("q")?.used).toEqual({ "count/configmaps": "0", pods: "3" });
    expect(world.heard).toEqual([]);
  });

  it("a store without an answer: the others count, its amounts stay, and the pass is repeated", async () => {
    const world = new World();
    await world.put("q", { hard: { pods: "5", "count/configmaps": "2" } });
    world.amounts.pods = 1;
    await world.pass();
    world.broken = "pods";
    world.amounts["count/configmaps"] = 2;
    expect(await world.pass()).toEqual({ left: true });
    expect(world.status("q")?.used).toEqual({ "count/configmaps": "2", pods: "1" });
  });

  it("limits that are taken back: the status is emptied; a quota that never had any is left alone", async () => {
    const world = new World();
    await world.put("q", { hard: { cpu: "1" } });
    await world.put("none", { scopes: ["BestEffort"] });
    await world.pass();
    const { revision } = world.store.store;
    await world.store.update({ metadata: { name: "q", namespace: "ns" }, spec: {} } as ResourceQuota, { group: "" });
    await world.pass();
    expect([world.status("q"), world.status("none")]).toEqual([{ hard: {}, used: {} }, {}]);
    expect(world.store.store.revision).toBe(revision + 2);
  });

  it("no quota: nobody is asked", async () => {
    const world = new World();
    expect(await world.pass()).toEqual({ left: false });
    expect(world.asked).toEqual({});
  });
});
