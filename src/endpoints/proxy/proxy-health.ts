/**
 * What kube-proxy answers at /healthz and /livez (KEP-3836; upstream pkg/proxy/healthcheck/proxy_health.go, release 1.36).
 *
 * A family is late when a change has waited for the timeout and no sync has come. /livez is 503 while a family is late, /healthz also while the
 * node is about to go. A load balancer then takes the node out, and nobody restarts the proxy.
 */
import type { Node } from "../../api/meta/kubernetes";
import { FAMILIES, type Family } from "../../core/net/family";

/** Twice kube-proxy's sync period of 30 s. */
export const HEALTH_TIMEOUT_MS = 60_000;

/** A taint with this key: the cluster autoscaler is deleting the node. */
const TAINT_TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler";

export interface HealthAnswer {
  readonly code: 200 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const HEADERS = { "Content-Type": "application/json", "X-Content-Type-Options": "nosniff" } as const;

interface FamilyState {
  lastUpdated: number | undefined;
  /** since when a change waits; undefined = none does */
  queuedSince: number | undefined;
}

/** All times are ms since the epoch. */
export class ProxyHealth {
  readonly #families: Record<Family, FamilyState> = {
    IPv4: { lastUpdated: undefined, queuedSince: undefined },
    IPv6: { lastUpdated: undefined, queuedSince: undefined },
  };
  #node: Node | undefined;
  readonly #timeoutMs: number;

  constructor(timeoutMs = HEALTH_TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
  }

  /** The family's listeners are as the view wants them. */
  updated(family: Family, now: number): void {
    this.#families[family] = { lastUpdated: now, queuedSince: undefined };
  }

  /** A change of the family waits to be served. */
  queued(family: Family, now: number): void {
    this.#families[family].queuedSince ??= now;
  }

  /** The node as the API server has it. One that is gone from there stays as it was seen last. */
  set node(node: Node) {
    this.#node = node;
  }

  isHealthy(now: number): boolean {
    return FAMILIES.every((family) => !this.#isLate(family, now));
  }

  /** The body of /healthz and /livez. */
  answer(path: "/healthz" | "/livez", now: number): HealthAnswer {
    const healthy = this.isHealthy(now);
    const nodeEligible = isEligible(this.#node);
    const code = healthy && (path === "/livez" || nodeEligible) ? 200 : 503;
    const status = FAMILIES.flatMap((family) => {
      const { lastUpdated } = this.#families[family];
      return lastUpdated === undefined
        ? []
        : [[family, { lastUpdated: goTime(lastUpdated), healthy: !this.#isLate(family, now) }] as const];
    });
    const newest = Math.max(...FAMILIES.map((family) => this.#families[family].lastUpdated ?? -Infinity));
    const body = {
      lastUpdated: code === 200 ? goTime(now) : newest === -Infinity ? NEVER : goTime(newest),
      currentTime: goTime(now),
      ...(path === "/healthz" && { nodeEligible }),
      healthy,
      ...(status.length > 0 && { status: Object.fromEntries(status) }),
    };
    return { code, headers: HEADERS, body: JSON.stringify(body) };
  }

  #isLate(family: Family, now: number): boolean {
    const { lastUpdated, queuedSince } = this.#families[family];
    return lastUpdated !== undefined && queuedSince !== undefined && now - queuedSince >= this.#timeoutMs;
  }
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
    headers: { ...HEADERS, "X-Load-Balancing-Endpoint-Weight": String(localEndpoints) },
    body: JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy }, null, "\t"),
  };
}

/** Nobody takes traffic away from a node that is only cordoned. */
function isEligible(node: Node | undefined): boolean {
  if (!node || node.metadata?.deletionTimestamp) return false;
  return !node.spec?.taints?.some(({ key }) => key === TAINT_TO_BE_DELETED);
}

/** Go's zero time. */
const NEVER = "0001-01-01T00:00:00Z";

/** RFC 3339 as Go prints it: without zeros at the end of the fraction. */
function goTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.?0*Z$/, "Z");
}
