/**
 * This server's own bearer tokens, for its administrators:
 *
 *   GET    /admin/tokens                all of them, without secrets; those that are over included
 *   POST   /admin/tokens                makes one: {"user", "groups", "clusters", "expiresAt", "description"}, of an agent "agentNamespaces" and
 *                                       "agentLabels", too; the answer alone has its text
 *   POST   /admin/tokens/{id}/rotate    a new secret; with {"graceSeconds"} the old one is good for so long
 *   DELETE /admin/tokens/{id}           revokes it
 *
 * Whoever may call this may become anybody: the routes are for system:masters.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { bearerTokens } from "../../../durable-objects/peers/peers";
import type { CreateRefusal, IssuedToken } from "../../access/authentication/token-book";
import { endOf, type NewToken, type TokenFault, type TokenRecord } from "../../access/authentication/token-record";
import {
  badRequest,
  conflict,
  forbidden,
  invalid,
  methodNotAllowed,
  notFound,
  type ResourceName,
  type Status,
} from "../../api/meta/status";
import { OWN_DOMAIN } from "../../api/meta/own-annotation";
import { parseTime, rfc3339Seconds } from "../../api/meta/time";
import type { JsonObject, JsonValue } from "../../api/schema/json/json-value";
import { err, ok, type Result } from "../../core/base/result";
import { readJsonObject } from "../http/read/read-json";
import { urlOf } from "../http/read/request-url";
import { jsonResponse, pageNotFound, renderingOf, statusResponse, type TextRendering } from "../http/answer/respond";
import { call } from "../routing/call";
import { configOf } from "../routing/config-guard";

/** A kind of this server alone. */
const TOKEN: ResourceName = { group: "", resource: "tokens", kind: "Token" };
const API_VERSION = `${OWN_DOMAIN}/v1`;
const DAY_MS = 86_400_000;
const FIELDS: readonly string[] = ["user", "groups", "clusters", "agentNamespaces", "agentLabels", "expiresAt", "description"];

type TokensAnswer = Result<{ code: number; document: object }, Status>;

/** @param path behind `/admin/tokens`: "", `/{id}`, `/{id}/rotate` */
export async function tokensResponse(env: Env, request: Request, path: string): Promise<Response> {
  const rendering: TextRendering = renderingOf("json", urlOf(request).query, request.headers.get("User-Agent") ?? "");
  const [, id = "", action, ...more] = path === "/" ? [""] : path.split("/");
  if (more.length > 0 || (path !== "" && path !== "/" && id === "") || (action !== undefined && action !== "rotate")) return pageNotFound();
  const answer = await answerOf(env, request, id, action !== undefined);
  if (!answer.ok) return statusResponse(answer.error, rendering);
  return jsonResponse(answer.value.code, JSON.stringify(answer.value.document), rendering);
}

function answerOf(env: Env, request: Request, id: string, rotates: boolean): Promise<TokensAnswer> {
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (id === "" && isRead) return listed(env);
  if (id === "" && request.method === "POST") return created(env, request);
  if (rotates && request.method === "POST") return rotated(env, request, id);
  if (id !== "" && !rotates && request.method === "DELETE") return revoked(env, id);
  return Promise.resolve(err(methodNotAllowed()));
}

async function listed(env: Env): Promise<TokensAnswer> {
  const records = await call(() => bearerTokens(env).listTokens(), { what: "tokens.list", repeatable: true });
  if (!records.ok) return records;
  const now = Date.now();
  const items = records.value.map((record) => shown(record, now));
  return ok({ code: 200, document: { kind: "TokenList", apiVersion: API_VERSION, items } });
}

async function created(env: Env, request: Request): Promise<TokensAnswer> {
  const body = await readBody(env, request, FIELDS);
  if (!body.ok) return body;
  const asked = newToken(body.value);
  if (!asked.ok) return asked;
  const made = await call(() => bearerTokens(env).createToken(asked.value), { what: "tokens.create", repeatable: false });
  if (!made.ok) return made;
  return made.value.ok ? issued(201, made.value.value) : err(createRefusal(made.value.error));
}

function createRefusal(refusal: CreateRefusal): Status {
  if (refusal.reason === "invalid") return invalid(TOKEN, "", refusal.errors);
  return forbidden(TOKEN, "", `exceeded the limit of ${refusal.max} tokens: revoke those that nobody needs`);
}

