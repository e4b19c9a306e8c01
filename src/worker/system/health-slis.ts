/**
 * The results of health checks, as series of /metrics/slis. Each isolate counts its own, from its start; a series begins when its check first runs.
 * Upstream: component-base metrics/prometheus/slis.
 */
import type { MetricFamily } from "../../core/telemetry/metrics";
import { HEALTH_CLUSTERS_MAX } from "../http/limits";

/** The paths of health. */
export type HealthProbe = "healthz" | "livez" | "readyz";

interface SliSeries {
  readonly name: string;
  readonly type: HealthProbe;
  isPassed: boolean;
  readonly counts: { success: number; error: number };
}

export class HealthSlis {
  /** by cluster, by path and check */
  readonly #series = new Map<string, Map<string, SliSeries>>();

  /** Counts one run of a check. `cluster` is the name that clients know. */
  note(cluster: string, type: HealthProbe, name: string, isPassed: boolean): void {
    let ofCluster = this.#series.get(cluster);
    if (!ofCluster) {
      if (this.#series.size >= HEALTH_CLUSTERS_MAX) this.#series.clear();
      this.#series.set(cluster, (ofCluster = new Map()));
    }
    const key = `${type} ${name}`;
    const series = ofCluster.get(key) ?? { name, type, isPassed, counts: { success: 0, error: 0 } };
    ofCluster.set(key, series);
    series.isPassed = isPassed;
    series.counts[isPassed ? "success" : "error"]++;
  }

  families(cluster: string): MetricFamily[] {
    const all = [...(this.#series.get(cluster)?.values() ?? [])];
    return [
      {
        name: "kubernetes_healthcheck",
        type: "gauge",
        help: "[STABLE] This metric records the result of a single healthcheck.",
        samples: all.map(({ name, type, isPassed }) => ({ labels: { name, type }, value: isPassed ? 1 : 0 })),
      },
      {
        name: "kubernetes_healthchecks_total",
        type: "counter",
        help: "[STABLE] This metric records the results of all healthcheck.",
        samples: all.flatMap(({ name, type, counts }) =>
          Object.entries(counts).flatMap(([status, value]) => (value > 0 ? [{ labels: { name, status, type }, value }] : [])),
        ),
      },
    ];
  }
}

/** One for each isolate. */
export const healthSlis = new HealthSlis();
