/** The tables of upstream pkg/proxy/healthcheck/healthcheck_test.go. */
import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/api/meta/kubernetes";
import { HEALTH_TIMEOUT_MS } from "../../../../src/proxy-health/rules/health-answer";
import type { Family } from "../../../../src/core/net/family";
import { serviceHealthAnswer } from "../../../../src/proxy-health/rules/health-answer";
import { ProxyHealth } from "../../../../src/clients/proxy/proxy-health";

const START = Date.UTC(2025, 0, 2, 3, 4, 5, 600);
const BOTH: Family[] = ["IPv4", "IPv6"];

class World {
  now = START;
  readonly health = new ProxyHealth(10_000);

  constructor(node: Node | undefined = aNode()) {
    if (node) this.health.node = node;
  }

  updated(families: Family[]): void {
    for (const family of families) this.health.updated(family, this.now);
  }

  queued(families: Family[]): void {
    for (const family of families) this.health.queued(family, this.now);
  }

  /** Code, `ok` or `late` of each family, and the age of lastUpdated in seconds. */
  seen(path: "/healthz" | "/livez" = "/healthz"): string {
    const { code, body } = this.health.answer(path, this.now, this.now);
    const { lastUpdated, status = {} } = JSON.parse(body) as { lastUpdated: string; status?: Record<string, { healthy: boolean }> };
    const families = Object.entries(status).map(([family, { healthy }]) => `${family} ${healthy ? "ok" : "late"}`);
    return [String(code), ...families, `${(this.now - Date.parse(lastUpdated)) / 1_000} s`].join(", ");
  }
}

function aNode(spec: Node["spec"] = {}, metadata: Node["metadata"] = {}): Node {
  return { metadata: { name: "n1", ...metadata }, spec };
}

const taint = (key: string): Node => aNode({ taints: [{ key, effect: "NoSchedule" }] });

it("changes that wait: the family is late after the timeout, and one late family is enough", () => {
  const world = new World();
  const seen: string[] = [];
  const step = (seconds: number, { updated = [], queued = [] }: { updated?: Family[]; queued?: Family[] } = {}): void => {
    world.updated(updated);
    world.queued(queued);
    world.now += seconds * 1_000;
    expect(world.seen("/livez")).toBe(world.seen());
    seen.push(world.seen());
  };
  step(0);
  step(0, { updated: BOTH });
  step(25);
  step(25, { queued: ["IPv4"] });
  step(5, { updated: BOTH });
  step(25, { queued: ["IPv6"] });
  step(5, { updated: BOTH });
  step(25, { queued: BOTH });
  step(5, { updated: BOTH });
  step(25, { queued: ["IPv6"] });
  step(0, { updated: ["IPv4"] });
  step(0, { updated: ["IPv6"] });
  expect(seen).toEqual([
    "200, 0 s",
    "200, IPv4 ok, IPv6 ok, 0 s",
    "200, IPv4 ok, IPv6 ok, 0 s",
    "503, IPv4 late, IPv6 ok, 50 s",
    "200, IPv4 ok, IPv6 ok, 0 s",
    "503, IPv4 ok, IPv6 late, 30 s",
    "200, IPv4 ok, IPv6 ok, 0 s",
    "503, IPv4 late, IPv6 late, 30 s",
    "200, IPv4 ok, IPv6 ok, 0 s",
    "503, IPv4 ok, IPv6 late, 30 s",
    "503, IPv4 ok, IPv6 late, 0 s",
    "200, IPv4 ok, IPv6 ok, 0 s",
  ]);
});

describe("the timeout", () => {
  it.each([
    [9_999, 200],
    [10_000, 503],
  ])("after %i ms: %i", (ms, code) => {
    const world = new World();
    world.updated(BOTH);
    world.queued(["IPv4"]);
    world.now += ms;
    // A later change does not make an earlier one younger.
    world.queued(["IPv4"]);
    expect(world.health.answer("/livez", world.now, world.now).code).toBe(code);
  });

  it("its length: twice kube-proxy's sync period", () => {
    const health = new ProxyHealth();
    health.updated("IPv4", 0);
    health.queued("IPv4", 0);
    expect([health.isHealthy(HEALTH_TIMEOUT_MS - 1), health.isHealthy(60_000)]).toEqual([true, false]);
  });
});

