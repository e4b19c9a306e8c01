import { describe, expect, it } from "vitest";
import { configMapsDefinition } from "../../../../../src/api/registry/config-maps/definition";
import { podsDefinition } from "../../../../../src/api/registry/pods/definition";
import type { ResourceDefinition } from "../../../../../src/api/registry/resource";
import { usageRules } from "../../../../../src/api/registry/resource-quotas/usage";
import { servicesDefinition } from "../../../../../src/api/registry/services/definition";
import type { KubeObject } from "../../../../../src/api/meta/kubernetes";
import type { QuotaMessage } from "../../../../../src/api/rpc/quota";
import { limited } from "../../../../../src/api/store/quota/limited";
import { QuotaGuard } from "../../../../../src/api/store/quota/quota-guard";
import { NOTHING_COUNTED } from "../../../../../src/api/store/state/store-storage";
import { MemoryQuotaStorage } from "../../../../support/memory/quota-storage";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";
import { createRequest, StoreWorld, WRITE } from "../../../../support/worlds/store-world";

type Hard = Record<string, string>;

/** A store with a guard whose quotas the test tells. */
class Limited {
  readonly quotas = new MemoryQuotaStorage();
  readonly scheduler = new SimScheduler();
  reports = 0;
  /** turns of which cron heard */
  noted = 0;
  readonly world: StoreWorld;
  readonly guard: QuotaGuard;
  #revision = 0;

  constructor(readonly definition: ResourceDefinition) {
    const rules = usageRules(definition);
    if (!rules) throw new Error("the resource is counted");
    this.guard = new QuotaGuard({
      ...{ definition, rules, storage: this.quotas },
      objects: () => this.world.store.storage,
      countIn: (namespace) => this.world.store.countIn(namespace),
      counted: () => this.world.store.counted(),
    });
    const ports = {
      clock: this.scheduler.clock(),
      guard: this.guard,
      usageChanged: () => void this.reports++,
      noteBusy: () => void this.noted++,
    };
    this.world = new StoreWorld({ definition, scheduler: this.scheduler, extension: limited(ports, {}) });
  }

