import { describe, expect, it } from "vitest";
import { configMapsDefinition } from "../../../../src/api/registry/config-maps/definition";
import { podsDefinition } from "../../../../src/api/registry/pods/definition";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import { resourceQuotasDefinition } from "../../../../src/api/registry/resource-quotas/definition";
import { limitsFor, limitsOf, usageRules } from "../../../../src/api/registry/resource-quotas/usage";
import type { ResourceQuota } from "../../../../src/api/meta/kubernetes";
import type { LimitedStore, QuotaMessage } from "../../../../src/api/rpc/quota";
import type { StoreExtension } from "../../../../src/api/store/extension";
import { QuotaGuard } from "../../../../src/api/store/quota-guard";
import type { HistoryBounds } from "../../../../src/api/store/revisions";
import { PUSH_WAIT_MS, QuotaPushes } from "../../../../src/controllers/quotas/quota-pushes";
import { MemoryQuotaStorage } from "../../../support/memory/quota-storage";
import { seededRandom } from "../../../support/sim/seeded-random";
import { SimScheduler } from "../../../support/sim/scheduler";
import { StoreWorld } from "../../../support/worlds/store-world";

const TARGETS = [configMapsDefinition, podsDefinition];
type Hard = Record<string, string>;

/** A store that counts; messages to it meet what the test says. */
class Target {
  readonly storage = new MemoryQuotaStorage();
  readonly messages: QuotaMessage[] = [];
  /** what happens to the next messages */
  fate: (message: QuotaMessage, take: () => number) => Promise<number> = (_, take) => Promise.resolve(take());

  constructor(readonly definition: ResourceDefinition) {}

  /** A new object on the same rows for each message: a restart loses nothing. */
  take(message: QuotaMessage): number {
    return this.#guard().take(structuredClone(message));
  }

  get limits(): Record<string, Hard> {
    return Object.fromEntries(this.storage.quotaLoad().map(({ key, hard }) => [key, hard]));
  }

  stub(): LimitedStore {
    return {
      takeQuotas: (message) => {
        this.messages.push(message);
        return this.fate(message, () => this.take(message));
      },
      quotaUsage: () => Promise.reject(new Error("nobody asks here")),
    };
  }

  #guard(): QuotaGuard {
    const rules = usageRules(this.definition);
    if (!rules) throw new Error("the resource is counted");
    const none = { objects: () => ({ objectScan: () => [] }), countIn: () => 0, counted: () => Promise.resolve() };
    return new QuotaGuard({ definition: this.definition, rules, storage: this.storage, ...none });
  }
}

class Quotas {
  readonly scheduler = new SimScheduler();
  readonly marks = new MemoryQuotaStorage();
  readonly targets = TARGETS.map((definition) => new Target(definition));
  readonly warnings: string[] = [];
  readonly world: StoreWorld;
  pushes!: QuotaPushes;

  constructor(historyBounds?: HistoryBounds) {
    this.restartPushes();
    const current = (): StoreExtension<undefined> => this.pushes.extension();
    let extension = current();
    const pushes = (): StoreExtension<undefined> => extension;
    this.renew = () => (extension = current());
    this.world = new StoreWorld({
      definition: resourceQuotasDefinition,
      scheduler: this.scheduler,
      extension: {
        committed: (change, operation) => pushes().committed?.(change, operation),
        settled: (operation) => pushes().settled?.(operation) ?? Promise.resolve(),
      },
      ...(historyBounds ? { historyBounds } : {}),
    });
  }

  renew: () => void;

  /** What the object remembers is gone; its rows are not. */
  restart(): void {
    this.restartPushes();
    this.renew();
    this.world.restart();
  }

  restartPushes(): void {
    this.pushes = new QuotaPushes({
      clock: this.scheduler.clock(),
      recorder: { log: (_, event) => this.warnings.push(event) },
      marks: this.marks,
      quotas: () => this.world.store,
      stores: () => this.targets.map((target) => ({ definition: target.definition, store: () => target.stub() })),
    });
  }

  put(name: string, hard: Hard, more: Partial<ResourceQuota["spec"]> = {}): Promise<{ ok: boolean }> {
    const quota: ResourceQuota = { metadata: { name, namespace: "ns" }, spec: { hard, ...more } };
    return this.world.stored(name) ? this.world.update(quota, { group: "" }) : this.world.create(quota, { group: "" });
  }

  maintain(): Promise<void> {
    return this.scheduler.run(this.pushes.push());
  }

  get expected(): Record<string, Hard>[] {
    const quotas = this.world.store.storage.objectScan("", "");
    return TARGETS.map((definition) => {
      const rules = usageRules(definition);
      const limits = [...quotas].flatMap(({ key, data }) => {
        const own = rules && limitsFor(rules, limitsOf(JSON.parse(data) as ResourceQuota));
        return own ? [[key, own] as const] : [];
      });
      return Object.fromEntries(limits);
    });
  }

  expectTold(note = ""): void {
    expect(
      this.targets.map(({ limits }) => limits),
      note,
    ).toEqual(this.expected);
  }
}

const lost = () => Promise.reject(new Error("the call was lost"));
const silent = () => new Promise<number>(() => undefined);

