/** What every request passes, in this order, before any route looks at it. Upstream: apiserver pkg/server/config.go, DefaultBuildHandlerChain. */
import type { Context, MiddlewareHandler, Next } from "hono";
import type { Env } from "../../durable-objects/platform/env";
import type { Config } from "../core/config/config";
import type { Access } from "./access/access";
import { admit, type RequestAccess } from "./access/admit";
import { auditedBody, writeAudit } from "./access/audit";
import { foreignProblem, timeoutProblem } from "./access/guard";
import { auditIdOf, withCommonHeaders } from "./http/answer/common-headers";
import { statusResponse } from "./http/answer/respond";
import { drainUnread } from "./http/read/drain";
import { type RequestUrl, urlOf } from "./http/read/request-url";
import { configOf } from "./routing/config-guard";
import { removedData } from "./routing/removed-data";
import { isRead } from "./routing/routes";

/** What the middleware learns of a request. */
interface Variables {
  auditId: string;
  config: Config;
  url: RequestUrl;
  admission: RequestAccess;
  access: Access;
}

export type AppEnv = { Bindings: Env; Variables: Variables };
export type AppContext = Context<AppEnv>;

/** Every answer names the request: by the client's own id, or by a new one. Source: upstream apiserver endpoints/filters/audit_init.go. */
const nameRequest: MiddlewareHandler<AppEnv> = async (c, next) => {
  const id = auditIdOf(c.req.raw);
  c.set("auditId", id);
  await next();
  const named = withCommonHeaders(c.res, id);
  if (named === c.res) return;
  // Otherwise Hono merges the headers of both.
  c.res = undefined;
  c.res = named;
};

/** Around all that may leave a body unread, so that the connection serves the next request after any answer. */
const drainBody: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const request = c.req.raw;
  // The platform makes a stream of a body that is looked at.
  if (!request.bodyUsed && request.body) await drainUnread(request);
};

/** Without its data the server refuses, and takes back what was about to be acknowledged. */
const refuseWithoutData: MiddlewareHandler<AppEnv> = async (c, next) => {
  const before = removedData();
  if (before) return statusResponse(before);
  await next();
  const meanwhile = removedData();
  if (meanwhile && !isRead(c.req.method)) c.res = statusResponse(meanwhile);
};

/** Invalid variables refuse every request. What follows has the configuration and the URL. */
const readConfig: MiddlewareHandler<AppEnv> = async (c, next) => {
  const config = configOf(c.env);
  if (!config.ok) return statusResponse(config.error);
  c.set("config", config.value);
  c.set("url", urlOf(c.req.raw));
  await next();
};

/**
 * One record of each request that the policy wants, once its answer is known. A server that asks for no credentials writes none. The platform drops the
 * request of a client that left, but a write is recorded all the same.
 */
const auditRequest: MiddlewareHandler<AppEnv> = async (c, next) => {
  const handled = audited(c, next);
  if (!isRead(c.req.method)) c.executionCtx.waitUntil(handled.catch(() => undefined));
  await handled;
};

async function audited(c: AppContext, next: Next): Promise<void> {
  const receivedMs = Date.now();
  const { env } = c;
  const request = c.req.raw;
  const body = auditedBody(env, request);
  await next();
  const admission = c.get("admission") as RequestAccess | undefined;
  // A request that is refused before has none.
  if (!admission || (admission.access.ok && admission.access.value.isOpen)) return;
  const rest = writeAudit({ env, request, url: c.get("url"), response: c.res, admission, auditId: c.get("auditId"), receivedMs, body });
  if (rest) c.executionCtx.waitUntil(rest);
}

/** Foreign hosts and pages, the credential, and the rights. They are one function, because each middleware costs time in every request. */
const guard: MiddlewareHandler<AppEnv> = async (c, next) => {
  const [config, url] = [c.get("config"), c.get("url")];
  const request = c.req.raw;
  const foreign = foreignProblem(request, config);
  if (foreign) return statusResponse(foreign);
  const beside = (work: Promise<unknown>): void => c.executionCtx.waitUntil(work);
  const admission = await admit({ env: c.env, config, request, url, beside });
  c.set("admission", admission);
  if (!admission.access.ok) return statusResponse(admission.access.error);
  c.set("access", admission.access.value);
  const untimely = timeoutProblem(url);
  if (untimely) return statusResponse(untimely);
  await next();
};

export const MIDDLEWARE: readonly MiddlewareHandler<AppEnv>[] = [
  nameRequest,
  drainBody,
  refuseWithoutData,
  readConfig,
  auditRequest,
  guard,
];
