/** What a store's object does besides its writes, through crashes and with a KV that may be wrong: one interleaving each. */
import { describe, expect, it } from "vitest";
import { servicesOf } from "../support/sim/watches/checks";
import { SimulatedCrash } from "../support/sim/platform/journal";
import { PASSING_NAMESPACE } from "../support/sim/clients";
import { Scenario } from "../support/sim/scenario";
import { DELETE } from "../support/worlds/store-world";

/** Longer than a copy takes from its demand until readers see it. */
const PUBLISHED_MS = 5_000;

function namesOf({ cluster }: Scenario): string[] {
  return servicesOf(cluster).map(({ metadata }) => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`);
}

describe("services store", () => {
  it("start while the Coordinator is silent: addresses are given out by the published topology", async () => {
    const scenario = await Scenario.ready();
    await scenario.api.create("before");
    await scenario.pass(PUBLISHED_MS);
    scenario.cluster.services.crash();
    scenario.meet("topology", "held", { times: Infinity });
    expect((await scenario.api.create("after")).ok).toBe(true);
    expect(scenario.cluster.network.marks).toContain("topology copy used");
    await scenario.deliver("topology");
    scenario.clear();
    expect(await scenario.rest()).toEqual([]);
  });

  it("start with a lost copy and a silent Coordinator: a create answers 503, never that a range is full", async () => {
    const scenario = await Scenario.ready();
    scenario.cluster.services.crash();
    scenario.cluster.directory.forget();
    scenario.meet("topology", "lost", { times: Infinity });
    const created = await scenario.api.create("after");
    expect(created.ok ? created.code : created.status.code).toBe(503);
    scenario.clear();
    expect(await scenario.rest()).toEqual([]);
  });

  it("start after commits: the free counts of owners are those that were saved", async () => {
    const scenario = await Scenario.ready();
    const kept = () => scenario.cluster.tables.services.freeCounts.takenCountsLoad()[0];
    // Counts are saved when they differ by much.
    for (let i = 0; i < 100 && !kept(); i++) await scenario.api.create(`a${String(i)}`);
    expect(kept()?.IPv4).not.toEqual({ dynamic: 0, static: 0 });
    scenario.cluster.services.crash();
    expect((await scenario.api.create("b")).ok).toBe(true);
    expect(scenario.cluster.network.marks).toContain("free counts loaded");
    expect(await scenario.rest()).toEqual([]);
  });

  it.each(["beforeCommit", "afterCommit"] as const)("crash %s of a batch of a namespace: the next pass empties the rest", async (gate) => {
    const scenario = await Scenario.ready();
    const { cluster, api } = scenario;
    const { namespaces, network } = cluster;
    await api.run(namespaces.create(PASSING_NAMESPACE));
    await api.create("stays");
    for (const name of ["a", "b", "c", "d", "e"]) await api.write(creationIn(api.creation(name)));
    const { journal } = cluster.tables.services;
    const real = journal.gate;
    let batches = 0;
    journal.gate = {
      ...real,
      [gate]: (steps: { all(): Iterable<string> }) => {
        if (![...steps.all()].includes("emptyBatch") || ++batches !== 2) return;
        cluster.services.crash();
        throw new SimulatedCrash("services");
      },
    };
    // The controller is poked, and its pass fails.
    const removal = namespaces.remove(PASSING_NAMESPACE);
    for (let i = 0; i < 400 && batches < 2; i++) await scenario.pass(5);
    expect(batches).toBe(2);
    expect(namesOf(scenario)).toHaveLength(gate === "beforeCommit" ? 4 : 2);
    expect(namespaces.has(PASSING_NAMESPACE)).toBe(true);
    journal.gate = real;
    await api.run(removal);
    await scenario.pass(10_000);
    expect([namesOf(scenario), namespaces.has(PASSING_NAMESPACE)]).toEqual([["default/stays"], false]);
    expect(network.held).toEqual([]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("storage that fails twice when default/kubernetes is looked for after its deletion: no alarm is rejected, and the retry makes it again", async () => {
    const scenario = await Scenario.ready({ apiServerServiceIP: "10.0.0.1" });
    const { cluster, api } = scenario;
    const { store } = cluster.tables.services;
    const [objectGet, objectDelete] = [store.objectGet.bind(store), store.objectDelete.bind(store)];
    let failures = 0;
    let isFailing = false;
    store.objectDelete = (key) => {
      objectDelete(key);
      isFailing = true;
    };
    store.objectGet = (key) => {
      // The turn of the deletion itself reads nothing any more: what looks next is the retry.
      if (!isFailing) return objectGet(key);
      isFailing = false;
      failures++;
      throw new Error("the disk does not answer");
    };
    // A new life calls the tables as they are now.
    cluster.services.crash();
    await api.run(cluster.services.brain.maintain());
    await api.write({ verb: "delete", key: { namespace: "default", name: "kubernetes" }, options: DELETE });
    await scenario.pass(1_000);
    expect([failures, namesOf(scenario)]).toEqual([1, []]);
    isFailing = true;
    await api.run(cluster.services.brain.alarm());
    expect([failures, namesOf(scenario)]).toEqual([2, []]);
    await scenario.pass(30_000);
    expect(namesOf(scenario)).toEqual(["default/kubernetes"]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("history that cannot be read after a start: nothing is rejected unheard, and the next write begins the recovery again", async () => {
    const scenario = await Scenario.ready();
    const { cluster, api } = scenario;
    await api.create("before");
    const { store } = cluster.tables.services;
    const historySince = store.historySince.bind(store);
    let isCounted = false;
    const answered: boolean[] = [];
    store.historySince = (...asked) => {
      if (isCounted) answered.push(answered.length > 0);
      if (isCounted && answered.length === 1) throw new Error("the disk does not answer");
      return historySince(...asked);
    };
    // A new life calls the tables as they are now.
    cluster.services.crash();
    await api.run(cluster.services.brain.nodePortAllocations());
    isCounted = true;
    expect((await api.create("first")).ok).toBe(true);
    expect(answered).toEqual([false]);
    expect((await api.create("second")).ok).toBe(true);
    expect(answered.slice(0, 2)).toEqual([false, true]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("crash right after default/kubernetes was deleted: cron makes the Service again, at its address", async () => {
    const scenario = await Scenario.ready({ apiServerServiceIP: "10.0.0.1" });
    const { cluster, api } = scenario;
    expect(namesOf(scenario)).toEqual(["default/kubernetes"]);
    const { journal } = cluster.tables.services;
    const real = journal.gate;
    journal.gate = {
      ...real,
      afterCommit: () => {
        journal.gate = real;
        cluster.services.crash();
        throw new SimulatedCrash("services");
      },
    };
    const removal = { verb: "delete", key: { namespace: "default", name: "kubernetes" }, options: DELETE } as const;
    await api.write(removal).catch(() => undefined);
    expect(namesOf(scenario)).toEqual([]);
    expect(await scenario.rest()).toEqual([]);
    expect(servicesOf(cluster).map(({ spec }) => spec?.clusterIP)).toEqual(["10.0.0.1"]);
    expect(cluster.network.marks).toContain("default Service made again");
  });
});

/** The same request in the namespace that passes. */
function creationIn(request: ReturnType<Scenario["api"]["creation"]>): ReturnType<Scenario["api"]["creation"]> {
  if (request.verb !== "create") throw new Error("not a creation");
  const object = JSON.parse(request.object) as { metadata?: object };
  const metadata = { ...object.metadata, namespace: PASSING_NAMESPACE };
  return { ...request, namespace: PASSING_NAMESPACE, object: JSON.stringify({ ...object, metadata }) };
}
