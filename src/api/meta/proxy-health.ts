/**
 * What a Service proxy answers at /healthz and /livez (KEP-3836; upstream pkg/proxy/healthcheck/proxy_health.go, release 1.36).
 *
 * A family is late when a change has waited for the timeout and no sync has come. /livez is 503 while the proxy is not healthy, /healthz also while
 * the node is about to go. A load balancer then takes the node out, and nobody restarts the proxy.
 */
import { greatestOf } from "../../core/base/extremes";
import { FAMILIES, type Family } from "../../core/net/family";
import type { Node } from "./kubernetes";
import { parseTime } from "./time";

/** Twice kube-proxy's sync period of 30 s. */
export const HEALTH_TIMEOUT_MS = 60_000;

/** A taint with this key: the cluster autoscaler is deleting the node. */
const TAINT_TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler";

export type HealthPath = "/healthz" | "/livez";

/** What a load balancer may ask of a node at a path alone. Names are as they stand in the path. */
export type NodeHealthQuestion = { readonly node: string } & (
  { readonly path: HealthPath } | { readonly namespace: string; readonly service: string }
);

/**
 * The question at a path: `/nodes/{node}/healthz`, `/livez` or `/services/{namespace}/{name}`, below the path of the cluster. undefined = the path asks
 * for no health of a node. These are all paths that load balancers without credentials may be allowed.
 */
export function nodeHealthQuestion(path: string): NodeHealthQuestion | undefined {
  const [root, nodes, node, kind, ...rest] = path.split("/");
  if (root !== "" || nodes !== "nodes" || !node) return undefined;
  if (rest.length === 0) return kind === "healthz" || kind === "livez" ? { node, path: `/${kind}` } : undefined;
  const [namespace, service, ...more] = rest;
  return kind === "services" && namespace && service && more.length === 0 ? { node, namespace, service } : undefined;
}

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
  timeoutMs = HEALTH_TIMEOUT_MS,
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

/** What of a Node decides whether it should get new connections. */
export interface NodeFacts {
  /** tells a Node from a later one of the same name; absent in rows of older releases */
  readonly uid?: string;
  /** its creationTimestamp, in ms since the epoch: whole seconds */
  readonly createdAt?: number;
  /** it has a deletionTimestamp */
  readonly isTerminating: boolean;
  /** keys of its taints */
  readonly taints: readonly string[];
}

export function nodeFacts({ metadata, spec }: Node): NodeFacts {
  const { uid, creationTimestamp, deletionTimestamp } = metadata ?? {};
  const createdAt = parseTime(creationTimestamp);
  return {
    ...(uid && { uid }),
    ...(createdAt !== undefined && { createdAt }),
    isTerminating: Boolean(deletionTimestamp),
    taints: spec?.taints?.map(({ key }) => key) ?? [],
  };
}

/**
 * Whether a node should get new connections. Nobody takes traffic away from a node that is only cordoned. undefined = no Node was seen yet.
 *
 * @param drainingTaints keys of further taints that say that a node is about to go
 */
export function isEligible(node: NodeFacts | undefined, drainingTaints: readonly string[] = []): boolean {
  if (!node || node.isTerminating) return false;
  return !node.taints.some((key) => key === TAINT_TO_BE_DELETED || drainingTaints.includes(key));
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
