/** Points of a deployment's dataset: of requests and of cron, through the whole Worker. */
import { createExecutionContext, createScheduledController } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Env } from "../../../../../durable-objects/platform/env";
import { FLEET_COUNTS } from "../../../../../src/core/telemetry/fleet-metrics";
import { fleetMetrics } from "../../../../../src/worker/http/connection/fleet";
import worker from "../../../../../src/worker/index";
import { fakeEnv } from "../../fake-env";

type Point = Required<AnalyticsEngineDataPoint>;
const points: Point[] = [];
const dataset: AnalyticsEngineDataset = { writeDataPoint: (point) => void points.push(point as Point) };
const { env } = fakeEnv();
const bound: Env = { ...env, FLEET_METRICS: dataset, CF_VERSION_METADATA: { id: "v7", tag: "", timestamp: "" } };

beforeEach(() => {
  points.length = 0;
  // Other files of the isolate have counted, too.
  fleetMetrics.take(0, true);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const get = (own: Env, cf?: object) => {
  const request = new Request("http://h/clusters/fleet/api/v1/namespaces/default/services/a", cf ? ({ cf } as RequestInit) : {});
  return worker.fetch(request, own, createExecutionContext());
};
const tick = (own: Env, dueMs: number) =>
  worker.scheduled(createScheduledController({ cron: "*/5 * * * *", scheduledTime: new Date(dueMs) }), own, createExecutionContext());
const numbers = ({ doubles }: Point) => Object.fromEntries(FLEET_COUNTS.flatMap((name, i) => (doubles[i] ? [[name, doubles[i]]] : [])));

it("a request: a point with the version and the data centre; the next ones wait for their minute", async () => {
  vi.useFakeTimers({ now: 600_000, toFake: ["Date"] });
  for (let i = 0; i < 3; i++) await get(bound, { colo: "AMS" });
  expect(points.map(({ blobs, indexes }) => ({ blobs, indexes }))).toEqual([{ blobs: ["v7", "AMS"], indexes: ["fleet"] }]);
  vi.setSystemTime(660_000);
  await get(bound);
  expect(points).toHaveLength(2);
  const answered = points.flatMap((point) => Object.entries(numbers(point)));
  expect(answered.reduce((sum, [name, value]) => sum + (name.startsWith("requests") ? value : 0), 0)).toBe(4);
});

it("a run of cron: a point, with how late it came", async () => {
  await tick(bound, Date.now() - 7_000);
  expect(points).toHaveLength(1);
  const [point] = points;
  expect(point && numbers(point)).toMatchObject({ cronRuns: 1, cronLateSeconds: expect.closeTo(7, 0) });
});

it("no dataset: nothing is written; one that throws: a warning, and the answer comes", async () => {
  await get(env);
  await tick(env, Date.now());
  expect(points).toEqual([]);
  const warned = vi.spyOn(console, "warn").mockReturnValue();
  const refusing = { writeDataPoint: () => expect.fail("no") } as unknown as AnalyticsEngineDataset;
  expect((await get({ ...bound, FLEET_METRICS: refusing })).status).toBeLessThan(600);
  await tick({ ...bound, FLEET_METRICS: refusing }, Date.now());
  expect(warned.mock.calls.join()).toContain("the dataset of fleet metrics refuses");
});