it.each([
  { name: "without a taint", node: aNode(), eligible: true },
  { name: "with another taint", node: taint("other"), eligible: true },
  { name: "that the autoscaler deletes", node: taint("ToBeDeletedByClusterAutoscaler"), eligible: false },
  { name: "that is being deleted", node: aNode({}, { deletionTimestamp: "2025-01-02T03:04:05Z" as never }), eligible: false },
  { name: "that is cordoned", node: aNode({ unschedulable: true }), eligible: true },
  { name: "that nobody has seen", node: undefined, eligible: false },
])("a node $name: /healthz says so, /livez does not", ({ node, eligible }) => {
  const world = new World(aNode());
  const health = new ProxyHealth(10_000);
  if (node) health.node = node;
  const [healthz, livez] = (["/healthz", "/livez"] as const).map((path) => health.answer(path, world.now, world.now));
  expect([healthz?.code, livez?.code]).toEqual([eligible ? 200 : 503, 200]);
  expect(JSON.parse(healthz?.body ?? "")).toMatchObject({ nodeEligible: eligible, healthy: true });
  expect(JSON.parse(livez?.body ?? "")).not.toHaveProperty("nodeEligible");
});

it("the body: kube-proxy's keys in their order, times as Go prints them", () => {
  const world = new World();
  world.health.updated("IPv4", Date.UTC(2025, 0, 2, 3, 4));
  const { headers, body } = world.health.answer("/healthz", START, START);
  expect(headers).toEqual({ "Content-Type": "application/json", "X-Content-Type-Options": "nosniff" });
  expect(body).toBe(
    '{"lastUpdated":"2025-01-02T03:04:05.6Z","currentTime":"2025-01-02T03:04:05.6Z","nodeEligible":true,"healthy":true,' +
      '"status":{"IPv4":{"lastUpdated":"2025-01-02T03:04:00Z","healthy":true}}}',
  );
});

it("a wall clock that was set: the times of the body are its own, the judgement is not", () => {
  const world = new World();
  world.updated(["IPv4"]);
  world.queued(["IPv4"]);
  world.now += 5_000;
  const wall = Date.UTC(2020, 0, 1);
  const { code, body } = world.health.answer("/livez", world.now, wall);
  expect([code, JSON.parse(body)]).toMatchObject([
    200,
    { currentTime: "2020-01-01T00:00:00Z", status: { IPv4: { lastUpdated: "2019-12-31T23:59:55Z" } } },
  ]);
  world.now += 5_000;
  expect(world.health.answer("/livez", world.now, wall).code).toBe(503);
});

it("a report: whole milliseconds, whatever the clock counts", () => {
  const health = new ProxyHealth();
  health.updated("IPv4", 0.4);
  health.queued("IPv4", 1.9);
  expect(health.report(7.5)).toEqual({ IPv4: { appliedAgoMs: 7, queuedForMs: 5 } });
});

it("the body of a 503 before anything was served: Go's zero time", () => {
  const { code, body } = new ProxyHealth().answer("/healthz", START, START);
  expect([code, JSON.parse(body)]).toMatchObject([503, { lastUpdated: "0001-01-01T00:00:00Z" }]);
});

it.each([
  { localEndpoints: 3, healthy: true, code: 200 },
  { localEndpoints: 0, healthy: true, code: 503 },
  { localEndpoints: 3, healthy: false, code: 503 },
])("a healthCheckNodePort, $localEndpoints endpoints, proxy healthy $healthy: $code", ({ localEndpoints, healthy, code }) => {
  const answer = serviceHealthAnswer({ namespace: "a", name: "b", localEndpoints }, healthy);
  expect(answer.code).toBe(code);
  expect(answer.headers).toEqual({
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    "X-Load-Balancing-Endpoint-Weight": String(localEndpoints),
  });
  expect(answer.body).toBe(
    `{\n\t"service": {\n\t\t"namespace": "a",\n\t\t"name": "b"\n\t},\n\t"localEndpoints": ${localEndpoints},\n\t"serviceProxyHealthy": ${healthy}\n}`,
  );
});
