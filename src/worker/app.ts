/**
 * The HTTP surface as one Hono app: middleware in order, then routes. There is no route per resource; inside a group and version the
 * registry decides (handlers/dispatch). Routes match the raw path inside the cluster: `/clusters/{cluster}` needs no routes of its own, and an
 * encoded slash never separates segments.
 */
import { type Context, Hono, type MiddlewareHandler, type Next } from "hono";
import { forbiddenPath, foreignHost, foreignPage, internalError, methodNotAllowed, type Status, unknownResource } from "../api/meta/status";
import type { Config } from "../core/config/config";
import { DEFAULT_CLUSTER } from "../tenancy/cluster-id";
import { nodeHealthQuestion, type NodeHealthQuestion } from "../proxy-health/rules/health-question";
import { inCluster } from "./routing/known-clusters";
import { configOf } from "./routing/config-guard";
import type { Access } from "./access/access";
import { redactedUri } from "../access/audit/redacted-uri";
import { admit, type Admission } from "./access/admit";
import { auditedBody, writeAudit } from "./access/audit";
import type { Env } from "../../durable-objects/platform/env";
import { dispatch } from "./handlers/dispatch";
import { auditIdOf, withCommonHeaders } from "./http/answer/common-headers";
import { authorityOf, hostOf, isForeignPage, isOwnHost } from "./http/read/authority";
import { drainUnread } from "./http/read/drain";
import { log } from "./http/log";
import { parseTimeout, queryBool } from "./http/read/query";
import { parseQuery, splitRequestUrl } from "./http/read/request-url";
import { pageNotFound, statusResponse } from "./http/answer/respond";
import { removedData } from "./routing/removed-data";
import { EMPTY_RESOURCES, listRoute } from "./routing/empty-resources";
import { unservedTarget } from "./routing/request-info";
import { servedApis, servedVersion } from "./routing/served";
import { checkResponse, nodePortsResponse, ownerResponse, ownersResponse, sliceControllerResponse } from "./system/check";
import { clusterResponse } from "./system/clusters";
import { coreVersionsResponse, groupListResponse, groupResponse, resourceListResponse } from "./system/discovery";
import { emptyListResponse, emptyResourceResponse } from "./system/empty-lists";
import { checkPaths, PROBES, probeResponse } from "./system/healthz";
import { type Probe } from "./system/health-slis";
import { metricsResponse, slisResponse } from "./system/metrics";
import { openApiV2Response, openApiV3DocumentResponse, openApiV3IndexResponse } from "./system/openapi";
import { nodeHealthResponse, serviceHealthResponse } from "./system/node-health";
import { nodeTargetsResponse } from "./system/node-targets";
import { rangeAllocationsResponse } from "./system/range-allocations";
import { rangesResponse } from "./system/ranges";
import { revisionsResponse } from "./system/revisions";
import { rootPathsResponse } from "./system/root-paths";
import { tokensResponse } from "./system/tokens";
import { versionResponse } from "./system/version";

type Bindings = { Bindings: Env; Variables: { access: Access; admission: Admission; auditId: string } };
type C = Context<Bindings>;

/** Outermost, so that the connection serves the next request after any answer. */
const drainBody: MiddlewareHandler<Bindings> = async (c, next) => {
  await next();
  if (c.req.raw.body) await drainUnread(c.req.raw);
};

/** Without its data the server refuses, and takes back what was about to be acknowledged. */
const refuseWithoutData: MiddlewareHandler<Bindings> = async (c, next) => {
  const before = removedData();
  if (before) return statusResponse(before);
  await next();
  const meanwhile = removedData();
  if (meanwhile && c.req.method !== "GET" && c.req.method !== "HEAD") c.res = statusResponse(meanwhile);
};

/** Every answer names the request: by the client's own id, or by a new one. Source: upstream apiserver endpoints/filters/audit_init.go. */
const nameRequest: MiddlewareHandler<Bindings> = async (c, next) => {
  const id = auditIdOf(c.req.raw);
  c.set("auditId", id);
  await next();
  const named = withCommonHeaders(c.res, id);
  if (named === c.res) return;
  // Otherwise Hono merges the headers of both.
  c.res = undefined;
  c.res = named;
};