  limit(hard: Hard | null, name = "q", namespace = "ns"): void {
    const since = this.#revision++;
    this.take({ since: since === 0 ? null : since, through: this.#revision, quotas: [{ key: `${namespace}/${name}`, hard }] });
  }

  take(message: Omit<QuotaMessage, "source">, source = "quotas"): number {
    return this.guard.take({ source, ...message });
  }

  /** The answer's code, and the message of a refusal. */
  async create(object: KubeObject, dryRun = false): Promise<string> {
    const result = await this.world.create(object, { dryRun, group: "" });
    return result.ok ? "201" : `${result.status.code ?? 0} ${result.status.message ?? ""}`;
  }
}

const inNs = (name: string, more: object = {}, namespace = "ns"): KubeObject => ({ metadata: { name, namespace }, ...more });
const exceeded = (resource: string, name: string, amounts: string, quota = "q") =>
  `403 ${resource} "${name}" is forbidden: exceeded quota: ${quota}, ${amounts}`;
const one = (name: string, used: number, limit: string | number) =>
  `requested: ${name}=1, used: ${name}=${used}, limited: ${name}=${limit}`;

describe("numbers of objects", () => {
  it("creates at the limit: refused in upstream's words, in this namespace alone; a deletion makes room", async () => {
    const store = new Limited(configMapsDefinition);
    store.limit({ configmaps: "2" });
    for (const name of ["a", "b"]) expect(await store.create(inNs(name))).toBe("201");
    expect(await store.create(inNs("c"))).toBe(exceeded("configmaps", "c", one("configmaps", 2, 2)));
    expect(await store.create(inNs("c", {}, "other"))).toBe("201");
    expect(await store.world.update({ ...inNs("a"), data: { a: "b" } } as KubeObject, { group: "" })).toMatchObject({ ok: true });
    await store.world.delete("a");
    expect(await store.create(inNs("c"))).toBe("201");
    expect(await store.create(inNs("d"))).toBe(exceeded("configmaps", "d", one("configmaps", 2, 2)));
  });

  it("creates of one turn: never one too many", async () => {
    const store = new Limited(configMapsDefinition);
    store.limit({ "count/configmaps": "5" });
    for (const name of ["x", "y"]) expect(await store.create(inNs(name))).toBe("201");
    const requests = Array.from({ length: 20 }, (_, i) => createRequest(inNs(`n${i}`), { ...WRITE, group: "" }));
    const results = await store.scheduler.run(Promise.all(requests.map((request) => store.world.store.write(request))));
    expect(results.filter(({ ok }) => ok)).toHaveLength(3);
    expect(store.world.store.countIn("ns")).toBe(5);
  });

  it("two quotas, two names: the first quota that is exceeded is told, with the exceeded names in order", async () => {
    const store = new Limited(configMapsDefinition);
    store.limit({ configmaps: "0", "count/configmaps": "0" }, "z");
    store.limit({ configmaps: "5" }, "a");
    const amounts =
      "requested: configmaps=1,count/configmaps=1, used: configmaps=0,count/configmaps=0, limited: configmaps=0,count/configmaps=0";
    expect(await store.create(inNs("c"))).toBe(exceeded("configmaps", "c", amounts, "z"));
  });

  it("a dry run: is judged, and charges nothing", async () => {
    const store = new Limited(configMapsDefinition);
    store.limit({ configmaps: "1" });
    for (let i = 0; i < 3; i++) expect(await store.create(inNs("a"), true)).toBe("201");
    expect(await store.create(inNs("a"))).toBe("201");
    expect(await store.create(inNs("b"), true)).toBe(exceeded("configmaps", "b", one("configmaps", 1, 1)));
  });

  it("a write that is undone, a turn that is lost, a new guard on the same rows: the amount is that of the rows", async () => {
    const store = new Limited(configMapsDefinition);
    store.limit({ configmaps: "2" });
    expect(await store.create(inNs("a"))).toBe("201");
    store.world.storage.undoneKey = "ns/broken";
    expect(await store.create(inNs("broken"))).toMatch(/^500 /);
    store.world.storage.crashNext = "beforeCommit";
    await store.create(inNs("lost")).catch(() => undefined);
    expect(await store.create(inNs("b"))).toBe("201");
    expect(await store.create(inNs("c"))).toBe(exceeded("configmaps", "c", one("configmaps", 2, 2)));
  });

  it("an old store that is not counted: the create waits for the count", async () => {
    const store = new Limited(configMapsDefinition);
    for (const name of ["a", "b"]) expect(await store.create(inNs(name))).toBe("201");
    const state = store.world.storage.stateLoad();
    if (!state) throw new Error("the store has a state");
    store.world.storage.stateSave({ ...state, counted: NOTHING_COUNTED });
    store.world.restart();
    store.limit({ configmaps: "2" });
    expect(await store.create(inNs("c"))).toBe(exceeded("configmaps", "c", one("configmaps", 2, 2)));
  });

  it("reports: when a limited namespace uses more or less, not for other changes, and not for every turn of a burst", async () => {
    const store = new Limited(configMapsDefinition);
    await store.create(inNs("before"));
    expect(store.reports).toBe(0);
    store.limit({ configmaps: "100" });
    await store.create(inNs("elsewhere", {}, "other"));
    expect([store.reports, store.noted]).toEqual([0, 0]);
    for (let i = 0; i < 5; i++) await store.create(inNs(`c${i}`));
    await store.scheduler.run(store.scheduler.clock().nextTurn());
    expect(store.reports).toBe(1);
    await store.world.update({ ...inNs("c1"), data: { a: "b" } } as KubeObject, { group: "" });
    expect(store.noted).toBe(5);
    await store.world.delete("c2");
    expect(store.noted).toBe(6);
    expect(store.reports).toBeLessThanOrEqual(2);
  });
});

describe("Services", () => {
  const service = (name: string, type: string, more: object = {}): KubeObject =>
    inNs(name, { spec: { type, clusterIP: "None", ports: [{ port: 80 }], ...more } });
  const used = (store: Limited) => store.guard.usage("ns", ["services", "services.nodeports", "services.loadbalancers"]);

  it("node ports and load balancers: as upstream's evaluator counts them", async () => {
    const store = new Limited(servicesDefinition);
    const ports = [
      { name: "a", port: 1 },
      { name: "b", port: 2 },
    ];
    const plain = { clusterIP: "" };
    expect(await store.create(service("node", "NodePort", { ...plain, ports }))).toBe("201");
    expect(used(store)).toEqual([1, 2, 0]);
    store.limit({ "services.nodeports": "10" });
    expect(await store.create(service("balanced", "LoadBalancer", plain))).toBe("201");
    expect(used(store)).toEqual([2, 3, 1]);
    const some = [
      { name: "a", port: 1, nodePort: 30_001 },
      { name: "b", port: 2 },
    ];
    const explicit = { ...plain, ports: some, allocateLoadBalancerNodePorts: false };
    expect(await store.create(service("explicit", "LoadBalancer", explicit))).toBe("201");
    expect(used(store)).toEqual([3, 4, 2]);
    await store.world.delete("node");
    expect(used(store)).toEqual([2, 2, 2]);
  });

  it("another type: is judged by what it uses more, and by nothing else", async () => {
    const store = new Limited(servicesDefinition);
    store.limit({ services: "1", "services.nodeports": "1", "services.loadbalancers": "0" });
    expect(await store.create(service("s", "ClusterIP", { clusterIP: "10.96.0.9" }))).toBe("201");
    const typed = (type: string, ports = [{ port: 80 }]) => store.world.patch("s", "merge", { spec: { type, ports } }, { group: "" });
    const balanced = await typed("LoadBalancer");
    expect(balanced).toMatchObject({
      ok: false,
      status: { code: 403, message: expect.stringContaining(one("services.loadbalancers", 0, 0)) as string },
    });
    expect(await typed("NodePort")).toMatchObject({ ok: true });
    expect(used(store)).toEqual([1, 1, 0]);
    // It needs as much as before, although all is used.
    expect(await typed("NodePort", [{ port: 81 }])).toMatchObject({ ok: true });
    store.limit({ services: "0", "services.nodeports": "0" });
    expect(await typed("ClusterIP")).toMatchObject({ ok: true });
    expect(used(store)).toEqual([1, 0, 0]);
  });
});

describe("Pods", () => {
  const pod = (name: string) => inNs(name, { spec: { containers: [{ name: "c", image: "i" }] } });

  it("pods: those that have ended do not count; count/pods counts them all", async () => {
    const store = new Limited(podsDefinition);
    store.limit({ pods: "1", "count/pods": "2" });
    expect(await store.create(pod("a"))).toBe("201");
    expect(await store.create(pod("b"))).toBe(exceeded("pods", "b", one("pods", 1, 1)));
    await store.world.update({ ...pod("a"), status: { phase: "Succeeded" } } as KubeObject, { group: "" }, "status");
    expect(await store.create(pod("b"))).toBe("201");
    expect(store.guard.usage("ns", ["pods", "count/pods"])).toEqual([1, 2]);
    expect(await store.create(pod("c"))).toMatch(
      /requested: count\/pods=1,pods=1, used: count\/pods=2,pods=1, limited: count\/pods=2,pods=1$/,
    );
  });
});

describe("messages", () => {
  const hard = { configmaps: "1" };

  it("a message that is late, doubled or behind a gap: changes nothing", () => {
    const store = new Limited(configMapsDefinition);
    expect(store.take({ since: 3, through: 5, quotas: [{ key: "ns/gap", hard }] })).toBe(-1);
    expect(store.take({ since: null, through: 5, quotas: [{ key: "ns/a", hard }] })).toBe(5);
    expect(store.take({ since: 6, through: 9, quotas: [{ key: "ns/gap", hard }] })).toBe(-1);
    const delta = {
      since: 5,
      through: 7,
      quotas: [
        { key: "ns/a", hard: null },
        { key: "ns/b", hard },
      ],
    };
    expect([store.take(delta), store.take(delta)]).toEqual([7, -1]);
    expect(store.take({ since: null, through: 5, quotas: [{ key: "ns/a", hard }] })).toBe(7);
    expect(store.quotas.limits.keys()).toEqual(["ns/b"]);
  });

  it("all quotas: those that are not told any more are lifted; a store of quotas that began anew is believed", async () => {
    const store = new Limited(configMapsDefinition);
    store.take({ since: null, through: 9, quotas: [{ key: "ns/a", hard: { configmaps: "0" } }] });
    expect(await store.create(inNs("c"))).toMatch(/^403/);
    expect(store.take({ since: null, through: 2, quotas: [{ key: "other/b", hard }] }, "another")).toBe(2);
    expect(store.quotas.limits.keys()).toEqual(["other/b"]);
    expect(await store.create(inNs("c"))).toBe("201");
  });

  it("a quota that is lifted: limits nothing, also after a restart", async () => {
    const store = new Limited(configMapsDefinition);
    store.limit({ configmaps: "0" });
    expect(await store.create(inNs("c"))).toMatch(/^403/);
    store.limit(null);
    expect(await store.create(inNs("c"))).toBe("201");
    expect(store.quotas.quotaLoad()).toEqual([]);
  });
});
