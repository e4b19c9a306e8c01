/**
 * The HTTP surface as one Hono app: middleware in order, then the table of routes (routing/routes.ts). There is no route per resource; inside a group and
 * version the registry decides (dispatch/group-version.ts). Routes match the raw path inside the cluster: `/clusters/{cluster}` needs no routes of its own,
 * and an encoded slash never separates segments.
 */
import { Hono } from "hono";
import { internalError, methodNotAllowed } from "../api/meta/status";
import { redactedUri } from "../access/audit/redacted-uri";
import { DEFAULT_CLUSTER } from "../tenancy/cluster-id";
import { ANSWERS } from "./dispatch/answers";
import { pageNotFound, statusResponse } from "./http/answer/respond";
import { log } from "./http/log";
import { urlOf } from "./http/read/request-url";
import { type AppContext, type AppEnv, MIDDLEWARE } from "./middleware";
import { inCluster, inDefaultCluster } from "./routing/known-clusters";
import { PATH_ROUTES, type PathRoute, patternsOf } from "./routing/routes";
import type { PathHandler, PathRequest } from "./system/path-request";

export const app = new Hono<AppEnv>({ getPath: (request) => urlOf(request).path });

for (const middleware of MIDDLEWARE) app.use("*", middleware);

for (const route of PATH_ROUTES) {
  const answered = handlerOf(route, ANSWERS[route.answer]);
  for (const pattern of patternsOf(route)) app.all(pattern, answered);
}

app.notFound(() => pageNotFound());
app.onError((error, c) => {
  const { path } = urlOf(c.req.raw);
  log("error", "request failed", { method: c.req.method, path: redactedUri(path), error: error.stack ?? String(error) });
  return statusResponse(internalError("unexpected error, see the log of the server"));
});

function handlerOf({ methods, refusesMethods, clusters }: PathRoute, answer: PathHandler): (c: AppContext) => Response | Promise<Response> {
  return (c) => {
    const url = c.get("url");
    const { cluster } = url;
    if (!refusesMethods && !methods.some((known) => known === c.req.method)) return statusResponse(methodNotAllowed());
    // Clusters do not nest: /clusters/a/clusters/b does not exist.
    if ((clusters === "none" && cluster !== "") || (clusters === "default" && cluster !== DEFAULT_CLUSTER)) return pageNotFound();
    const waitUntil = (work: Promise<unknown>): void => c.executionCtx.waitUntil(work);
    const asked: PathRequest = { env: c.env, config: c.get("config"), request: c.req.raw, url, access: c.get("access"), waitUntil };
    const answered = (id: string) => answer(asked, id);
    if (clusters === "existing" || (clusters === "probed" && cluster !== DEFAULT_CLUSTER))
      return inCluster({ env: c.env, name: cluster }, answered);
    return clusters === "probed" ? inDefaultCluster(c.env, waitUntil, answered) : answered(cluster);
  };
}