/**
 * One record of each request that the policy wants, once its answer is known. Where nobody is asked who he is, there is nobody to record. The platform drops
 * the request of a client that left: a write goes on to its record all the same.
 */
const auditRequest: MiddlewareHandler<Bindings> = async (c, next) => {
  const handled = audited(c, next);
  if (c.req.method !== "GET" && c.req.method !== "HEAD") c.executionCtx.waitUntil(handled.catch(() => undefined));
  await handled;
};

async function audited(c: C, next: Next): Promise<void> {
  const receivedMs = Date.now();
  const body = auditedBody(c.env, c.req.raw);
  await next();
  const { admission } = c.var;
  if (!admission || (admission.access.ok && admission.access.value.isOpen)) return;
  const rest = writeAudit({ env: c.env, request: c.req.raw, response: c.res, admission, auditId: c.var.auditId, receivedMs, body });
  if (rest) c.executionCtx.waitUntil(rest);
}

/** Invalid variables refuse every request. */
const guardConfig: MiddlewareHandler<Bindings> = async (c, next) => {
  const config = configOf(c.env);
  if (!config.ok) return statusResponse(config.error);
  await next();
};

/** Why a request is refused for what it says of itself; undefined = it is not. */
type Guard = (request: Request, config: Config) => Status | undefined;

/** On loopback, and where hosts are named, the names of other hosts are refused. */
const guardHost: Guard = (request, { loopbackOnly, allowedHosts }) => {
  if (!loopbackOnly && allowedHosts.length === 0) return undefined;
  const authority = authorityOf(request);
  return authority === "" || isOwnHost(hostOf(authority) ?? "", allowedHosts) ? undefined : foreignHost(authority);
};

/** A browser sends its user's requests from any page: pages of other origins change nothing and listen to nothing. */
const guardOrigin: Guard = (request, { allowedHosts }) => (isForeignPage(request, allowedHosts) ? foreignPage() : undefined);

/** `--request-timeout` adds `timeout` to every URL. An unreadable value is refused; watches ignore it. */
const checkTimeout: Guard = ({ url }) => {
  if (!url.includes("timeout=")) return undefined;
  const { path, query: text } = splitRequestUrl(url);
  const query = parseQuery(text);
  const timeout = parseTimeout(query);
  return timeout.ok || queryBool(query, "watch") || path.includes("/watch/") ? undefined : timeout.error;
};

/** Whom the server answers at all, who sends the request, and whether he may: before any route looks at it. One function, because each middleware costs time in every request. */
const guard: MiddlewareHandler<Bindings> = async (c, next) => {
  const config = configOf(c.env);
  if (!config.ok) return statusResponse(config.error);
  const request = c.req.raw;
  const foreign = guardHost(request, config.value) ?? guardOrigin(request, config.value);
  if (foreign) return statusResponse(foreign);
  const beside = (work: Promise<unknown>): void => c.executionCtx.waitUntil(work);
  const admission = await admit({ env: c.env, config: config.value, request, beside });
  c.set("admission", admission);
  if (!admission.access.ok) return statusResponse(admission.access.error);
  c.set("access", admission.access.value);
  const untimely = checkTimeout(request, config.value);
  if (untimely) return statusResponse(untimely);
  await next();
};

/** In this order, before every route. */
const MIDDLEWARE = [nameRequest, drainBody, refuseWithoutData, guardConfig, auditRequest, guard];

function readOnly(answer: (c: C) => Response | Promise<Response>): (c: C) => Response | Promise<Response> {
  return (c) => (c.req.method === "GET" || c.req.method === "HEAD" ? answer(c) : statusResponse(methodNotAllowed()));
}

/** A path with and without its trailing slash. */
function bothForms(path: string): string[] {
  return [path, `${path}/`];
}

