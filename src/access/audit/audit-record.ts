/**
 * One request as a record of the audit log, in the form of audit.k8s.io/v1 Event, stage ResponseComplete. Credentials never appear: no header but
 * User-Agent is read, the URL is redacted, and bodies that hold secrets or tokens are left out. Upstream: apiserver endpoints/filters/audit.go.
 */
import type { Attributes } from "../authorization/attributes";
import type { Caller, User } from "../identity/user";
import type { AuditLevel } from "./audit-policy";
import { redactedUri } from "./redacted-uri";

const USER_AGENT_MAX_CHARS = 1_024;
const BODY_MAX_CHARS = 4_096;
const TEXT_MAX_CHARS = 1_024;
const GROUPS_MAX = 64;
const ANNOTATIONS_MAX = 16;

/** Resources whose bodies are secrets, or hold tokens; ConfigMaps as in upstream's own policy (cluster/gce/gci/configure-helper.sh). */
const CONFIDENTIAL: ReadonlySet<string> = new Set(["secrets", "tokenreviews", "configmaps"]);

export interface Audited {
  readonly auditId: string;
  readonly level: Exclude<AuditLevel, "None">;
  readonly cluster: string;
  readonly caller: Caller;
  readonly attributes: Attributes;
  /** path and query as they arrived */
  readonly requestUri: string;
  readonly userAgent: string;
  /** "" = not known */
  readonly sourceIp: string;
  readonly code: number;
  readonly reason?: string;
  /** milliseconds since the epoch */
  readonly receivedMs: number;
  readonly endedMs: number;
  /** as "authorization.k8s.io/decision" */
  readonly annotations?: Readonly<Record<string, string>>;
  /** the object of the request as it arrived; of level Request alone */
  readonly body?: string;
  /** the resource's definition says that its objects are secret */
  readonly isConfidential?: boolean;
}

export interface AuditUser {
  username: string;
  uid?: string;
  groups?: string[];
}

export interface AuditRecord {
  kind: "Event";
  apiVersion: "audit.k8s.io/v1";
  level: string;
  auditID: string;
  stage: "ResponseComplete";
  requestURI: string;
  verb: string;
  user: AuditUser;
  impersonatedUser?: AuditUser;
  sourceIPs?: string[];
  userAgent?: string;
  objectRef?: Record<string, string>;
  responseStatus: { metadata: Record<string, never>; code: number; status?: "Failure"; reason?: string };
  requestObject?: string;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations: Record<string, string>;
}

/** The record: an object that is written as one line. */
export function auditRecord(audited: Audited): AuditRecord {
  const { auditId, level, cluster, caller, attributes, requestUri, userAgent, sourceIp, code, reason, receivedMs, endedMs } = audited;
  const { user, impersonator, credential } = caller;
  const ref = objectRefOf(attributes);
  const body = level === "Request" ? bodyOf(audited) : undefined;
  return {
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level,
    auditID: cut(auditId, TEXT_MAX_CHARS),
    stage: "ResponseComplete",
    requestURI: redactedUri(requestUri),
    verb: attributes.verb,
    user: shownUser(impersonator ?? user),
    ...(impersonator ? { impersonatedUser: shownUser(user) } : {}),
    ...(sourceIp === "" ? {} : { sourceIPs: [cut(sourceIp, TEXT_MAX_CHARS)] }),
    ...(userAgent === "" ? {} : { userAgent: cut(userAgent, USER_AGENT_MAX_CHARS) }),
    ...(ref ? { objectRef: ref } : {}),
    responseStatus: { metadata: {}, code, ...(code >= 400 ? { status: "Failure" } : {}), ...(reason ? { reason } : {}) },
    ...(body === undefined ? {} : { requestObject: body }),
    requestReceivedTimestamp: new Date(receivedMs).toISOString(),
    stageTimestamp: new Date(endedMs).toISOString(),
    annotations: {
      ...annotationsOf(audited.annotations),
      "servicenet.dev/cluster": cluster,
      "servicenet.dev/credential": cut(credential, TEXT_MAX_CHARS),
      "servicenet.dev/latency-ms": String(Math.max(0, endedMs - receivedMs)),
    },
  };
}

/** Extra attributes of a user may hold anything, and are left out. */
function shownUser({ name, uid, groups }: User): AuditUser {
  return {
    username: cut(name, TEXT_MAX_CHARS),
    ...(uid === "" ? {} : { uid: cut(uid, TEXT_MAX_CHARS) }),
    ...(groups.length === 0 ? {} : { groups: groups.slice(0, GROUPS_MAX).map((group) => cut(group, TEXT_MAX_CHARS)) }),
  };
}

function objectRefOf(attributes: Attributes): Record<string, string> | undefined {
  if (attributes.kind === "path") return undefined;
  const { resource, namespace, name, group, version, subresource } = attributes;
  const all = { resource, namespace, name, apiGroup: group, apiVersion: version, subresource };
  return Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === "" ? [] : [[key, cut(value, TEXT_MAX_CHARS)]])));
}

/** The body's beginning; undefined: it is secret, or there is none. */
function bodyOf({ attributes, body, isConfidential }: Audited): string | undefined {
  if (attributes.kind === "path" || isConfidential === true || body === undefined || body === "") return undefined;
  return CONFIDENTIAL.has(attributes.resource) || attributes.subresource === "token" ? undefined : cut(body, BODY_MAX_CHARS);
}

function annotationsOf(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations)
      .slice(0, ANNOTATIONS_MAX)
      .map(([key, value]) => [key, cut(value, TEXT_MAX_CHARS)]),
  );
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
