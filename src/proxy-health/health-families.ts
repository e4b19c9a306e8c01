/** The families of /metrics about the health of nodes. Names and help of the first two: upstream pkg/proxy/metrics/metrics.go. */
import type { HealthPath } from "./rules/health-answer";
import type { MetricFamily } from "../core/telemetry/metrics";
import { FAMILIES } from "../core/net/family";
import { type FamilyState, type HealthCounts, NODE_STATES } from "./pushed/health-tally";

/** `undefined` = the controller does not answer: no series. A series of answers is there from its first answer on. */
export function healthFamilies(counts: HealthCounts | undefined): MetricFamily[] {
  const answered = (path: HealthPath): { labels: { code: string }; value: number }[] =>
    Object.entries(counts?.answers ?? {})
      .flatMap(([kind, value]) => (kind.startsWith(`${path} `) ? [{ labels: { code: kind.slice(path.length + 1) }, value }] : []))
      .sort((a, b) => Number(a.labels.code) - Number(b.labels.code));
  const ofFamilies = (value: (state: FamilyState) => number | undefined): { labels: { ip_family: string }; value: number }[] =>
    FAMILIES.flatMap((family) => {
      const state = counts?.families?.[family];
      const found = state && value(state);
      return found === undefined ? [] : [{ labels: { ip_family: family }, value: found }];
    });
  const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);
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
    {
      name: "servicenet_proxy_health_late_nodes",
      type: "gauge",
      help: "Nodes whose Service proxy is late in an IP family that it reports. Nodes with a silent agent are left out.",
      samples: ofFamilies(({ late }) => late),
    },
    {
      name: "servicenet_proxy_health_oldest_queued_timestamp_seconds",
      type: "gauge",
      help: "Since when the oldest change waits that a node has not applied, of all reports; seconds since the epoch. Without a series none waits.",
      samples: ofFamilies(({ queuedSince }) => seconds(queuedSince)),
    },
    {
      name: "servicenet_proxy_health_oldest_sync_timestamp_seconds",
      type: "gauge",
      help: "The last sync of the node where it is the longest ago, of all reports; seconds since the epoch.",
      samples: ofFamilies(({ syncedAt }) => seconds(syncedAt)),
    },
  ];
}