/** `/{version}/{rest}` of a group: discovery of the version, or a request inside it. */
function groupVersion(c: C, group: string, tail: string): Response | Promise<Response> {
  const slash = tail.indexOf("/");
  const version = slash < 0 ? tail : tail.slice(0, slash);
  const rest = slash < 0 ? "" : tail.slice(slash + 1);
  const apis = servedApis(c.env);
  const served = servedVersion(apis, group, version);
  if (!served) {
    const unserved = unservedTarget(group, rest);
    if (unserved) return statusResponse(unserved);
    // upstream has a handler for each group that it serves, and its page for none
    return apis.versions.some((one) => one.group === group) ? statusResponse(unknownResource()) : pageNotFound();
  }
  if (rest === "") return readOnly(() => resourceListResponse(c.req.raw, apis, served))(c);
  const { cluster, query } = splitRequestUrl(c.req.raw.url);
  const waitUntil = (work: Promise<unknown>): void => c.executionCtx.waitUntil(work);
  return dispatch({ env: c.env, request: c.req.raw, cluster, served, rest, query, access: c.var.access, waitUntil });
}

function namedGroup(c: C): Response | Promise<Response> {
  const tail = c.req.path.slice("/apis/".length);
  const slash = tail.indexOf("/");
  return groupVersion(c, tail.slice(0, slash), tail.slice(slash + 1));
}

