import { withEnv } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { visitCluster } from "../../../durable-objects/peers/cluster-visits";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import { CLUSTER_GONE } from "../../../src/tenancy/rpc";
import { busyKey, directoryKey, shardKey } from "../../../src/tenancy/directory-keys";
import { clusterShardName, clusterShardOf } from "../../../src/tenancy/shards";
import { runScheduled } from "../../../src/worker/scheduled";
import { type FakeEnv, fakeEnv } from "./fake-env";

const debug = vi.spyOn(console, "debug").mockImplementation(() => undefined);
const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
afterEach(() => vi.useRealTimers());
beforeEach(() => {
  debug.mockClear();
  warn.mockClear();
  error.mockClear();
});

/** Clusters that have had writes a moment ago. */
async function withClusters(fake: FakeEnv, ...names: string[]): Promise<FakeEnv> {
  await fake.shards.enter(names);
  return fake;
}

/** The daily visit of a cluster at rest. */
const idleVisit = (fake: FakeEnv, id: string) => visitCluster(fake.env, { id, job: "idle", facts: null, tickMs: HALF_PAST });

function called({ calls }: FakeEnv): string[] {
  return calls.map(({ object, method }) => `${object} ${method}`);
}

const ENDPOINTS = ["endpointslice-controller", "endpoints-controller", "endpointslice-mirroring-controller"] as const;
const OF_NODES = ["node-lifecycle-controller"] as const;
/** No variable and no list turns it off. */
const ALWAYS = ["proxy-health"] as const;
const OF_PODS = ["pod-garbage-collector-controller", "taint-eviction-controller"] as const;

/** When no period of a collection of Leases ends, and when one does. */
const [HALF_PAST, FULL_HOUR] = [Date.UTC(2026, 0, 1, 0, 30), Date.UTC(2026, 0, 1, 1)];

