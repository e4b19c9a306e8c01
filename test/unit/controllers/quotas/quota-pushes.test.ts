import { describe, expect, it } from "vitest";
import { configMapsDefinition } from "../../../../src/api/registry/config-maps/definition";
import { podsDefinition } from "../../../../src/api/registry/pods/definition";
import { qualifiedResource } from "../../../../src/api/meta/status";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import { resourceQuotasDefinition } from "../../../../src/api/registry/resource-quotas/definition";
import { limitsFor, limitsOf, usageRules } from "../../../../src/api/registry/resource-quotas/usage";
import type { ResourceQuota } from "../../../../src/api/meta/kubernetes";
import type { HeldLimits, LimitedStore, QuotaMessage } from "../../../../src/api/rpc/quota";
import type { StoreExtension } from "../../../../src/api/store/state/extension";
import { QuotaGuard } from "../../../../src/api/store/quota/quota-guard";
import type { HistoryBounds } from "../../../../src/api/store/state/revisions";
import { RPC_TIMEOUT_MS } from "../../../../src/core/base/limits";
import { PUSH_WAIT_MS, QuotaPushes } from "../../../../src/controllers/quotas/quota-pushes";
import { MemoryQuotaStorage } from "../../../support/memory/quota-storage";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { firstSeeds, itOfSeeds } from "../../../support/sim/platform/seeds";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { StoreWorld, WRITE } from "../../../support/worlds/store-world";

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

  /** What it would say of itself. */
  get held(): HeldLimits {
    return { resource: qualifiedResource(this.definition), ...this.#guard().held };
  }

  /** Another object with the same rows, as point-in-time recovery brings it back later. */
  copy(): Target {
    const copy = new Target(this.definition);
    const progress = this.storage.quotaProgress();
    if (progress) copy.storage.quotaProgressSave(progress);
    for (const { key, hard } of this.storage.quotaLoad()) copy.storage.quotaPut(key, hard);
    copy.fate = this.fate;
    return copy;
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
      quotaReport: () => Promise.reject(new Error("nobody asks here")),
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
  /** names of stores that the list does not know as used */
  readonly unused = new Set<string>();
  /** about which stores the list was asked */
  readonly asked: string[] = [];
  /** Objects that begin alike go different ways. */
  way = "both";
  #states = 0;
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
      random: { uuid: () => `${this.way} ${this.#states++}` },
      recorder: { log: (_, event) => this.warnings.push(event) },
      marks: this.marks,
      quotas: () => this.world.store,
      stores: () => this.targets.map((target) => ({ definition: target.definition, store: () => target.stub() })),
      isUnused: (name) => (this.asked.push(name), Promise.resolve(this.unused.has(name))),
    });
  }

  put(name: string, hard: Hard, more: Partial<ResourceQuota["spec"]> = {}): Promise<{ ok: boolean }> {
    const quota: ResourceQuota = { metadata: { name, namespace: "ns" }, spec: { hard, ...more } };
    return this.world.stored(name) ? this.world.update(quota, { group: "" }) : this.world.create(quota, { group: "" });
  }

  maintain(): Promise<void> {
    return this.scheduler.run(this.pushes.push());
  }

  /** Stores say what they hold. */
  report(): Promise<boolean> {
    return this.scheduler.run(this.pushes.compare(this.targets.map(({ held }) => held)));
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

describe("stores that nobody ever used", () => {
  it("a quota: is not told to them, and is told when the list has them; afterwards the list is not asked", async () => {
    const quotas = new Quotas();
    const [first, second] = quotas.targets;
    if (!first || !second) throw new Error("two stores");
    quotas.unused.add("configmaps");
    await quotas.put("q", { pods: "1", configmaps: "2" });
    expect([first.messages, second.limits]).toEqual([[], { "ns/q": { pods: "1" } }]);
    await quotas.maintain();
    expect(first.messages).toEqual([]);
    quotas.unused.clear();
    await quotas.maintain();
    quotas.expectTold();
    quotas.asked.splice(0);
    await quotas.put("q", { pods: "3", configmaps: "4" });
    quotas.expectTold();
    expect(quotas.asked).toEqual([]);
  });

  it("one that asks before its first write: has the limits when the answer comes, even of a list that does not know it", async () => {
    const quotas = new Quotas();
    const [first] = quotas.targets;
    if (!first) throw new Error("a store");
    quotas.unused.add("configmaps");
    expect(await quotas.scheduler.run(quotas.pushes.compare([first.held])), "without a quota").toBe(true);
    await quotas.put("q", { configmaps: "2" });
    expect(first.messages).toEqual([]);
    expect(await quotas.scheduler.run(quotas.pushes.compare([first.held]))).toBe(true);
    quotas.expectTold();
    quotas.restart();
    await quotas.put("q", { configmaps: "3" });
    quotas.expectTold();
  });

  it("one that asks and cannot be told: hears that it is not, and waits for no other store", async () => {
    const quotas = new Quotas();
    const [first, second] = quotas.targets;
    if (!first || !second) throw new Error("two stores");
    [first.fate, second.fate] = [lost, silent];
    await quotas.put("q", { configmaps: "2", pods: "1" });
    const began = quotas.scheduler.now;
    expect(await quotas.scheduler.run(quotas.pushes.compare([first.held]))).toBe(false);
    first.fate = (_, take) => Promise.resolve(take());
    expect(await quotas.scheduler.run(quotas.pushes.compare([first.held]))).toBe(true);
    expect(quotas.scheduler.now - began).toBeLessThan(RPC_TIMEOUT_MS);
    expect(first.limits).toEqual(quotas.expected[0]);
  });

  it("one that asks while quotas go on changing: it has what there was when it asked, and later ones come by themselves", async () => {
    const quotas = new Quotas();
    const [first] = quotas.targets;
    if (!first) throw new Error("a store");
    quotas.unused.add("configmaps");
    await quotas.put("q", { configmaps: "2" });
    const changed = quotas.marks.markGet("");
    let later: Promise<unknown> | undefined;
    first.fate = async (_, take) => {
      // The message after the first one is on its way while the first is answered.
      if (later) await new Promise<void>((resolve) => void quotas.scheduler.clock().after(100, resolve));
      const through = take();
      later ??= quotas.put("r", { configmaps: "1" });
      while (quotas.marks.markGet("") === changed) await quotas.scheduler.clock().nextTurn();
      return through;
    };
    expect(await quotas.scheduler.run(quotas.pushes.compare([first.held]))).toBe(true);
    expect(quotas.marks.markGet("")).toBeGreaterThan(changed);
    await later;
    expect(first.limits).toEqual(quotas.expected[0]);
  });

  it("a store that was told while this one was ahead, which is brought back: one that was never told is not taken for used", async () => {
    const quotas = new Quotas();
    const [first, second] = quotas.targets;
    if (!first || !second) throw new Error("two stores");
    quotas.unused.add("configmaps");
    await quotas.put("q", { configmaps: "2", pods: "1" });
    const ahead = { ...second.held, through: second.held.through + 100 };
    expect(await quotas.scheduler.run(quotas.pushes.compare([ahead]))).toBe(true);
    expect(first.messages).toEqual([]);
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

  it("what stores say agrees: nobody is told", async () => {
    const quotas = new Quotas();
    await quotas.report();
    await quotas.put("q", { configmaps: "1" });
    const told = quotas.targets.map(({ messages }) => messages.length);
    await quotas.report();
    expect(quotas.targets.map(({ messages }) => messages.length)).toEqual(told);
  });

  it.each([
    ["then it knew fewer quotas", (target: Target) => target.copy()],
    ["then it knew none", (target: Target) => new Target(target.definition)],
  ])("a store is brought back in time, and %s: it is told when it says so", async (_, before) => {
    const quotas = new Quotas();
    await quotas.put("q", { configmaps: "1" });
    const [first] = quotas.targets;
    if (!first) throw new Error("a store");
    const old = before(first);
    await quotas.put("q", { configmaps: "2" });
    await quotas.put("r", { configmaps: "3" });
    quotas.targets[0] = old;
    await quotas.maintain();
    expect(old.limits).not.toEqual(quotas.expected[0]);
    await quotas.report();
    quotas.expectTold();
  });

  itOfSeeds(
    "random changes, lost, late and doubled messages, restarts (seed %i): in the end all have the limits",
    { fixed: firstSeeds(8), further: 3 },
    async (seed) => {
      const random = seededRandom(seed);
      const quotas = new Quotas({ entriesMax: 12, sizeMax: 1_000_000, trimEntries: 3 });
      const late: (() => number)[] = [];
      const past: Target[] = [];
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
        if (random.below(20) === 0) past.push(...quotas.targets.map((target) => target.copy()));
        if (random.below(40) === 0) {
          const [back] = past.splice(0, 1);
          if (back) quotas.targets[quotas.targets.findIndex(({ definition }) => definition === back.definition)] = back;
        }
        if (random.below(10) === 0) await quotas.maintain();
      }
      for (const target of quotas.targets) target.fate = (_, take) => Promise.resolve(take());
      await quotas.maintain();
      for (const take of late) take();
      await quotas.report();
      quotas.expectTold(`seed ${seed}`);
    },
  );
});

describe("the store of quotas is brought back in time", () => {
  /** Each seed gives equal objects: one has lost what the other went on with. Stores know the future that was lost. */
  async function broughtBack(lost: (quotas: Quotas) => Promise<unknown>, kept: (quotas: Quotas) => Promise<unknown>): Promise<Quotas> {
    const [future, quotas] = [new Quotas(), new Quotas()];
    await kept(future);
    await kept(quotas);
    [future.way, quotas.way] = ["lost", "kept"];
    await lost(future);
    expect(future.world.store.incarnation).toBe(quotas.world.store.incarnation);
    quotas.targets.splice(0, TARGETS.length, ...future.targets);
    expect(quotas.targets.map(({ limits }) => limits)).not.toEqual(quotas.expected);
    return quotas;
  }
  const nothing = () => Promise.resolve();
  const one = (quotas: Quotas) => quotas.put("q", { configmaps: "1", pods: "1" });
  const another = (quotas: Quotas) => quotas.put("r", { configmaps: "2", pods: "2" });

  it("nothing is written since: stores that say what they hold are told, also if there are no quotas any more", async () => {
    for (const kept of [one, nothing]) {
      const quotas = await broughtBack(another, kept);
      await quotas.report();
      quotas.expectTold();
      await quotas.put("s", { configmaps: "3", pods: "3" });
      quotas.expectTold();
    }
  });

  it.each([0, 1, 2, 3])("%i changes more than were lost, or fewer: the first one tells all stores", async (count) => {
    const quotas = await broughtBack(async (future) => {
      for (const name of ["x", "y"]) await future.put(name, { configmaps: "7", pods: "7" });
    }, one);
    for (let i = 0; i < count; i++) await quotas.put(`s${i}`, { configmaps: "3", pods: "3" });
    if (count === 0) await quotas.report();
    quotas.expectTold();
  });

  it("changes that no store hears of, as many as were lost: told when stores are there again", async () => {
    for (const count of [1, 2, 3]) {
      const quotas = await broughtBack(async (future) => {
        for (const name of ["x", "y"]) await future.put(name, { configmaps: "7", pods: "7" });
      }, one);
      for (const target of quotas.targets) target.fate = lost;
      for (let i = 0; i < count; i++) await quotas.put(`s${i}`, { configmaps: "3", pods: "3" });
      for (const target of quotas.targets) target.fate = (_, take) => Promise.resolve(take());
      await quotas.maintain();
      quotas.expectTold(`${count} changes`);
    }
  });

  it("it has caught up before a store answers that it is ahead: the store is told all", async () => {
    const quotas = await broughtBack(async (future) => {
      for (const name of ["x", "y"]) await future.put(name, { configmaps: "7" });
    }, one);
    const [first] = quotas.targets;
    if (!first) throw new Error("a store");
    first.fate = async ({ since }, take) => {
      if (since !== null) return take();
      first.fate = (__, again) => Promise.resolve(again());
      const answer = take();
      for (const used of ["1", "2"]) {
        const object = JSON.stringify({ ...quotas.world.stored<ResourceQuota>("q"), status: { used: { pods: used } } });
        const key = { namespace: "ns", name: "q" };
        await quotas.world.store.write({ verb: "update", key, subresource: "status", object, options: { ...WRITE, group: "" } });
      }
      return answer;
    };
    await quotas.put("r", { configmaps: "2" });
    await quotas.maintain();
    quotas.expectTold();
  });

  it("a message of the lost time comes late, with the number of what was written since: the store is told again", async () => {
    const quotas = await broughtBack(another, one);
    const late = quotas.targets.map(({ messages }) => messages.at(-1));
    await quotas.put("s", { configmaps: "3", pods: "3" });
    quotas.targets.forEach((target, i) => {
      const message = late[i];
      if (message) target.take({ ...message, since: null });
    });
    expect(quotas.targets.map(({ limits }) => limits)).not.toEqual(quotas.expected);
    await quotas.report();
    quotas.expectTold();
  });

  it("a store is brought back, too, to a time that was lost and counts alike: the store is told again", async () => {
    const quotas = await broughtBack(another, one);
    const then = quotas.targets.map((target) => target.copy());
    await quotas.put("s", { configmaps: "3", pods: "3" });
    quotas.targets.splice(0, TARGETS.length, ...then);
    await quotas.report();
    quotas.expectTold();
  });

  it("its status is written until it is ahead: stores that say what they hold are told", async () => {
    const quotas = await broughtBack(another, one);
    for (const used of ["1", "2", "3"]) {
      const stored = quotas.world.stored<ResourceQuota>("q");
      await quotas.world.update({ ...stored, status: { used: { pods: used } } } as ResourceQuota, { group: "" }, "status");
    }
    await quotas.report();
    quotas.expectTold();
  });
});