async function rotated(env: Env, request: Request, id: string): Promise<TokensAnswer> {
  const body = await readBody(env, request, ["graceSeconds"]);
  if (!body.ok) return body;
  const { graceSeconds = 0 } = body.value;
  if (typeof graceSeconds !== "number" || !Number.isInteger(graceSeconds) || graceSeconds < 0)
    return err(badRequest("graceSeconds must be a whole number of 0 or more"));
  const made = await call(() => bearerTokens(env).rotateToken(id, graceSeconds * 1_000), { what: "tokens.rotate", repeatable: false });
  if (!made.ok) return made;
  return made.value.ok ? issued(200, made.value.value) : err(rotateRefusal(id, made.value.error));
}

function rotateRefusal(id: string, fault: TokenFault): Status {
  return fault === "unknown" ? notFound(TOKEN, id) : conflict(TOKEN, id, `the token is ${fault}: make another one`);
}

async function revoked(env: Env, id: string): Promise<TokensAnswer> {
  const record = await call(() => bearerTokens(env).revokeToken(id), { what: "tokens.revoke", repeatable: true });
  if (!record.ok) return record;
  return record.value.ok ? ok({ code: 200, document: documentOf(record.value.value) }) : err(notFound(TOKEN, id));
}

function issued(code: number, { token, record }: IssuedToken): TokensAnswer {
  return ok({ code, document: { ...documentOf(record), token } });
}

function documentOf(record: TokenRecord): object {
  return { kind: TOKEN.kind, apiVersion: API_VERSION, ...shown(record, Date.now()) };
}

/** As lists have it. */
function shown(record: TokenRecord, nowMs: number): object {
  const {
    id,
    user,
    groups,
    clusters,
    agentNamespaces,
    agentLabels,
    description,
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedDay,
    formerUntil,
  } = record;
  return {
    id,
    user,
    groups,
    clusters,
    agentNamespaces,
    agentLabels,
    description,
    state: endOf(record, nowMs) ?? "good",
    createdAt: rfc3339Seconds(createdAt),
    expiresAt: timeText(expiresAt),
    revokedAt: timeText(revokedAt),
    lastUsed: lastUsedDay === undefined ? undefined : rfc3339Seconds(lastUsedDay * DAY_MS).slice(0, "2006-01-02".length),
    formerSecretUntil: timeText(formerUntil !== undefined && formerUntil > nowMs ? formerUntil : undefined),
  };
}

function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : rfc3339Seconds(ms);
}

/** The body, which has no other fields than these. */
async function readBody(env: Env, request: Request, fields: readonly string[]): Promise<Result<JsonObject, Status>> {
  const config = configOf(env);
  if (!config.ok) return config;
  const body = await readJsonObject(request, config.value, "JSON object");
  if (!body.ok) return body;
  const unknown = Object.keys(body.value ?? {}).find((field) => !fields.includes(field));
  return unknown === undefined ? ok(body.value ?? {}) : err(badRequest(`strict decoding error: unknown field ${JSON.stringify(unknown)}`));
}

/** What the object checks is not checked here. */
function newToken({ user = "", groups = [], clusters, expiresAt, description = "", ...limits }: JsonObject): Result<NewToken, Status> {
  if (typeof user !== "string" || typeof description !== "string") return err(badRequest("user and description must be texts"));
  if (!isTexts(groups)) return err(badRequest("groups must be a list of texts"));
  if (clusters !== undefined && clusters !== null && !isTexts(clusters)) return err(badRequest("clusters must be a list of names"));
  const { agentNamespaces = null, agentLabels = null } = limits;
  if (agentNamespaces !== null && !isTexts(agentNamespaces)) return err(badRequest("agentNamespaces must be a list of names"));
  if (agentLabels !== null && !isTexts(agentLabels)) return err(badRequest("agentLabels must be a list of KEY or KEY=VALUE"));
  const end = typeof expiresAt === "string" ? parseTime(expiresAt) : undefined;
  if (expiresAt !== undefined && expiresAt !== null && end === undefined)
    return err(badRequest('expiresAt must be a time, as "2030-01-02T15:04:05Z"'));
  const limited = { ...(agentNamespaces ? { agentNamespaces } : {}), ...(agentLabels ? { agentLabels } : {}) };
  return ok({ user, groups, clusters: clusters ?? undefined, ...limited, expiresAt: end, description });
}

function isTexts(value: JsonValue): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
