import { withEnv } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import { CLUSTER_GONE } from "../../../src/tenancy/rpc";
import { busyKey, directoryKey } from "../../../src/tenancy/directory-keys";
import { CRON_CLUSTERS_MAX } from "../../../src/worker/http/limits";
import { roundWaits } from "../../../src/worker/routing/cron-rounds";
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
function withClusters(fake: FakeEnv, ...names: string[]): FakeEnv {
  for (const name of names) {
    fake.directory.set(directoryKey(name), "");
    for (const rhythm of ["minute", "hour"] as const) fake.directory.set(busyKey(rhythm, name), "");
  }
  return fake;
}

/** Clusters in which nothing happens. */
function withIdle(fake: FakeEnv, count: number): FakeEnv {
  for (let i = 0; i < count; i++) fake.directory.set(directoryKey(`idle-${String(i).padStart(4, "0")}`), "");
  return fake;
}

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
    const fake = withClusters(fakeEnv(), "a", "b");
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
      const fake = withIdle(withClusters(fakeEnv({}, { CONTROLLERS: variable }), "busy"), 1);
      if (off)
        for (const key of [busyKey("minute", "busy"), directoryKey("idle-0000")])
          fake.facts.set(key, { off, on: CONTROLLERS.names.filter((name) => !(off as readonly string[]).includes(name)) });
      for (let part = 0; part < 8; part++) {
        fake.directory.set("cron/cursor/maintain/all", `${String(part)} ${directoryKey("busy")}`);
        await runScheduled("* * * * *", fake.env, HALF_PAST);
      }
      for (const cluster of ["busy", "idle-0000"]) {
        const controllers = new Set(called(fake).filter((call) => call.startsWith(`CONTROLLER ${cluster}/`)));
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
    const fake = withClusters(fakeEnv({}, { AUTHORIZATION_MODE: "Node,RBAC", ...vars }), "a", "own");
    fake.facts.set(busyKey("minute", "own"), { off: [], on: CONTROLLERS.names });
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    for (const cluster of ["a", "own"]) {
      const ofAccess = called(fake).filter((call) => call.startsWith(`CONTROLLER ${cluster}/`) && /serviceaccount|root-ca|role/.test(call));
      expect(ofAccess).toEqual(want.map((name) => `CONTROLLER ${cluster}/controllers/${name} poke`));
    }
  });

  it("a controller of a later release, in a cluster with a list of its own: is not called, and the record is asked to tell it", async () => {
    const fake = withClusters(fakeEnv(), "busy");
    fake.facts.set(busyKey("minute", "busy"), { off: [], on: ["garbage-collection", "repair", ...ENDPOINTS] });
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake)).not.toContain("CONTROLLER busy/controllers/namespaces poke");
    expect(called(fake)).toContain("CONTROLLER busy/controllers/garbage-collection poke");
    expect(fake.records.calls).toEqual(["carryOn busy"]);
  });

  it("every five minutes: calls the Coordinator of an idle cluster", async () => {
    const fake = withIdle(withClusters(fakeEnv(), "work"), 1);
    await runScheduled("*/5 * * * *", fake.env, HALF_PAST);
    expect(called(fake)).toEqual(["COORDINATOR idle-0000/coordinator maintain"]);
  });

  it("the runs of one minute: call the Coordinator of a busy cluster once", async () => {
    const fake = withIdle(withClusters(fakeEnv(), "work"), 2);
    for (const cron of ["* * * * *", "*/5 * * * *"]) await runScheduled(cron, fake.env, HALF_PAST);
    expect(called(fake).filter((call) => call === "COORDINATOR work/coordinator maintain")).toHaveLength(1);
  });

  it("every hour, an idle cluster alone: in two hours each store is compacted once, and Leases are collected", async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
    const [idle, busy] = [withIdle(fakeEnv(), 1), withClusters(fakeEnv(), "idle-0000")];
    await runScheduled("0 * * * *", busy.env, HALF_PAST);
    for (let hour = 0; hour < 2; hour++) {
      vi.setSystemTime(Date.UTC(2026, 0, 1, hour));
      await runScheduled("0 * * * *", idle.env, HALF_PAST);
    }
    // A busy one has its Leases collected by the job of every minute.
    const collected = "RESOURCE_STORE idle-0000/leases.coordination.k8s.io expire";
    expect(called(idle).sort()).toEqual([...called(busy), collected].sort());
  });

  it("every hour: events expire, and each store is compacted once", async () => {
    const fake = withClusters(fakeEnv(), "a");
    await runScheduled("0 * * * *", fake.env, HALF_PAST);
    const calls = called(fake);
    expect(calls[0]).toBe("RESOURCE_STORE a/events expire");
    expect(new Set(calls).size).toBe(calls.length);
    expect(calls).toContain("SERVICES_STORE a/services compact");
    expect(calls).toContain("RESOURCE_STORE a/events compact");
    expect(calls).toContain("COORDINATOR a/coordinator compact");
    expect(calls.some((call) => call.includes("events.k8s.io"))).toBe(false);
  });

  it.each([
    { when: "full hour", vars: {}, dueMs: FULL_HOUR, want: 1 },
    { when: "minute after", vars: {}, dueMs: FULL_HOUR + 60_000, want: 0 },
    { when: "full hour, the gate off", vars: { FEATURE_GATES: "APIServerIdentity=false" }, dueMs: FULL_HOUR, want: 0 },
    { when: "half past, each half hour", vars: { APISERVER_LEASE_COLLECT_SECONDS: "1800" }, dueMs: HALF_PAST, want: 1 },
    { when: "minute after, each minute", vars: { APISERVER_LEASE_COLLECT_SECONDS: "1" }, dueMs: FULL_HOUR + 60_000, want: 1 },
  ])("collection of identity Leases, $when: $want call", async ({ vars, dueMs, want }) => {
    const fake = withClusters(fakeEnv(), "a");
    await runScheduled("* * * * *", { ...fake.env, ...vars }, dueMs);
    expect(called(fake).filter((call) => call === "RESOURCE_STORE a/leases.coordination.k8s.io expire")).toHaveLength(want);
  });

  it("collection of identity Leases in 120 clusters: its round goes on in each minute to its end, and begins again with the next period", async () => {
    const names = Array.from({ length: 120 }, (_, i) => `many-${String(i).padStart(3, "0")}`);
    const fake = withClusters(fakeEnv(), ...names);
    const collected: number[] = [];
    for (let minute = 0; minute <= 60; minute++) {
      fake.calls.length = 0;
      await runScheduled("* * * * *", fake.env, FULL_HOUR + minute * 60_000);
      collected.push(called(fake).filter((call) => call.endsWith("/leases.coordination.k8s.io expire")).length);
    }
    expect(collected).toEqual([50, 50, 20, ...Array<number>(57).fill(0), 50]);
  });

  it("a collection of identity Leases that needed more time: goes on in the next minute, in that cluster alone, until it is through", async () => {
    let cut = 3;
    const expire = (object: string) => (object.includes(" slow/") ? { deleted: 1, left: 0, cut: --cut } : undefined);
    const fake = withClusters(fakeEnv({ other: (method, object) => (method === "expire" ? expire(object) : undefined) }), "fast", "slow");
    const collected: string[][] = [];
    for (let minute = 0; minute < 4; minute++) {
      fake.calls.length = 0;
      await runScheduled("* * * * *", fake.env, FULL_HOUR + minute * 60_000);
      collected.push(called(fake).flatMap((call) => /(\w+)\/leases\S+ expire$/.exec(call)?.[1] ?? []));
    }
    expect(collected.map((names) => names.sort())).toEqual([["fast", "slow"], ["slow"], ["slow"], []]);
    expect([...fake.directory.keys()].filter((key) => key.startsWith("cron/cut/"))).toEqual([]);
  });

  it("a round through more clusters than one run visits: how long it takes stands beside its cursor, which expires", async () => {
    vi.useFakeTimers({ now: FULL_HOUR });
    const fake = withClusters(fakeEnv(), ...Array.from({ length: 120 }, (_, i) => `many-${String(i).padStart(3, "0")}`));
    const put = vi.spyOn(fake.env.DIRECTORY, "put");
    const waits: unknown[] = [];
    for (let minute = 0; minute < 5; minute++) {
      vi.setSystemTime(FULL_HOUR + minute * 60_000);
      await runScheduled("* * * * *", fake.env, HALF_PAST);
      waits.push((await roundWaits(fake.env, Date.now())).get("maintain"));
    }
    expect(waits).toEqual([0, 60_000, 120_000, 120_000, 180_000]);
    const ofBusy = put.mock.calls.filter(([key]) => key === "cron/cursor/maintain/busy");
    expect(ofBusy.map(([, , options]) => options?.expirationTtl)).toEqual(Array(5).fill(600));
  });

  it("a stored cursor: the next run continues there, and starts over at the end", async () => {
    const fake = withIdle(fakeEnv(), 3);
    const visited: string[] = [];
    for (let run = 0; run < 5; run++) {
      await runScheduled("*/5 * * * *", fake.env, HALF_PAST);
      visited.push(...called(fake).splice(visited.length));
    }
    expect(visited.map((call) => call.slice(0, 21))).toEqual([0, 1, 2, 0, 1].map((i) => `COORDINATOR idle-000${i}`));
  });

  it("2,000 idle clusters: each run visits the next one, and the busy cluster every time", async () => {
    const fake = withIdle(withClusters(fakeEnv(), "work"), 2_000);
    const idle = new Set<string>();
    for (let run = 0; run < 2_001; run++) {
      const before = fake.calls.length;
      await runScheduled("* * * * *", fake.env, HALF_PAST);
      const clusters = fake.calls.slice(before).map(({ object }) => object.replace(/^\S+ ([^/]+).*$/, "$1"));
      expect(
        clusters.filter((cluster) => cluster === "work"),
        `run ${run}`,
      ).toHaveLength(15);
      expect(clusters.length).toBeLessThanOrEqual(30);
      for (const cluster of clusters) idle.add(cluster);
    }
    expect(idle.size, "the busy one included").toBe(2_001);
  });

  it.each([
    { clusters: 1, runs: 8 },
    { clusters: 2, runs: 16 },
    { clusters: 3, runs: 24 },
    { clusters: 7, runs: 56 },
  ])("$clusters idle clusters: each gets every task of the job within eight rounds, a part in each", async ({ clusters, runs }) => {
    vi.setSystemTime(Date.parse("2026-03-01T10:00:00Z"));
    const fake = withIdle(fakeEnv(), clusters);
    for (let run = 0; run < runs; run++) {
      await runScheduled("* * * * *", fake.env, HALF_PAST);
      vi.setSystemTime(Date.now() + 60_000);
    }
    const calls = called(fake);
    expect(new Set(calls).size).toBe(15 * clusters);
    expect(calls).toHaveLength(15 * clusters);
  });

  it("a cursor of an older release: the run continues there", async () => {
    const fake = withIdle(fakeEnv(), 3);
    fake.directory.set("cron/cursor/topology/all", directoryKey("idle-0000"));
    await runScheduled("*/5 * * * *", fake.env, HALF_PAST);
    expect(called(fake)).toEqual(["COORDINATOR idle-0001/coordinator maintain"]);
  });

  it("all crons at the full hour: at most twenty calls to an idle cluster", async () => {
    const fake = withIdle(fakeEnv(), 2_000);
    for (const cron of ["* * * * *", "*/5 * * * *", "0 * * * *"]) await runScheduled(cron, fake.env, FULL_HOUR);
    expect(fake.calls.length).toBeGreaterThan(3);
    expect(fake.calls.length).toBeLessThanOrEqual(20);
  });

  it("a cluster that is always busy: the others still get their turn", async () => {
    const names = Array.from({ length: CRON_CLUSTERS_MAX * 2 }, (_, i) => `busy-${String(i).padStart(3, "0")}`);
    const fake = withClusters(fakeEnv(), ...names);
    await runScheduled("*/5 * * * *", fake.env, HALF_PAST);
    await runScheduled("*/5 * * * *", fake.env, HALF_PAST);
    expect(new Set(called(fake)).size).toBe(names.length);
  });

  it("a failed task: its cluster is visited again, even without writes", async () => {
    const failing = { other: (method: string) => (method === "maintain" ? Promise.reject(new Error("no")) : undefined) };
    const fake = withIdle(fakeEnv(failing), 3);
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect([...fake.directory.keys()].filter((key) => key.startsWith("busy/"))).toEqual([busyKey("minute", "idle-0000")]);
  });

  it("an object that is gone: the cluster's record continues the deletion, and no other object is called", async () => {
    const gone = { other: () => Promise.reject(new Error(CLUSTER_GONE)) };
    const fake = withIdle(fakeEnv(gone), 0);
    fake.directory.set(directoryKey("east~3"), "");
    await withEnv({ LOG_LEVEL: "debug" }, () => runScheduled("* * * * *", fake.env, HALF_PAST));
    expect(fake.calls).toHaveLength(1);
    expect(fake.records.calls).toEqual(["carryOn east~3"]);
    expect(JSON.parse(String(debug.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 1, errors: 0 });
  });

  it("a failed task: the others run", async () => {
    const failing = {
      other: (_: string, object: string) => (object.startsWith("SERVICES") ? Promise.reject(new Error("no")) : undefined),
    };
    const fake = withClusters(fakeEnv(failing), "a", "b");
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(fake.calls).toHaveLength(30);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ job: "maintain", errors: 2 });
    expect(error).toHaveBeenCalledTimes(2);
  });

  it("an unreadable directory: an error of the job, which drops its cursor", async () => {
    const fake = withClusters(fakeEnv(), "a");
    fake.directory.set("cron/cursor/maintain/all", "lost");
    fake.env.DIRECTORY.list = () => Promise.reject(new Error("bad cursor"));
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(fake.directory.has("cron/cursor/maintain/all")).toBe(false);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 0, errors: 2 });
  });

  it("an unreadable cursor: kept for the next run", async () => {
    const fake = withIdle(fakeEnv(), 3);
    const cursor = `5 ${directoryKey("idle-0001")}`;
    fake.directory.set("cron/cursor/maintain/all", cursor);
    fake.env.DIRECTORY.get = () => Promise.reject(new Error("KV GET failed"));
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(fake.directory.get("cron/cursor/maintain/all")).toBe(cursor);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 0, errors: 2 });
  });

  it("a cursor that cannot be stored: an error of the job, which still visits its clusters", async () => {
    const fake = withIdle(fakeEnv(), 3);
    fake.env.DIRECTORY.put = () => Promise.reject(new Error("KV PUT failed: 429 Too Many Requests"));
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    expect(called(fake)).toContain("COORDINATOR idle-0000/coordinator maintain");
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 1, errors: 1 });
  });

  it("an unknown cron: no call", async () => {
    const fake = withClusters(fakeEnv(), "a");
    await runScheduled("1 2 3 4 5", fake.env, HALF_PAST);
    expect(fake.calls).toEqual([]);
  });
});

