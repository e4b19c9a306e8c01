import { withEnv } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CONTROLLERS } from "../../../durable-objects/controllers";
import { CLUSTER_GONE } from "../../../src/tenancy/rpc";
import { busyKey, directoryKey } from "../../../src/tenancy/directory-keys";
import { CRON_CLUSTERS_MAX } from "../../../src/worker/http/limits";
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

describe("runScheduled", () => {
  it("every minute: calls the stores and controllers that may have work left", async () => {
    const fake = withClusters(fakeEnv(), "a", "b");
    await withEnv({ LOG_LEVEL: "debug" }, () => runScheduled("* * * * *", fake.env));
    expect(called(fake).sort()).toEqual(
      ["a", "b"]
        .flatMap((cluster) => [
          ...[
            "endpoints-controller",
            "endpointslice-controller",
            "endpointslice-mirroring-controller",
            "garbage-collection",
            "namespaces",
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
    ["*,-namespace-controller", undefined, ["garbage-collection", "resource-quotas", ...ENDPOINTS]],
    [
      "*,-endpointslice,-endpoint",
      undefined,
      ["garbage-collection", "namespaces", "resource-quotas", "endpointslice-mirroring-controller"],
    ],
    ["service-cidr-controller", undefined, []],
    ["service-cidr-controller", [], ["garbage-collection", "namespaces", "resource-quotas", ...ENDPOINTS]],
    ["*", ["garbage-collection", ...ENDPOINTS], ["namespaces", "resource-quotas"]],
  ] as const)(
    "the variable %s, the cluster's own list without %j: of the controllers with a switch %j are called",
    async (variable, off, want) => {
      const fake = withIdle(withClusters(fakeEnv({}, { CONTROLLERS: variable }), "busy"), 1);
      if (off)
        for (const key of [busyKey("minute", "busy"), directoryKey("idle-0000")])
          fake.facts.set(key, { off, on: CONTROLLERS.names.filter((name) => !(off as readonly string[]).includes(name)) });
      for (let part = 0; part < 5; part++) {
        fake.directory.set("cron/cursor/maintain/all", `${String(part)} ${directoryKey("busy")}`);
        await runScheduled("* * * * *", fake.env);
      }
      for (const cluster of ["busy", "idle-0000"]) {
        const controllers = new Set(called(fake).filter((call) => call.startsWith(`CONTROLLER ${cluster}/`)));
        expect(controllers).toEqual(
          new Set([
            ...want.map((name) => `CONTROLLER ${cluster}/controllers/${name} poke`),
            `CONTROLLER ${cluster}/controllers/repair pokeFrom`,
          ]),
        );
      }
    },
  );

  it("a controller of a later release, in a cluster with a list of its own: is not called, and the record is asked to tell it", async () => {
    const fake = withClusters(fakeEnv(), "busy");
    fake.facts.set(busyKey("minute", "busy"), { off: [], on: ["garbage-collection", "repair", ...ENDPOINTS] });
    await runScheduled("* * * * *", fake.env);
    expect(called(fake)).not.toContain("CONTROLLER busy/controllers/namespaces poke");
    expect(called(fake)).toContain("CONTROLLER busy/controllers/garbage-collection poke");
    expect(fake.records.calls).toEqual(["carryOn busy"]);
  });

  it("every five minutes: calls the Coordinator of an idle cluster", async () => {
    const fake = withIdle(withClusters(fakeEnv(), "work"), 1);
    await runScheduled("*/5 * * * *", fake.env);
    expect(called(fake)).toEqual(["COORDINATOR idle-0000/coordinator maintain"]);
  });

  it("the runs of one minute: call the Coordinator of a busy cluster once", async () => {
    const fake = withIdle(withClusters(fakeEnv(), "work"), 2);
    for (const cron of ["* * * * *", "*/5 * * * *"]) await runScheduled(cron, fake.env);
    expect(called(fake).filter((call) => call === "COORDINATOR work/coordinator maintain")).toHaveLength(1);
  });

  it("every hour: events expire, and each store is compacted once", async () => {
    const fake = withClusters(fakeEnv(), "a");
    await runScheduled("0 * * * *", fake.env);
    const calls = called(fake);
    expect(calls[0]).toBe("RESOURCE_STORE a/events expire");
    expect(new Set(calls).size).toBe(calls.length);
    expect(calls).toContain("SERVICES_STORE a/services compact");
    expect(calls).toContain("RESOURCE_STORE a/events compact");
    expect(calls).toContain("COORDINATOR a/coordinator compact");
    expect(calls.some((call) => call.includes("events.k8s.io"))).toBe(false);
  });

  it("a stored cursor: the next run continues there, and starts over at the end", async () => {
    const fake = withIdle(fakeEnv(), 3);
    const visited: string[] = [];
    for (let run = 0; run < 5; run++) {
      await runScheduled("*/5 * * * *", fake.env);
      visited.push(...called(fake).splice(visited.length));
    }
    expect(visited.map((call) => call.slice(0, 21))).toEqual([0, 1, 2, 0, 1].map((i) => `COORDINATOR idle-000${i}`));
  });

  it("2,000 idle clusters: each run visits the next one, and the busy cluster every time", async () => {
    const fake = withIdle(withClusters(fakeEnv(), "work"), 2_000);
    const idle = new Set<string>();
    for (let run = 0; run < 2_001; run++) {
      const before = fake.calls.length;
      await runScheduled("* * * * *", fake.env);
      const clusters = fake.calls.slice(before).map(({ object }) => object.replace(/^\S+ ([^/]+).*$/, "$1"));
      expect(
        clusters.filter((cluster) => cluster === "work"),
        `run ${run}`,
      ).toHaveLength(11);
      expect(clusters.length).toBeLessThanOrEqual(22);
      for (const cluster of clusters) idle.add(cluster);
    }
    expect(idle.size, "the busy one included").toBe(2_001);
  });

  it.each([
    { clusters: 1, runs: 4 },
    { clusters: 2, runs: 8 },
    { clusters: 3, runs: 12 },
    { clusters: 7, runs: 28 },
  ])("$clusters idle clusters: each gets every task of the job within four rounds, a part in each", async ({ clusters, runs }) => {
    vi.setSystemTime(Date.parse("2026-03-01T10:00:00Z"));
    const fake = withIdle(fakeEnv(), clusters);
    for (let run = 0; run < runs; run++) {
      await runScheduled("* * * * *", fake.env);
      vi.setSystemTime(Date.now() + 60_000);
    }
    const calls = called(fake);
    expect(new Set(calls).size).toBe(8 * clusters);
    expect(calls).toHaveLength(8 * clusters);
  });

  it("a cursor of an older release: the run continues there", async () => {
    const fake = withIdle(fakeEnv(), 3);
    fake.directory.set("cron/cursor/topology/all", directoryKey("idle-0000"));
    await runScheduled("*/5 * * * *", fake.env);
    expect(called(fake)).toEqual(["COORDINATOR idle-0001/coordinator maintain"]);
  });

  it("all crons at the full hour: at most twenty calls to an idle cluster", async () => {
    const fake = withIdle(fakeEnv(), 2_000);
    for (const cron of ["* * * * *", "*/5 * * * *", "0 * * * *"]) await runScheduled(cron, fake.env);
    expect(fake.calls.length).toBeGreaterThan(3);
    expect(fake.calls.length).toBeLessThanOrEqual(20);
  });

  it("a cluster that is always busy: the others still get their turn", async () => {
    const names = Array.from({ length: CRON_CLUSTERS_MAX * 2 }, (_, i) => `busy-${String(i).padStart(3, "0")}`);
    const fake = withClusters(fakeEnv(), ...names);
    await runScheduled("*/5 * * * *", fake.env);
    await runScheduled("*/5 * * * *", fake.env);
    expect(new Set(called(fake)).size).toBe(names.length);
  });

  it("a failed task: its cluster is visited again, even without writes", async () => {
    const failing = { other: (method: string) => (method === "maintain" ? Promise.reject(new Error("no")) : undefined) };
    const fake = withIdle(fakeEnv(failing), 3);
    await runScheduled("* * * * *", fake.env);
    expect([...fake.directory.keys()].filter((key) => key.startsWith("busy/"))).toEqual([busyKey("minute", "idle-0000")]);
  });

  it("an object that is gone: the cluster's record continues the deletion, and no other object is called", async () => {
    const gone = { other: () => Promise.reject(new Error(CLUSTER_GONE)) };
    const fake = withIdle(fakeEnv(gone), 0);
    fake.directory.set(directoryKey("east~3"), "");
    await withEnv({ LOG_LEVEL: "debug" }, () => runScheduled("* * * * *", fake.env));
    expect(fake.calls).toHaveLength(1);
    expect(fake.records.calls).toEqual(["carryOn east~3"]);
    expect(JSON.parse(String(debug.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 1, errors: 0 });
  });

  it("a failed task: the others run", async () => {
    const failing = {
      other: (_: string, object: string) => (object.startsWith("SERVICES") ? Promise.reject(new Error("no")) : undefined),
    };
    const fake = withClusters(fakeEnv(failing), "a", "b");
    await runScheduled("* * * * *", fake.env);
    expect(fake.calls).toHaveLength(22);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ job: "maintain", errors: 2 });
    expect(error).toHaveBeenCalledTimes(2);
  });

  it("an unreadable directory: an error of the job, which drops its cursor", async () => {
    const fake = withClusters(fakeEnv(), "a");
    fake.directory.set("cron/cursor/maintain/all", "lost");
    fake.env.DIRECTORY.list = () => Promise.reject(new Error("bad cursor"));
    await runScheduled("* * * * *", fake.env);
    expect(fake.directory.has("cron/cursor/maintain/all")).toBe(false);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 0, errors: 2 });
  });

  it("an unreadable cursor: kept for the next run", async () => {
    const fake = withIdle(fakeEnv(), 3);
    const cursor = `5 ${directoryKey("idle-0001")}`;
    fake.directory.set("cron/cursor/maintain/all", cursor);
    fake.env.DIRECTORY.get = () => Promise.reject(new Error("KV GET failed"));
    await runScheduled("* * * * *", fake.env);
    expect(fake.directory.get("cron/cursor/maintain/all")).toBe(cursor);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 0, errors: 2 });
  });

  it("a cursor that cannot be stored: an error of the job, which still visits its clusters", async () => {
    const fake = withIdle(fakeEnv(), 3);
    fake.env.DIRECTORY.put = () => Promise.reject(new Error("KV PUT failed: 429 Too Many Requests"));
    await runScheduled("* * * * *", fake.env);
    expect(called(fake)).toContain("COORDINATOR idle-0000/coordinator maintain");
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 1, errors: 1 });
  });

  it("an unknown cron: no call", async () => {
    const fake = withClusters(fakeEnv(), "a");
    await runScheduled("1 2 3 4 5", fake.env);
    expect(fake.calls).toEqual([]);
  });
});
