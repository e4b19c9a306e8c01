/** The audit log of this Worker: one line for each request that the configuration chooses. */
import type { AuditPolicy } from "../../access/audit/audit-policy";
import { auditLevelOf, parseAuditPolicy } from "../../access/audit/audit-policy";
import { auditRecord } from "../../access/audit/audit-record";
import type { Attributes } from "../../access/authorization/attributes";
import { definitionOf } from "../../api/registry/all";
import { assert } from "../../core/base/assert";
import { isWritten } from "../../core/base/log-level";
import type { Env } from "../../../durable-objects/platform/env";
import { log } from "../http/log";
import { originForm, type RequestUrl } from "../http/read/request-url";
import { REVIEW_GROUPS } from "../routing/review-kinds";
import type { RequestAccess } from "./admit";

/** A larger body is not recorded. */
const BODY_MAX_BYTES = 4_096;

/** of a record among the events of the log */
const LOG_LEVEL = "info";

const policies = new WeakMap<Env, AuditPolicy>();

/** The policy of AUDIT_POLICY, which the check of the configuration has read before. */
function policyOf(env: Env): AuditPolicy {
  const known = policies.get(env);
  if (known) return known;
  const parsed = parseAuditPolicy(env.AUDIT_POLICY ?? "");
  assert(parsed.ok, "requests with invalid variables are refused before");
  policies.set(env, parsed.value);
  return parsed.value;
}

/** The body of a request whose record may have it; undefined = it has none. It is read apart from the request, which keeps its own. */
export function auditedBody(env: Env, request: Request): Promise<string> | undefined {
  if (policyOf(env).writes !== "Request" || !request.body || !isWritten(LOG_LEVEL, env.LOG_LEVEL)) return undefined;
  const bytes = Number(request.headers.get("Content-Length") ?? Infinity);
  return bytes <= BODY_MAX_BYTES ? request.clone().text() : undefined;
}

export interface Answered {
  env: Env;
  request: Request;
  url: RequestUrl;
  response: Response;
  admission: RequestAccess;
  auditId: string;
  /** ms since the epoch */
  receivedMs: number;
  body: Promise<string> | undefined;
}

/** Undefined = done; else the rest of the work, which the answer does not wait for. */
export function writeAudit({ env, request, url, response, admission, auditId, receivedMs, body }: Answered): Promise<void> | undefined {
  const { asked, caller, access } = admission;
  const level = auditLevelOf(policyOf(env), isReview(asked) ? "get" : asked.verb, auditId);
  if (level === "None" || !isWritten(LOG_LEVEL, env.LOG_LEVEL)) return undefined;
  const endedMs = Date.now();
  const facts = {
    auditId,
    level,
    cluster: url.cluster,
    caller,
    attributes: asked,
    requestUri: originForm(request.url),
    userAgent: request.headers.get("User-Agent") ?? "",
    sourceIp: sourceIpOf(env, request),
    code: response.status,
    receivedMs,
    endedMs,
    annotations: decisionOf(access),
    isConfidential: asked.kind === "resource" && definitionOf(asked.group, asked.resource)?.confidential === true,
  };
  const write = (text?: string): void =>
    log(LOG_LEVEL, "audit", { record: auditRecord(text === undefined ? facts : { ...facts, body: text }) });
  // A body that broke off is not recorded.
  if (body) return body.then(write, () => write());
  write();
  return undefined;
}

/** Cloudflare sets this header itself. A local server, which tells when it started, has no platform in front: a client could forge the header, so it is left out. */
function sourceIpOf(env: Env, request: Request): string {
  return env.SERVER_STARTED_AT === undefined ? (request.headers.get("CF-Connecting-IP") ?? "") : "";
}

/** A review is created and stores nothing: a read in the form of a write. */
function isReview(asked: Attributes): boolean {
  return asked.kind === "resource" && REVIEW_GROUPS.has(asked.group) && asked.resource.endsWith("reviews");
}

/** Upstream's names: apiserver pkg/endpoints/filters/authorization.go. */
function decisionOf(access: RequestAccess["access"]): Record<string, string> {
  return { "authorization.k8s.io/decision": access.ok ? "allow" : "forbid" };
}