describe("runScheduled", () => {
  it("every minute: calls the stores and controllers that may have work left", async () => {
    const fake = await withClusters(fakeEnv(), "a", "b");
    await withEnv({ LOG_LEVEL: "debug" }, () => runScheduled("* * * * *", fake.env, HALF_PAST));
    expect(called(fake).sort()).toEqual(
      ["a", "b"]
        .flatMap((cluster) => [
          ...[
            "endpoints-controller",
            "endpointslice-controller",
            "endpointslice-mirroring-controller",
            "garbage-collection",
            "namespaces",
            ...OF_NODES,
            ...OF_PODS,
            ...ALWAYS,
          ].map((name) => `CONTROLLER ${cluster}/controllers/${name} poke`),
          `CONTROLLER ${cluster}/controllers/repair pokeFrom`,
          `CONTROLLER ${cluster}/controllers/resource-quotas poke`,
          `RESOURCE_STORE ${cluster}/resourcequotas maintain`,
          `COORDINATOR ${cluster}/coordinator maintain`,
          `IP_ADDRESSES_STORE ${cluster}/ipaddresses.networking.k8s.io maintain`,
          `SERVICES_STORE ${cluster}/services maintain`,
        ])
        .sort(),
    );
    expect(JSON.parse(String(debug.mock.calls[0]?.[0]))).toMatchObject({
      event: "cron job finished",
      job: "maintain",
      clusters: 2,
      errors: 0,
    });
  });

  it.each([
    ["*,-namespace-controller", undefined, ["garbage-collection", "resource-quotas", ...ENDPOINTS, ...OF_NODES, ...OF_PODS]],
    [
      "*,-endpointslice,-endpoint",
      undefined,
      ["garbage-collection", "namespaces", "resource-quotas", "endpointslice-mirroring-controller", ...OF_NODES, ...OF_PODS],
    ],
    ["service-cidr-controller", undefined, []],
    ["service-cidr-controller", [], ["garbage-collection", "namespaces", "resource-quotas", ...ENDPOINTS, ...OF_NODES, ...OF_PODS]],
    ["*", ["garbage-collection", ...ENDPOINTS, ...OF_NODES], ["namespaces", "resource-quotas", ...OF_PODS]],
  ] as const)(
    "the variable %s, the cluster's own list without %j: of the controllers with a switch %j are called",
    async (variable, off, want) => {
      const fake = fakeEnv({}, { CONTROLLERS: variable });
      const facts = off ? { off, on: CONTROLLERS.names.filter((name) => !(off as readonly string[]).includes(name)) } : null;
      await fake.shards.enter(["busy"], { facts });
      await runScheduled("* * * * *", fake.env, HALF_PAST);
      await visitCluster(fake.env, { id: "idle", job: "idle", facts, tickMs: HALF_PAST });
      for (const cluster of ["busy", "idle"]) {
        const controllers = new Set(called(fake).filter((call) => call.startsWith(`CONTROLLER ${cluster}/`) && !call.endsWith(" entered")));
        expect(controllers).toEqual(
          new Set([
            ...[...want, ...ALWAYS].map((name) => `CONTROLLER ${cluster}/controllers/${name} poke`),
            `CONTROLLER ${cluster}/controllers/repair pokeFrom`,
          ]),
        );
      }
    },
  );

  it.each([
    ["roles alone", {}, ["serviceaccount-controller", "clusterrole-aggregation-controller"]],
    [
      "roles and an authority",
      { ROOT_CA: "PEM" },
      ["serviceaccount-controller", "root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller"],
    ],
    ["neither", { AUTHORIZATION_MODE: "AlwaysAllow", ROOT_CA: "PEM" }, []],
  ])("with %s: of the controllers of access %j are called, also in a cluster with a list of its own", async (_, vars, want) => {
    const fake = await withClusters(fakeEnv({}, { AUTHORIZATION_MODE: "Node,RBAC", ...vars }), "a", "own");
    await fake.shards.enter(["own"], { facts: { off: [], on: CONTROLLERS.names } });
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    for (const cluster of ["a", "own"]) {
      const ofAccess = called(fake).filter((call) => call.startsWith(`CONTROLLER ${cluster}/`) && /serviceaccount|root-ca|role/.test(call));
      expect(ofAccess).toEqual(want.map((name) => `CONTROLLER ${cluster}/controllers/${name} poke`));
    }
  });

  it("an idle cluster in which somebody needs a further visit: says so, after one call and those of the day", async () => {
    const fake = fakeEnv({ other: (method) => (method === "pokeFrom" ? "left" : undefined) });
    expect((await idleVisit(fake, "left-over")).found).toBe("left");
    expect(called(fake).filter((call) => !/ (compact|expire|entered)$/.test(call))).toEqual([
      "CONTROLLER left-over/controllers/repair pokeFrom",
    ]);
  });

  it("an idle cluster whose Leases need more time: says so, unless somebody needs a further visit", async () => {
    const leases = (found: string) =>
      fakeEnv({ other: (method) => (method === "pokeFrom" ? found : method === "expire" ? { deleted: 1, left: 0, cut: 1 } : undefined) });
    expect((await idleVisit(leases("rests"), "a")).found).toBe("cut");
    expect((await idleVisit(leases("left"), "a")).found).toBe("left");
  });

  it("a cluster whose list of visits does not answer: everybody is called", async () => {
    const fake = await withClusters(
      fakeEnv({ other: (method) => (method === "pokeFrom" ? Promise.reject(new Error("broken")) : undefined) }),
      "a",
    );
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake)).toContain("CONTROLLER a/controllers/garbage-collection poke");
  });

  it("a cluster in which nobody needs a visit: one call; a full visit of others: all", async () => {
    const answers = { other: (method: string, object: string) => (method === "pokeFrom" && object.includes("met") ? "rests" : undefined) };
    const fake = await withClusters(fakeEnv(answers), "met", "work");
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake).filter((call) => call.includes(" met/"))).toEqual(["CONTROLLER met/controllers/repair pokeFrom"]);
    expect(called(fake).filter((call) => call.includes(" work/")).length).toBeGreaterThan(10);
    expect(fake.calls.filter(({ method }) => method === "pokeFrom").length).toBe(2);
  });

  it("a controller of a later release, in a cluster with a list of its own: is not called, and the record is asked to tell it", async () => {
    const fake = await withClusters(fakeEnv(), "busy");
    await fake.shards.enter(["busy"], { facts: { off: [], on: ["garbage-collection", "repair", ...ENDPOINTS] } });
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake)).not.toContain("CONTROLLER busy/controllers/namespaces poke");
    expect(called(fake)).toContain("CONTROLLER busy/controllers/garbage-collection poke");
    expect(fake.records.calls).toEqual(["carryOn busy"]);
  });

  it("every five minutes: pokes the next shard, of which cron may not know that it has work", async () => {
    const fake = await withClusters(fakeEnv(), "work");
    fake.facts.set(shardKey(clusterShardOf("work")), { minute: false, hour: false });
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(fake.calls).toEqual([]);
    await runScheduled("*/5 * * * *", fake.env, HALF_PAST + 60_000);
    expect(called(fake)).toContain("COORDINATOR work/coordinator maintain");
  });

  it("the runs of one minute: call the Coordinator of a busy cluster once", async () => {
    const fake = await withClusters(fakeEnv(), "work");
    for (const cron of ["* * * * *", "*/5 * * * *"]) await runScheduled(cron, fake.env, HALF_PAST);
    expect(called(fake).filter((call) => call === "COORDINATOR work/coordinator maintain")).toHaveLength(1);
  });

  it("an idle cluster: each day each store is compacted, Leases and Events are looked at; the others are left out where that is known", async () => {
    const [idle, busy] = [fakeEnv(), await withClusters(fakeEnv(), "idle")];
    await runScheduled("0 * * * *", busy.env, HALF_PAST);
    await idleVisit(idle, "idle");
    const besides = called(idle).filter((call) => / (compact|expire|entered)$/.test(call));
    expect(besides.sort()).toEqual([...called(busy), "RESOURCE_STORE idle/leases.coordination.k8s.io expire"].sort());
    const known = fakeEnv({ other: (method) => (method === "entered" ? ["services"] : method === "pokeFrom" ? "rests" : undefined) });
    await idleVisit(known, "idle");
    expect(called(known).slice(1)).toEqual(["CONTROLLER idle/controllers/repair entered", "SERVICES_STORE idle/services compact"]);
  });

  it("every hour: events expire, and each store is compacted once", async () => {
    const fake = await withClusters(fakeEnv(), "a");
    await runScheduled("0 * * * *", fake.env, HALF_PAST);
    const calls = called(fake);
    expect(calls.slice(0, 2)).toEqual(["CONTROLLER a/controllers/repair entered", "RESOURCE_STORE a/events expire"]);
    expect(new Set(calls).size).toBe(calls.length);
    expect(calls).toContain("SERVICES_STORE a/services compact");
    expect(calls).toContain("RESOURCE_STORE a/events compact");
    expect(calls).toContain("COORDINATOR a/coordinator compact");
    expect(calls.some((call) => call.includes("events.k8s.io"))).toBe(false);
  });

  it("every hour, where it is known which stores were ever written to: the others are left out", async () => {
    const fake = await withClusters(fakeEnv({ other: (method) => (method === "entered" ? ["services", "pods"] : undefined) }), "a");
    await runScheduled("0 * * * *", fake.env, HALF_PAST);
    expect(called(fake)).toEqual([
      "CONTROLLER a/controllers/repair entered",
      ...["RESOURCE_STORE a/pods compact", "SERVICES_STORE a/services compact"],
    ]);
  });

  it.each([
    { when: "full hour", vars: {}, dueMs: FULL_HOUR, want: 1 },
    { when: "minute after", vars: {}, dueMs: FULL_HOUR + 60_000, want: 0 },
    { when: "full hour, the gate off", vars: { FEATURE_GATES: "APIServerIdentity=false" }, dueMs: FULL_HOUR, want: 0 },
    { when: "half past, each half hour", vars: { APISERVER_LEASE_COLLECT_SECONDS: "1800" }, dueMs: HALF_PAST, want: 1 },
    { when: "minute after, each minute", vars: { APISERVER_LEASE_COLLECT_SECONDS: "1" }, dueMs: FULL_HOUR + 60_000, want: 1 },
  ])("collection of identity Leases, $when: $want call", async ({ vars, dueMs, want }) => {
    const fake = await withClusters(fakeEnv(), "a");
    await runScheduled("* * * * *", { ...fake.env, ...vars }, dueMs);
    expect(called(fake).filter((call) => call === "RESOURCE_STORE a/leases.coordination.k8s.io expire")).toHaveLength(want);
  });

  it("a collection of identity Leases that needed more time: goes on in the next minute, in that cluster alone, until it is through", async () => {
    let cut = 3;
    const expire = (object: string) => (object.includes(" slow/") ? { deleted: 1, left: 0, cut: --cut } : undefined);
    const fake = await withClusters(
      fakeEnv({ other: (method, object) => (method === "expire" ? expire(object) : undefined) }),
      "fast",
      "slow",
    );
    const collected: string[][] = [];
    for (let minute = 0; minute < 4; minute++) {
      fake.calls.length = 0;
      await runScheduled("* * * * *", fake.env, FULL_HOUR + minute * 60_000);
      collected.push(called(fake).flatMap((call) => /(\w+)\/leases\S+ expire$/.exec(call)?.[1] ?? []));
    }
    expect(collected.map((names) => names.sort())).toEqual([["fast", "slow"], ["slow"], ["slow"], []]);
  });

  it("5,000 idle clusters: no call; the hour enters them in their shards, from page to page, and each once", async () => {
    const fake = fakeEnv();
    const ids = Array.from({ length: 7_000 }, (_, i) => `idle-${String(i).padStart(4, "0")}`);
    for (const id of ids) fake.directory.set(directoryKey(id), "");
    for (const cron of ["* * * * *", "*/5 * * * *", "0 * * * *"]) await runScheduled(cron, fake.env, FULL_HOUR);
    expect([fake.calls, fake.shards.alarms.size]).toEqual([[], 64]);
    expect(fake.directory.get("cron/cursor/shards")).toBe(directoryKey("idle-4999"));
    const known = () => ids.filter((id) => fake.shards.knows(id)).length;
    expect(known()).toBe(5_000);
    await runScheduled("0 * * * *", fake.env, FULL_HOUR + 3_600_000);
    expect([known(), fake.directory.has("cron/cursor/shards")]).toEqual([7_000, false]);
  });

  it("notes of the release before: the cluster is visited in the same run, and known to its shard from then on, with what stood beside them", async () => {
    const fake = fakeEnv();
    fake.directory.set(busyKey("minute", "old"), "");
    fake.facts.set(busyKey("minute", "old"), {
      off: ["garbage-collection"],
      on: CONTROLLERS.names.filter((name) => name !== "garbage-collection"),
    });
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake)).toContain("CONTROLLER old/controllers/repair pokeFrom");
    expect(called(fake)).not.toContain("CONTROLLER old/controllers/garbage-collection poke");
    fake.directory.delete(busyKey("minute", "old"));
    fake.calls.length = 0;
    await runScheduled("* * * * *", fake.env, HALF_PAST + 60_000);
    expect(called(fake)).toContain("CONTROLLER old/controllers/repair pokeFrom");
  });

  it("the same tick in several places: one round", async () => {
    const fake = await withClusters(fakeEnv(), "a");
    for (let place = 0; place < 3; place++) await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake).filter((call) => call === "CONTROLLER a/controllers/repair pokeFrom")).toHaveLength(1);
  });

  it("the first ticks of a local server: poke every shard that is there, whatever KV says of their work", async () => {
    const fake = await withClusters(fakeEnv(), "a");
    const startedAt = HALF_PAST - 60_000;
    fake.facts.set(shardKey(clusterShardOf("a")), { minute: false, hour: false });
    await runScheduled("* * * * *", { ...fake.env, SERVER_STARTED_AT: String(startedAt) }, HALF_PAST);
    expect(called(fake)).toContain("CONTROLLER a/controllers/repair pokeFrom");
  });

  it("an object that is gone: the cluster's record continues the deletion, and no other object is called", async () => {
    const gone = { other: () => Promise.reject(new Error(CLUSTER_GONE)) };
    const fake = await withClusters(fakeEnv(gone), "east~3");
    await withEnv({ LOG_LEVEL: "debug" }, () => runScheduled("* * * * *", fake.env, HALF_PAST));
    expect(fake.calls).toHaveLength(1);
    expect(fake.records.calls).toEqual(["carryOn east~3"]);
    expect(JSON.parse(String(debug.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 1, errors: 0 });
  });

  it("a failed task: the others run", async () => {
    const failing = {
      other: (_: string, object: string) => (object.startsWith("SERVICES") ? Promise.reject(new Error("no")) : undefined),
    };
    const fake = await withClusters(fakeEnv(failing), "a", "b");
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(fake.calls).toHaveLength(30);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ job: "maintain", errors: 2 });
  });

  it("a directory that does not answer, or is damaged: the run ends, and nobody else is called", async () => {
    const fake = await withClusters(fakeEnv(), "a");
    const { list } = fake.env.DIRECTORY;
    fake.env.DIRECTORY.list = () => Promise.reject(new Error("KV"));
    for (const cron of ["* * * * *", "*/5 * * * *", "0 * * * *"]) await runScheduled(cron, fake.env, HALF_PAST);
    expect([fake.calls, error.mock.calls.length > 3]).toEqual([[], true]);
    fake.env.DIRECTORY.list = list;
    for (const key of ["shard/x", "shard/-1", "shard/64", "shard/1.5", "shard/"]) fake.directory.set(key, "");
    fake.facts.set("shard/3", "nonsense");
    fake.directory.set("shard/3", "");
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake)).toContain("CONTROLLER a/controllers/repair pokeFrom");
    expect([...fake.shards.alarms.keys()]).toEqual([clusterShardName(clusterShardOf("a"))]);
  });

  it("a cursor that the directory has forgotten: the round begins anew with the next run", async () => {
    const fake = fakeEnv();
    fake.directory.set(directoryKey("a"), "");
    fake.directory.set("cron/cursor/shards", "lost");
    const { list } = fake.env.DIRECTORY;
    fake.env.DIRECTORY.list = (options) => (options?.cursor === "lost" ? Promise.reject(new Error("bad cursor")) : list(options)) as never;
    await runScheduled("0 * * * *", fake.env, FULL_HOUR);
    expect([fake.directory.has("cron/cursor/shards"), fake.shards.knows("a")]).toEqual([false, false]);
    await runScheduled("0 * * * *", fake.env, FULL_HOUR);
    expect(fake.shards.knows("a")).toBe(true);
  });

  it("a shard that does not answer: an error of the job; the others are poked", async () => {
    const fake = await withClusters(fakeEnv(), "a", "b");
    const { of } = fake.shards;
    const broken = clusterShardName(clusterShardOf("a"));
    fake.shards.of = (name) => (name === broken ? ({ poke: () => Promise.reject(new Error("no")) } as never) : of.call(fake.shards, name));
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake)).toContain("CONTROLLER b/controllers/repair pokeFrom");
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ job: "maintain", shards: 2, clusters: 1, errors: 1 });
  });

  it("lists of the key-value store, each of which costs as much as a write: two in a minute, one in five more, two in an hour more", async () => {
    const fake = await withClusters(fakeEnv(), "a");
    for (const rhythm of ["minute", "hour"] as const) fake.directory.set(busyKey(rhythm, "old"), "");
    fake.directory.set("busy/else/old", "");
    const listed: string[] = [];
    const { list } = fake.env.DIRECTORY;
    fake.env.DIRECTORY.list = ((options: KVNamespaceListOptions) => {
      listed.push(options.prefix ?? "");
      return list(options);
    }) as typeof list;
    const lists = async (cron: string): Promise<string[]> => {
      await runScheduled(cron, fake.env, HALF_PAST);
      return listed.splice(0).sort();
    };
    expect(await lists("* * * * *")).toEqual(["busy/", "shard/"]);
    expect(await fake.shards.of(clusterShardName(clusterShardOf("old"))).whereabouts("old")).toMatchObject({ minute: true, hour: true });
    expect(await lists("*/5 * * * *")).toEqual(["shard/"]);
    expect(await lists("0 * * * *")).toEqual(["cluster/", "shard/"]);
  });

  it("an unknown cron: no call", async () => {
    const fake = await withClusters(fakeEnv(), "a");
    await runScheduled("1 2 3 4 5", fake.env, HALF_PAST);
    expect(fake.calls).toEqual([]);
  });
});
