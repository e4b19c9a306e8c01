/**
 * The answers of a Service proxy at /healthz and /livez (KEP-3836; upstream pkg/proxy/healthcheck/proxy_health.go, release 1.36).
 *
 * A family is late when a change has waited for the timeout and no sync has come. /livez is 503 while the proxy is not healthy, /healthz also while
 * the node is about to go. A load balancer then takes the node out, and nobody restarts the proxy.
 */
import { greatestOf } from "../../core/base/extremes";
import { FAMILIES, type Family } from "../../core/net/family";

/** Twice kube-proxy's sync period of 30 s. */
export const HEALTH_TIMEOUT_MS = 60_000;

export type HealthPath = "/healthz" | "/livez";

export interface HealthAnswer {
  readonly code: 200 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const HEALTH_HEADERS = { "Content-Type": "application/json", "X-Content-Type-Options": "nosniff" } as const;

/** All times are ms since the epoch; undefined = never. */
export interface FamilyHealth {
  readonly lastUpdated: number | undefined;
  readonly healthy: boolean;
}

export interface ProxyState {
  readonly healthy: boolean;
  readonly nodeEligible: boolean;
  /** the families that have had a sync */
  readonly families: Readonly<Partial<Record<Family, FamilyHealth>>>;
}

/** Whether a family with this state is late at `now`. A family without any sync never is. */
export function isLate(
  { lastUpdated, queuedSince }: { readonly lastUpdated: number | undefined; readonly queuedSince: number | undefined },
  now: number,
  timeoutMs: number,
): boolean {
  return lastUpdated !== undefined && queuedSince !== undefined && now - queuedSince >= timeoutMs;
}

/** The answer at `path`. The status code of /healthz counts the node, `healthy` in its body does not. */
export function healthAnswer(path: HealthPath, { healthy, nodeEligible, families }: ProxyState, now: number): HealthAnswer {
  const code = healthy && (path === "/livez" || nodeEligible) ? 200 : 503;
  const known = FAMILIES.flatMap((family) => {
    const state = families[family];
    return state ? [[family, state] as const] : [];
  });
  const status = known.map(([family, state]) => [family, { lastUpdated: goTime(state.lastUpdated), healthy: state.healthy }] as const);
  const newest = greatestOf(known.map(([, { lastUpdated }]) => lastUpdated ?? -Infinity));
  const body = {
    lastUpdated: goTime(code === 200 ? now : newest === -Infinity ? undefined : newest),
    currentTime: goTime(now),
    ...(path === "/healthz" && { nodeEligible }),
    healthy,
    ...(status.length > 0 && { status: Object.fromEntries(status) }),
  };
  return { code, headers: HEALTH_HEADERS, body: JSON.stringify(body) };
}

/**
 * What a healthCheckNodePort answers: whether the node has a ready endpoint of the Service (upstream pkg/proxy/healthcheck/service_health.go).
 * Whether the node is about to go does not matter here.
 */
export function serviceHealthAnswer(
  { namespace, name, localEndpoints }: { readonly namespace: string; readonly name: string; readonly localEndpoints: number },
  serviceProxyHealthy: boolean,
): HealthAnswer {
  return {
    code: localEndpoints > 0 && serviceProxyHealthy ? 200 : 503,
    headers: { ...HEALTH_HEADERS, "X-Load-Balancing-Endpoint-Weight": String(localEndpoints) },
    body: JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy }, null, "\t"),
  };
}

/** Go's zero time. */
const NEVER = "0001-01-01T00:00:00Z";

/** RFC 3339 as Go prints it: without zeros at the end of the fraction. */
function goTime(ms: number | undefined): string {
  if (ms === undefined) return NEVER;
  const text = new Date(ms).toISOString();
  const end = text.length - 1;
  let kept = end;
  while (text[kept - 1] === "0" && kept > end - 3) kept--;
  return `${text.slice(0, kept === end - 3 ? kept - 1 : kept)}Z`;
}