function lastSegment(path: string): string {
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  return trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** A request beside the API that reads its cluster. */
function ofCluster(c: C, answer: (id: string) => Response | Promise<Response>): Promise<Response> {
  return inCluster({ env: c.env, name: splitRequestUrl(c.req.raw.url).cluster, begins: false }, answer);
}

function probe(c: C, name: Probe): Promise<Response> {
  const { path, query } = splitRequestUrl(c.req.raw.url);
  const only = path === `/${name}` ? undefined : path.slice(name.length + 2);
  const answer = (cluster: string) =>
    probeResponse({ env: c.env, request: c.req.raw, cluster, probe: name, only, query: parseQuery(query) });
  // The life of the server depends on no cluster that may be absent: its hooks are those of the one that is always there.
  return name === "readyz" ? ofCluster(c, answer) : answer(DEFAULT_CLUSTER);
}

function nodeHealth(c: C, question: NodeHealthQuestion): Response | Promise<Response> {
  const { cluster, query } = splitRequestUrl(c.req.raw.url);
  const { node } = question;
  if ("path" in question) return nodeHealthResponse({ env: c.env, cluster, node, path: question.path, counted: "all" });
  const { namespace, service } = question;
  return serviceHealthResponse({ env: c.env, cluster, node, namespace, name: service, family: parseQuery(query).get("family") });
}

function nodeTargets(c: C): Promise<Response> {
  const { cluster, query } = splitRequestUrl(c.req.raw.url);
  return nodeTargetsResponse({ env: c.env, request: c.req.raw, cluster, query: parseQuery(query) });
}

function openApiDocument(c: C): Promise<Response> {
  const { path, query } = splitRequestUrl(c.req.raw.url);
  const name = path.slice("/openapi/v3/".length);
  return openApiV3DocumentResponse(c.req.raw, { apis: servedApis(c.env), path: name, query: parseQuery(query) });
}

export const app = new Hono<Bindings>({ getPath: (request) => splitRequestUrl(request.url).path });

for (const middleware of MIDDLEWARE) app.use("*", middleware);

app.all(
  "/",
  readOnly((c) => rootPathsResponse(servedApis(c.env), checkPaths(c.env))),
);
for (const path of bothForms("/api"))
  app.all(
    path,
    readOnly((c) => coreVersionsResponse(c.req.raw, servedApis(c.env))),
  );
for (const path of bothForms("/apis"))
  app.all(
    path,
    readOnly((c) => groupListResponse(c.req.raw, servedApis(c.env))),
  );
for (const path of bothForms("/apis/:group"))
  app.all(
    path,
    readOnly((c) => groupResponse(c.req.raw, servedApis(c.env), lastSegment(c.req.path))),
  );
for (const resource of EMPTY_RESOURCES) {
  for (const path of bothForms(listRoute(resource)))
    app.get(path, (c, next) => {
      const empty = emptyListResponse(resource, c.req.raw, splitRequestUrl(c.req.raw.url).query);
      return empty ? ofCluster(c, () => empty) : next();
    });
  if (resource.discovered)
    app.get(`${listRoute(resource)}/:name`, (c) => ofCluster(c, () => emptyResourceResponse(resource, lastSegment(c.req.path))));
}
app.all("/api/:version/*", (c) => groupVersion(c, "", c.req.path.slice("/api/".length)));
app.all("/apis/:group/:version/*", namedGroup);
for (const path of bothForms("/openapi/v3"))
  app.all(
    path,
    readOnly((c) => openApiV3IndexResponse(servedApis(c.env))),
  );
app.all("/openapi/v3/*", readOnly(openApiDocument));
for (const path of bothForms("/openapi/v2"))
  app.all(
    path,
    readOnly((c) => openApiV2Response(c.req.raw, servedApis(c.env))),
  );
for (const path of bothForms("/version"))
  app.all(
    path,
    readOnly(() => versionResponse()),
  );
app.all(
  "/metrics",
  readOnly((c) => ofCluster(c, (id) => metricsResponse(c.env, id))),
);
app.all(
  "/metrics/slis",
  readOnly((c) => ofCluster(c, (id) => slisResponse(id))),
);
for (const path of ["/admin/tokens", "/admin/tokens/*"]) {
  app.all(path, (c) => {
    if (splitRequestUrl(c.req.raw.url).cluster !== DEFAULT_CLUSTER) return pageNotFound();
    // A token made now would be valid once credentials are required.
    if (c.var.access.isOpen) return statusResponse(forbiddenPath("a server that asks for no credentials makes no tokens"));
    return tokensResponse(c.env, c.req.raw, c.req.path.slice("/admin/tokens".length));
  });
}
app.all("/admin/rangeallocations/:name", (c) =>
  ofCluster(c, (id) => rangeAllocationsResponse(c.env, id, c.req.raw, lastSegment(c.req.path))),
);
// Clusters do not nest: /clusters/a/clusters/b does not exist.
app.all("/clusters/:name", (c) =>
  splitRequestUrl(c.req.raw.url).cluster === "" ? clusterResponse(c.env, c.req.raw, lastSegment(c.req.path)) : pageNotFound(),
);
app.all("/check", (c) => ofCluster(c, (id) => checkResponse(c.env, id, c.req.raw, (work) => c.executionCtx.waitUntil(work))));
app.all("/check/owners", (c) => ofCluster(c, (id) => ownersResponse(c.env, id, c.req.raw)));
app.all("/check/nodeports", (c) => ofCluster(c, (id) => nodePortsResponse(c.env, id, c.req.raw)));
app.all("/check/slices", (c) => ofCluster(c, (id) => sliceControllerResponse(c.env, id, c.req.raw)));
app.all("/check/owners/:uid", (c) => ofCluster(c, (id) => ownerResponse(c.env, id, c.req.raw, lastSegment(c.req.path))));
app.all("/revisions", (c) => ofCluster(c, (id) => revisionsResponse(c.env, id, c.req.raw)));
for (const path of bothForms("/ranges"))
  app.all(
    path,
    readOnly((c) => ofCluster(c, (id) => rangesResponse(c.env, id, c.req.raw))),
  );
for (const name of PROBES) {
  // It takes the path without a check, too. Names of checks have slashes.
  app.all(
    `/${name}/*`,
    readOnly((c) => probe(c, name)),
  );
}

for (const path of bothForms("/nodes/targets")) app.all(path, readOnly(nodeTargets));

app.all("/nodes/*", (c, next) => {
  const question = nodeHealthQuestion(c.req.path);
  return question ? readOnly((asked) => nodeHealth(asked, question))(c) : next();
});

app.notFound(() => pageNotFound());
app.onError((error, c) => {
  log("error", "request failed", { method: c.req.method, path: redactedUri(c.req.path), error: error.stack ?? String(error) });
  return statusResponse(internalError("unexpected error, see the log of the server"));
});
