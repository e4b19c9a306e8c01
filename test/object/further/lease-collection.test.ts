/** Identity Leases that have run out go with the cron: through the Worker and the real store, on a clock that the test moves. */
import { createExecutionContext, createScheduledController, env, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import type { Lease } from "../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../src/api/meta/time";
import worker from "../../../src/worker/index";
import { upstreamRow } from "../../conformance/upstream-row";
import { PATIENCE } from "../../support/objects/patience";
import { cronOf, forgetWrites, idleVisitDue, isNoted } from "../../support/shards/real-shards";
import { freshCluster } from "../../support/objects/store-stubs";
import { parsePrometheus } from "../../support/values/prometheus";

const bindings = env as unknown as Env;
const HOUR_MS = 3_600_000;
/** Alarms are set by the clock of the test and ring by the real one. */
const BEGUN = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
const LEASES = "/apis/coordination.k8s.io/v1";
const IDENTITY = { "apiserver.kubernetes.io/identity": "kube-apiserver" };

let cluster: string;

beforeEach(() => {
  cluster = freshCluster();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function send(method: string, path: string, body?: object, by: Env = bindings): Promise<Response> {
  const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await worker.fetch(new Request(`http://h/clusters/${cluster}${path}`, init), by, createExecutionContext());
  if (!response.ok) throw new Error(await response.text());
  return response;
}

/** A request that the place answers at this time, and what stands behind the answer. */
async function served(nowMs: number, by: Env): Promise<void> {
  vi.setSystemTime(nowMs);
  const context = createExecutionContext();
  await worker.fetch(new Request(`http://h/clusters/${cluster}${LEASES}/leases`), by, context);
  await waitOnExecutionContext(context);
}

/** Cron comes by such a mark. */
async function isMarked(): Promise<void> {
  await vi.waitUntil(() => isNoted(bindings, cluster, "hour"), PATIENCE);
}

async function tick(nowMs: number, by: Env = bindings, cron = "* * * * *"): Promise<void> {
  vi.setSystemTime(nowMs);
  await worker.scheduled(
    createScheduledController({ cron, scheduledTime: new Date(nowMs) }),
    cronOf(by, cluster),
    createExecutionContext(),
  );
}

async function lease(
  name: string,
  agoSeconds: number | undefined,
  leaseDurationSeconds: number | undefined,
  more: Partial<{ namespace: string; labels: object }> = {},
): Promise<void> {
  const { namespace = "kube-system", labels = IDENTITY } = more;
  const renewTime = agoSeconds === undefined ? undefined : rfc3339Micros(BEGUN - agoSeconds * 1000);
  const spec = { holderIdentity: "x", leaseDurationSeconds, renewTime };
  await send("POST", `${LEASES}/namespaces/${namespace}/leases`, { metadata: { name, labels }, spec });
}

async function leases(): Promise<Lease[]> {
  const { items } = await (await send("GET", `${LEASES}/leases`)).json<{ items: Lease[] }>();
  return items;
}

async function names(): Promise<string[]> {
  return (await leases()).map(({ metadata }) => metadata?.name ?? "").sort();
}

/** Leases that places have made for themselves. */
async function hostsLeases(): Promise<Lease[]> {
  return (await leases()).filter(({ metadata }) => metadata?.labels?.["kubernetes.io/hostname"] !== undefined);
}

upstreamRow("apiserver_identity_test: TestLeaseGarbageCollection", () => {
  it("collection: once in its period, what upstream collects and nothing else; with the gate off nothing", async () => {
    vi.setSystemTime(BEGUN);
    await lease("expired", 7200, 3600);
    await lease("no-time", undefined, 3600);
    await lease("no-duration", 1, undefined);
    await lease("fresh", 120, 3600);
    await lease("unlabelled", 7200, 3600, { labels: {} });
    await lease("other-server", 7200, 3600, { labels: { "apiserver.kubernetes.io/identity": "kube-controller-manager" } });
    await lease("elsewhere", 7200, 3600, { namespace: "default" });
    await lease("node-1", 7200, 40, { namespace: "kube-node-lease", labels: {} });
    const all = await names();
    await isMarked();

    const off = { ...bindings, FEATURE_GATES: "APIServerIdentity=false" };
    await tick(BEGUN, off);
    await tick(BEGUN + 60_000);
    expect(await names()).toEqual(all);

    const info = vi.spyOn(console, "log").mockImplementation(() => undefined);
    await tick(BEGUN + HOUR_MS / 2, { ...bindings, APISERVER_LEASE_COLLECT_SECONDS: "1800" });
    expect(await names()).toEqual(["elsewhere", "fresh", "node-1", "other-server", "unlabelled"]);
    const lines = info.mock.calls.map(([line]) => String(line)).filter((line) => line.includes("collected identity leases"));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ cluster, deleted: 3, left: 1 }]);
    const families = parsePrometheus(await (await send("GET", "/metrics")).text());
    expect(families.get("servicenet_identity_leases")?.samples.map(({ labels, value }) => [labels["state"], value])).toEqual([
      ["living", 1],
      ["expired", 0],
    ]);
    expect(families.get("servicenet_store_expired_total")?.samples).toContainEqual(
      expect.objectContaining({ labels: expect.objectContaining({ store: "leases" }), value: 3 }),
    );

    // Nobody has written since. The Lease that is left runs out, and cron comes for it.
    await tick(BEGUN + HOUR_MS);
    await tick(BEGUN + 2 * HOUR_MS);
    expect(await names()).toEqual(["elsewhere", "node-1", "other-server", "unlabelled"]);
  });
});

