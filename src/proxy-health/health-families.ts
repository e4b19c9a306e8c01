/** What /metrics has of the health of nodes. Names and help of the first two: upstream pkg/proxy/metrics/metrics.go. */
import type { HealthPath } from "../api/meta/proxy-health";
import type { MetricFamily } from "../core/telemetry/metrics";
import { type HealthCounts, NODE_STATES } from "./pushed/health-tally";

/** `undefined` = the controller does not answer: no series. A series of answers is there from its first answer on. */
export function healthFamilies(counts: HealthCounts | undefined): MetricFamily[] {
  const answered = (path: HealthPath): { labels: { code: string }; value: number }[] =>
    Object.entries(counts?.answers ?? {})
      .flatMap(([kind, value]) => (kind.startsWith(`${path} `) ? [{ labels: { code: kind.slice(path.length + 1) }, value }] : []))
      .sort((a, b) => Number(a.labels.code) - Number(b.labels.code));
  return [
    {
      name: "kubeproxy_proxy_healthz_total",
      type: "counter",
      help: "[ALPHA] Cumulative proxy healthz HTTP status",
      samples: answered("/healthz"),
    },
    {
      name: "kubeproxy_proxy_livez_total",
      type: "counter",
      help: "[ALPHA] Cumulative proxy livez HTTP status",
      samples: answered("/livez"),
    },
    {
      name: "servicenet_proxy_health_nodes",
      type: "gauge",
      help: "Nodes with an agent that reports the health of their Service proxy, by state: healthy, late, silent.",
      samples: counts ? NODE_STATES.map((state) => ({ labels: { state }, value: counts.nodes[state] })) : [],
    },
  ];
}
