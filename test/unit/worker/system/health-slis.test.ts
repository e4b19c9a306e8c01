import { expect, it } from "vitest";
import { metricsText } from "../../../../src/core/telemetry/metrics";
import { HEALTH_CLUSTERS_MAX } from "../../../../src/worker/http/limits";
import { HealthSlis } from "../../../../src/worker/system/health-slis";

const seriesOf = (slis: HealthSlis, cluster: string): string[] =>
  metricsText(slis.families(cluster))
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

it("a check: the gauge has its last result, the counters have all", () => {
  const slis = new HealthSlis();
  for (const isPassed of [false, false, true]) slis.note("a", "readyz", "ping", isPassed);
  slis.note("b", "livez", "ping", false);
  expect(seriesOf(slis, "a")).toEqual([
    'kubernetes_healthcheck{name="ping",type="readyz"} 1',
    'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 1',
    'kubernetes_healthchecks_total{name="ping",status="error",type="readyz"} 2',
  ]);
  expect(seriesOf(slis, "b")).toEqual([
    'kubernetes_healthcheck{name="ping",type="livez"} 0',
    'kubernetes_healthchecks_total{name="ping",status="error",type="livez"} 1',
  ]);
});

it("more clusters than are remembered: the memory starts over", () => {
  const slis = new HealthSlis();
  for (let i = 0; i <= HEALTH_CLUSTERS_MAX; i++) slis.note(String(i), "readyz", "ping", true);
  expect([seriesOf(slis, "0"), seriesOf(slis, String(HEALTH_CLUSTERS_MAX)).length]).toEqual([[], 2]);
});