it("idle cluster, nothing notes that it is busy: collected by the visit of a day, unless the gate is off", async () => {
  vi.setSystemTime(BEGUN);
  await lease("forgotten", 7200, 3600);
  await isMarked();
  const { FEATURE_GATES } = bindings;
  try {
    Object.assign(bindings, { FEATURE_GATES: "APIServerIdentity=false" });
    await forgetWrites(bindings);
    await (await idleVisitDue(bindings, cluster)).rings();
    expect(await names()).toContain("forgotten");
  } finally {
    Object.assign(bindings, { FEATURE_GATES });
  }
  await forgetWrites(bindings);
  await (await idleVisitDue(bindings, cluster)).rings();
  expect(await names()).not.toContain("forgotten");
});

it("gate on, off, on: while it is off nothing is renewed and nothing collected, then both go on", async () => {
  const on: Env = { ...bindings, HOST_NAME: "gated", APISERVER_LEASE_RENEW_SECONDS: "10" };
  const off: Env = { ...on, FEATURE_GATES: "APIServerIdentity=false" };
  const again: Env = { ...on };
  vi.setSystemTime(BEGUN);
  for (const name of ["over", "over-later", "over-last"]) await lease(name, name === "over" ? 7200 : 0, 1800);
  await isMarked();
  const overdue = async (): Promise<string[]> => (await names()).filter((name) => name.startsWith("over"));
  const renewTime = async (): Promise<unknown> => (await hostsLeases())[0]?.spec?.renewTime;
  const at = (ms: number): string => rfc3339Micros(BEGUN + ms);

  await served(BEGUN, on);
  await served(BEGUN + 20_000, on);
  expect(await renewTime()).toBe(at(20_000));
  await tick(BEGUN, on);
  expect(await overdue()).toEqual(["over-last", "over-later"]);

  for (let minute = 1; minute <= 60; minute += 10) await served(BEGUN + minute * 60_000, off);
  await tick(BEGUN + HOUR_MS, off);
  expect(await renewTime()).toBe(at(20_000));
  expect(await overdue()).toEqual(["over-last", "over-later"]);

  await served(BEGUN + HOUR_MS + 10_000, again);
  expect(await renewTime()).toBe(at(HOUR_MS + 10_000));
  await tick(BEGUN + 2 * HOUR_MS, again);
  expect(await overdue()).toEqual([]);
});

it("writers whose clocks are minutes behind and ahead: their Leases stay while they renew, and go when they stop", async () => {
  const minutes = (count: number): number => count * 60_000;
  const settings = { APISERVER_LEASE_DURATION_SECONDS: "900", APISERVER_LEASE_COLLECT_SECONDS: "60" };
  const writers: [place: Env, aheadMs: number][] = [
    [{ ...bindings, ...settings, HOST_NAME: "behind" }, -minutes(5)],
    [{ ...bindings, ...settings, HOST_NAME: "ahead" }, minutes(5)],
    [{ ...bindings, ...settings, HOST_NAME: "shared" }, -minutes(5)],
    [{ ...bindings, ...settings, HOST_NAME: "shared" }, minutes(5)],
  ];
  const collector: Env = { ...bindings, ...settings };
  vi.setSystemTime(BEGUN);
  await lease("over", 7200, 900);
  await isMarked();
  const hosts = async (): Promise<string[]> =>
    (await hostsLeases()).map(({ metadata }) => metadata?.labels?.["kubernetes.io/hostname"] ?? "").sort();

  let nowMs = BEGUN;
  for (; nowMs < BEGUN + minutes(45); nowMs += minutes(5)) {
    for (const [place, aheadMs] of writers) await served(nowMs + aheadMs, place);
    await tick(nowMs, collector);
    expect(await hosts()).toEqual(["ahead", "behind", "shared"]);
  }
  // The last renewals were five minutes ago. Each Lease lasts for its duration by the clock that wrote it.
  await tick(nowMs + minutes(4), collector);
  expect(await hosts()).toEqual(["ahead", "behind", "shared"]);
  await tick(nowMs + minutes(6), collector);
  expect(await hosts()).toEqual(["ahead", "shared"]);
  await tick(nowMs + minutes(16), collector);
  expect(await hosts()).toEqual([]);
});
