/**
 * Requests for resources: how many were answered, with which code and how fast. Each isolate counts its own, from its start. Names, labels and buckets:
 * upstream apiserver endpoints/metrics/metrics.go. A watch counts when it is answered, not when it ends.
 */
import { Histogram } from "../../../core/telemetry/histogram";
import type { MetricFamily } from "../../../core/telemetry/metrics";
import { type CountedRequest, type RequestLabels, labelsOf } from "../negotiate/request-labels";
import { REQUEST_SERIES_MAX } from "../limits";

/** Seconds. */
const DURATION_BOUNDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** Requests that differ in nothing but their code. */
interface RequestSeries {
  cluster: string;
  labels: RequestLabels & { dry_run: string };
  durations: Histogram;
  byCode: Map<number, number>;
}

export class RequestMetrics {
  readonly #series = new Map<string, RequestSeries>();

  /** `cluster`: the name that clients know; `dryRun`: as `dryRunLabel` has it; `seconds`: until the answer began. */
  note(cluster: string, asked: CountedRequest, dryRun: string, code: number, seconds: number): void {
    const series = this.#of(cluster, asked, dryRun);
    series.durations.observe(seconds);
    series.byCode.set(code, (series.byCode.get(code) ?? 0) + 1);
  }

  families(cluster: string): MetricFamily[] {
    const own = [...this.#series.values()].filter((series) => series.cluster === cluster);
    return [
      {
        name: "apiserver_request_total",
        type: "counter",
        help:
          "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, " +
          "and HTTP response code.",
        samples: own.flatMap(({ labels, byCode }) =>
          [...byCode].map(([code, value]) => ({ labels: { ...labels, code: String(code) }, value })),
        ),
      },
      {
        name: "apiserver_request_duration_seconds",
        type: "histogram",
        help:
          "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope " +
          "and component.",
        bounds: DURATION_BOUNDS,
        samples: own.map(({ labels, durations }) => ({ labels: { ...labels }, value: durations.value })),
      },
    ];
  }

  #of(cluster: string, asked: CountedRequest, dryRun: string): RequestSeries {
    const labels = labelsOf(asked);
    const { verb, group, version, resource, subresource, scope } = labels;
    const key = `${cluster} ${verb} ${group}/${version}/${resource}/${subresource} ${scope} ${dryRun}`;
    let series = this.#series.get(key);
    if (!series) {
      // Clients may name any number of clusters.
      if (this.#series.size >= REQUEST_SERIES_MAX) this.#series.clear();
      series = { cluster, labels: { ...labels, dry_run: dryRun }, durations: new Histogram(DURATION_BOUNDS), byCode: new Map() };
      this.#series.set(key, series);
    }
    return series;
  }
}

/** One for each isolate. */
export const requestMetrics = new RequestMetrics();