describe("places that share the clusters with writes", () => {
  /** Names of the Leases of node-1 and localhost, from upstream. */
  const [NODE_1, LOCALHOST] = ["apiserver-lgabes5ywnaqeagh5dny4zlzs4", "apiserver-l2yubf4cvcl5c7a3wrubrwqdve"];
  const MANY = Array.from({ length: 3 * CRON_CLUSTERS_MAX }, (_, i) => `many-${String(i).padStart(4, "0")}`);
  const lease = (name: string, leaseDurationSeconds: number) => ({
    metadata: { name, namespace: "kube-system", labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" } },
    spec: { renewTime: "2026-01-01T00:00:00.000000Z", leaseDurationSeconds },
  });
  const [LIVING, GONE] = [1e9, 1];

  /** A place with its own objects, which are fakes; the directory is everybody's. */
  function place(hostname: string, leases: readonly object[], shared?: FakeEnv): FakeEnv {
    const fetch = () => new Response(JSON.stringify({ items: leases }), { headers: { "Content-Type": "application/json" } });
    const fake = fakeEnv({ fetch }, { HOST_NAME: hostname });
    return shared ? { ...fake, env: { ...fake.env, DIRECTORY: shared.env.DIRECTORY }, directory: shared.directory } : fake;
  }
  async function visited(fake: FakeEnv): Promise<string[]> {
    fake.calls.length = 0;
    await runScheduled("* * * * *", fake.env, HALF_PAST);
    // In the first round the idle cluster in turn gets another part of the job.
    return called(fake)
      .flatMap((call) => /^CONTROLLER (\S+)\/controllers\/garbage-collection poke$/.exec(call)?.[1] ?? [])
      .sort();
  }
  const living = [lease(NODE_1, LIVING), lease(LOCALHOST, LIVING)];
  const few = MANY.slice(0, 40);

  it("two that live and run crons: each visits its part, together everything", async () => {
    const one = withClusters(place("node-1", living), ...few);
    const other = place("localhost", living, one);
    // Nobody has run a cron there yet, as far as this one knows.
    expect(await visited(one)).toEqual(few);
    const first = await visited(other);
    const second = await visited(one);
    expect([...first, ...second].sort()).toEqual(few);
    expect(Math.min(first.length, second.length)).toBeGreaterThan(8);
    expect([await visited(other), await visited(one)]).toEqual([first, second]);
  });

  it.each<[string, string, readonly object[], boolean]>([
    ["another that lives and has no cron, as on Cloudflare", "node-1", living, false],
    ["another whose Lease has run out", "node-1", [lease(NODE_1, LIVING), lease(LOCALHOST, GONE)], true],
    ["a list without this place", "node-1", [lease(LOCALHOST, LIVING), lease("apiserver-x", LIVING)], true],
    ["an empty list", "node-1", [], true],
    ["a place without a name", "", living, true],
  ])("%s: this one visits everything", async (_, hostname, leases, hasNote) => {
    const one = withClusters(place(hostname, leases), ...few);
    if (hasNote) one.directory.set(`cron/place/${LOCALHOST}`, "");
    expect(await visited(one)).toEqual(few);
    expect(await visited(one)).toEqual(few);
  });

  it("Leases that cannot be listed, or the gate off: this one visits everything", async () => {
    const broken = fakeEnv({ fetch: () => Promise.reject(new Error("no")) }, { HOST_NAME: "node-1" });
    expect(await visited(withClusters(broken, ...few))).toEqual(few);
    const off = place("node-1", living);
    off.env.FEATURE_GATES = "APIServerIdentity=false";
    off.directory.set(`cron/place/${LOCALHOST}`, "");
    expect(await visited(withClusters(off, ...few))).toEqual(few);
    expect(off.calls.filter(({ method }) => method === "fetch")).toEqual([]);
  });

  it("more clusters than one run visits: none is left out while the places take turns", async () => {
    const one = withClusters(place("node-1", living), ...MANY);
    const other = place("localhost", living, one);
    for (const fake of [one, other]) await visited(fake);
    const put = vi.spyOn(one.env.DIRECTORY, "put");
    const seen = new Set<string>();
    // Two places visit twice as many as one.
    for (let run = 0; run < 2; run++) for (const fake of [one, other]) for (const name of await visited(fake)) seen.add(name);
    expect([...seen].sort()).toEqual(MANY);
    const cursors = put.mock.calls.filter(([key]) => key.startsWith("cron/cursor/maintain/busy/"));
    expect(cursors.map(([, , options]) => options?.expirationTtl)).toEqual(Array(4).fill(600));
  });
});
