/** Counts of a deployment: what becomes a number, and when there is a point. */
import { expect, it } from "vitest";
import { FLEET_COUNTS, FleetMetrics } from "../../../../src/core/telemetry/fleet-metrics";

const told = (metrics: FleetMetrics, nowMs: number, isDue?: boolean): Record<string, number> | undefined => {
  const numbers = metrics.take(nowMs, isDue);
  return numbers && Object.fromEntries(FLEET_COUNTS.map((name, i) => [name, numbers[i] ?? 0] as const).filter(([, value]) => value !== 0));
};

it("the places of the numbers: queries know them, so none moves, and a point has room for 20", () => {
  expect(FLEET_COUNTS.slice(0, 15)).toEqual([
    ...["requests2xx", "requests4xx", "requests429", "requests5xx", "creates", "serviceCreates", "otherWrites", "watches"],
    ...["cronRuns", "cronLateSeconds", "cronVisits", "cronErrors", "backups", "backupFailures", "bucketRefusals"],
  ]);
  expect(FLEET_COUNTS.length).toBeLessThanOrEqual(20);
});

it.each<[verb: string, resource: string, code: number, counts: Record<string, number>]>([
  ["create", "services", 201, { requests2xx: 1, serviceCreates: 1 }],
  ["create", "pods", 201, { requests2xx: 1, creates: 1 }],
  ["create", "services", 409, { requests4xx: 1 }],
  ["patch", "services", 200, { requests2xx: 1, otherWrites: 1 }],
  ["get", "services", 304, { requests2xx: 1 }],
  ["watch", "services", 200, { requests2xx: 1, watches: 1 }],
  ["watch", "services", 410, { requests4xx: 1 }],
  ["list", "services", 429, { requests429: 1 }],
  ["update", "services", 503, { requests5xx: 1 }],
])("%s %s, answered with %d", (verb, resource, code, counts) => {
  const metrics = new FleetMetrics();
  metrics.addRequest({ verb, resource }, code);
  expect(told(metrics, 0)).toEqual(counts);
});

it("the first answer is told at once, what follows a minute later, and nothing twice", () => {
  const metrics = new FleetMetrics();
  expect(told(metrics, 0), "nothing happened").toBeUndefined();
  metrics.add("watches");
  expect(told(metrics, 1_000)).toEqual({ watches: 1 });
  metrics.add("watches", 2);
  expect(told(metrics, 60_999)).toBeUndefined();
  metrics.add("watches", 3);
  expect(told(metrics, 61_000)).toEqual({ watches: 5 });
  expect(told(metrics, 200_000), "nothing happened since").toBeUndefined();
});

it("a run of cron: told at its end, with what was counted before", () => {
  const metrics = new FleetMetrics();
  metrics.add("watches");
  metrics.take(0);
  metrics.add("creates");
  metrics.add("cronRuns");
  metrics.add("cronErrors", 0);
  expect(told(metrics, 1, true)).toEqual({ creates: 1, cronRuns: 1 });
});
