/** The metrics of kube-proxy that a proxy in user space has, too (upstream pkg/proxy/metrics/metrics.go): same names, types and labels. */
import { FAMILIES, type Family } from "../../core/net/family";
import { doubledBounds, Histogram } from "../../core/telemetry/histogram";
import { type MetricFamily, metricsText } from "../../core/telemetry/metrics";
import type { HealthPath } from "../../proxy-health/rules/health-answer";
import type { ProxyTable } from "./proxy-table";

/** 1 ms, doubling. */
const SYNC_BOUNDS = doubledBounds(0.001, 15);
const PROGRAMMING_BOUNDS = [0.25, 0.5, ...steps(1, 59, 1), ...steps(60, 115, 5), ...steps(120, 300, 30)];

function steps(from: number, to: number, by: number): number[] {
  return Array.from({ length: (to - from) / by + 1 }, (_, i) => from + i * by);
}

type Changed = "endpoint" | "service";

/** Times are ms since the epoch, durations ms. */
export class ProxyMetrics {
  readonly #durations = byFamily(() => new Histogram(SYNC_BOUNDS));
  readonly #programming = byFamily(() => new Histogram(PROGRAMMING_BOUNDS));
  readonly #lastQueued = new Map<Family, number>();
  readonly #lastSynced = new Map<Family, number>();
  readonly #changes: Record<Changed, { pending: number; total: number }> = {
    endpoint: { pending: 0, total: 0 },
    service: { pending: 0, total: 0 },
  };
  readonly #answers: Record<HealthPath, Map<string, number>> = { "/healthz": new Map(), "/livez": new Map() };

  noteChanges(of: Changed, count: number): void {
    this.#changes[of].pending += count;
    this.#changes[of].total += count;
  }

  noteQueued(now: number): void {
    for (const family of FAMILIES) this.#lastQueued.set(family, now);
  }

  /** A sync of both families is done. `triggers`: when what it served was caused. */
  noteSync(startedAt: number, now: number, triggers: readonly { readonly family: Family; readonly at: number }[]): void {
    for (const family of FAMILIES) {
      this.#durations[family].observe((now - startedAt) / 1_000);
      this.#lastSynced.set(family, now);
    }
    for (const { family, at } of triggers) this.#programming[family].observe(Math.max(0, now - at) / 1_000);
    for (const changes of Object.values(this.#changes)) changes.pending = 0;
  }

  noteAnswer(path: HealthPath, code: number): void {
    const answers = this.#answers[path];
    answers.set(String(code), (answers.get(String(code)) ?? 0) + 1);
  }

  text(table: Pick<ProxyTable, "withoutLocalEndpoints">): string {
    return metricsText([...this.#families(), noLocalEndpoints(table)]);
  }

  #families(): MetricFamily[] {
    const { endpoint, service } = this.#changes;
    return [
      histogram(
        "network_programming_duration_seconds",
        "In Cluster Network Programming Latency in seconds",
        PROGRAMMING_BOUNDS,
        this.#programming,
      ),
      plain("counter", "proxy_healthz_total", "Cumulative proxy healthz HTTP status", codes(this.#answers["/healthz"])),
      plain("counter", "proxy_livez_total", "Cumulative proxy livez HTTP status", codes(this.#answers["/livez"])),
      histogram("sync_proxy_rules_duration_seconds", "SyncProxyRules latency in seconds", SYNC_BOUNDS, this.#durations),
      plain("gauge", "sync_proxy_rules_endpoint_changes_pending", "Pending proxy rules Endpoint changes", one(endpoint.pending)),
      plain("counter", "sync_proxy_rules_endpoint_changes_total", "Cumulative proxy rules Endpoint changes", one(endpoint.total)),
      plain("gauge", "sync_proxy_rules_service_changes_pending", "Pending proxy rules Service changes", one(service.pending)),
      plain("counter", "sync_proxy_rules_service_changes_total", "Cumulative proxy rules Service changes", one(service.total)),
      plain(
        "gauge",
        "sync_proxy_rules_last_queued_timestamp_seconds",
        "The last time a sync of proxy rules was queued",
        seconds(this.#lastQueued),
      ),
      plain(
        "gauge",
        "sync_proxy_rules_last_timestamp_seconds",
        "The last time proxy rules were successfully synced",
        seconds(this.#lastSynced),
      ),
    ];
  }
}

type Samples = Extract<MetricFamily, { type: "gauge" | "counter" }>["samples"];

function plain(type: "counter" | "gauge", name: string, help: string, samples: Samples): MetricFamily {
  return { name: `kubeproxy_${name}`, type, help: `[ALPHA] ${help}`, samples };
}

function histogram(name: string, help: string, bounds: readonly number[], of: Readonly<Record<Family, Histogram>>): MetricFamily {
  const samples = FAMILIES.map((family) => ({ labels: { ip_family: family }, value: of[family].value }));
  return { name: `kubeproxy_${name}`, type: "histogram", help: `[ALPHA] ${help}`, bounds, samples };
}

function noLocalEndpoints(table: Pick<ProxyTable, "withoutLocalEndpoints">): MetricFamily {
  const samples = FAMILIES.flatMap((family) =>
    (["internal", "external"] as const).map((policy) => ({
      labels: { ip_family: family, traffic_policy: policy },
      value: table.withoutLocalEndpoints(`${policy}TrafficPolicy`, family),
    })),
  );
  return plain(
    "gauge",
    "sync_proxy_rules_no_local_endpoints_total",
    "Number of services with a Local traffic policy and no endpoints",
    samples,
  );
}

function one(value: number): Samples {
  return [{ labels: {}, value }];
}

function codes(counts: ReadonlyMap<string, number>): Samples {
  return [...counts].map(([code, value]) => ({ labels: { code }, value }));
}

function seconds(times: ReadonlyMap<Family, number>): Samples {
  return [...times].map(([family, ms]) => ({ labels: { ip_family: family }, value: ms / 1_000 }));
}

function byFamily<T>(make: () => T): Record<Family, T> {
  return { IPv4: make(), IPv6: make() };
}
