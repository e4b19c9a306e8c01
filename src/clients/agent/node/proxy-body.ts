/**
 * What kube-proxy says at /healthz or /livez, as a report: per family, in durations (upstream pkg/proxy/healthcheck/proxy_health.go). Codes 200 and 503
 * are both answers.
 *
 *   release    body
 *   1.33 on    {"lastUpdated", "currentTime", "nodeEligible", "healthy", "status": {"IPv4": {"lastUpdated", "healthy"}, …}}, times in RFC 3339
 *   up to 1.32 {"lastUpdated", "currentTime", "nodeEligible"}, times as Go prints them, and one health for all families
 *
 * The ages are differences of two times of one body, so the machine's clock means nothing.
 */
import { FAMILIES, type Family } from "../../../core/net/family";
import type { FamilyReport, Report } from "../../../proxy-health/report";

/** `2025-01-02 03:04:05.6 +0000 UTC m=+1.2` */
const GO_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) ([+-]\d\d)(\d\d) /;

interface ProxyHealthBody {
  currentTime?: unknown;
  lastUpdated?: unknown;
  nodeEligible?: unknown;
  status?: Partial<Record<Family, { lastUpdated?: unknown; healthy?: unknown }>>;
  healthy?: unknown;
}

/** The report; undefined = this is no answer of a proxy. `families`: those of the node, for bodies that name none. */
export function reportOf(code: number, text: string, families: readonly Family[]): Report | undefined {
  if (code !== 200 && code !== 503) return undefined;
  const body = parsed(text);
  const nowMs = timeOf(body?.currentTime);
  if (!body || nowMs === undefined) return undefined;
  if (typeof body.healthy !== "boolean") return olderReport(code, body, families);
  const report: Partial<Record<Family, FamilyReport>> = {};
  for (const family of FAMILIES) {
    const { lastUpdated, healthy } = body.status?.[family] ?? {};
    if (typeof healthy === "boolean") report[family] = { healthy, ...ageAt(nowMs, lastUpdated) };
  }
  return report;
}

/** A 503 of a node that drains says nothing about the proxy. */
function olderReport(code: number, { nodeEligible }: ProxyHealthBody, families: readonly Family[]): Report {
  const healthy = code === 200 || nodeEligible === false;
  return Object.fromEntries(families.map((family) => [family, { healthy }]));
}

function ageAt(nowMs: number, lastUpdated: unknown): Pick<FamilyReport, "appliedAgoMs"> {
  const atMs = timeOf(lastUpdated);
  // Go's zero time: there was no sync.
  return atMs === undefined || atMs <= 0 ? {} : { appliedAgoMs: Math.max(0, Math.round(nowMs - atMs)) };
}

function timeOf(text: unknown): number | undefined {
  if (typeof text !== "string") return undefined;
  const [, day = "", time = "", hours = "", minutes = ""] = GO_TIME.exec(text) ?? [];
  const ms = Date.parse(day === "" ? text : `${day}T${time}${hours}:${minutes}`);
  return Number.isNaN(ms) ? undefined : ms;
}

function parsed(text: string): ProxyHealthBody | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