describe("what stores are told", () => {
  it("a quota: every store has its own part when the answer comes; a change and a deletion are told, too", async () => {
    const quotas = new Quotas();
    expect(await quotas.put("q", { pods: "1", "count/configmaps": "2", cpu: "3" })).toMatchObject({ ok: true });
    expect(quotas.targets.map(({ limits }) => limits)).toEqual([{ "ns/q": { "count/configmaps": "2" } }, { "ns/q": { pods: "1" } }]);
    await quotas.put("q", { pods: "5" });
    expect(quotas.targets.map(({ limits }) => limits)).toEqual([{}, { "ns/q": { pods: "5" } }]);
    await quotas.world.delete("q");
    quotas.expectTold();
    expect(quotas.targets[1]?.messages).toHaveLength(3);
  });

  it("a quota with scopes: limits nothing", async () => {
    const quotas = new Quotas();
    await quotas.put("q", { pods: "1" }, { scopes: ["Terminating"] });
    await quotas.put("r", { pods: "1" }, { scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "Exists" }] } });
    expect(quotas.targets.map(({ limits }) => limits)).toEqual([{}, {}]);
  });

  it("a write of the status: nobody is told", async () => {
    const quotas = new Quotas();
    await quotas.put("q", { pods: "1" });
    const told = quotas.targets.map(({ messages }) => messages.length);
    await quotas.world.update(
      { ...quotas.world.stored<ResourceQuota>("q"), status: { used: { pods: "1" } } } as ResourceQuota,
      { group: "" },
      "status",
    );
    await quotas.maintain();
    expect(quotas.targets.map(({ messages }) => messages.length)).toEqual(told);
  });
});

describe("stores that miss a message", () => {
  it.each([
    ["a lost call", lost],
    ["a call without an answer", silent],
  ])("%s: the client is answered soon, the others have it, and cron tells the store after a restart", async (_, fate) => {
    const quotas = new Quotas();
    const [first, second] = quotas.targets;
    if (!first || !second) throw new Error("two stores");
    first.fate = fate;
    const began = quotas.scheduler.now;
    expect(await quotas.put("q", { configmaps: "1", pods: "1" })).toMatchObject({ ok: true });
    expect(quotas.scheduler.now - began).toBeLessThanOrEqual(PUSH_WAIT_MS);
    expect(second.limits).toEqual({ "ns/q": { pods: "1" } });
    quotas.restart();
    first.fate = (__, take) => Promise.resolve(take());
    await quotas.maintain();
    quotas.expectTold();
  });

  it("a call whose answer was lost: is told again, and changes nothing", async () => {
    const quotas = new Quotas();
    const [first] = quotas.targets;
    if (!first) throw new Error("a store");
    first.fate = (_, take) => (take(), lost());
    await quotas.put("q", { configmaps: "1" });
    first.fate = (_, take) => Promise.resolve(take());
    await quotas.maintain();
    quotas.expectTold();
    expect(quotas.warnings).toHaveLength(1);
  });

  it("a history that no longer reaches back: all quotas are told", async () => {
    const quotas = new Quotas({ entriesMax: 3, sizeMax: 1_000_000, trimEntries: 1 });
    const [first] = quotas.targets;
    if (!first) throw new Error("a store");
    await quotas.put("gone", { configmaps: "1" });
    first.fate = lost;
    await quotas.world.delete("gone");
    for (let i = 0; i < 8; i++) await quotas.put(`q${i}`, { configmaps: String(i) });
    first.fate = (_, take) => Promise.resolve(take());
    await quotas.maintain();
    quotas.expectTold();
    expect(first.messages.at(-1)?.since).toBeNull();
  });

  it("a store that lost its rows: all quotas are told with the next change", async () => {
    const quotas = new Quotas();
    await quotas.put("q", { configmaps: "1" });
    quotas.targets[0] = new Target(configMapsDefinition);
    await quotas.put("r", { configmaps: "2" });
    quotas.expectTold();
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "random changes, lost, late and doubled messages, restarts (seed %i): in the end all have the limits",
    async (seed) => {
      const random = seededRandom(seed);
      const quotas = new Quotas({ entriesMax: 12, sizeMax: 1_000_000, trimEntries: 3 });
      const late: (() => number)[] = [];
      for (const target of quotas.targets) {
        target.fate = (_, take) => {
          switch (random.below(6)) {
            case 0:
              return lost();
            case 1:
              return (take(), lost());
            case 2:
              late.push(take);
              return lost();
            case 3:
              late.push(take);
              return Promise.resolve(take());
            default:
              return Promise.resolve(take());
          }
        };
      }
      for (let step = 0; step < 120; step++) {
        const name = `q${random.below(4)}`;
        if (random.below(4) === 0) await quotas.world.delete(name);
        else
          await quotas.put(name, {
            [random.below(2) ? "pods" : "configmaps"]: String(random.below(3)),
            ...(random.below(3) ? {} : { "count/pods": "7" }),
          });
        if (late.length > 0 && random.below(5) === 0) late.splice(random.below(late.length), 1)[0]?.();
        if (random.below(15) === 0) quotas.restart();
        if (random.below(10) === 0) await quotas.maintain();
      }
      for (const target of quotas.targets) target.fate = (_, take) => Promise.resolve(take());
      await quotas.maintain();
      for (const take of late) take();
      quotas.expectTold(`seed ${seed}`);
    },
  );
});
