/** Every request that the server has a route for: the routes of the app, with sample values, and what the registry serves inside groups. */
import { definitions } from "../../../src/api/registry/all";
import { app } from "../../../src/worker/app";
import { REVIEWS } from "../../../src/worker/routing/review-kinds";

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** Served behind patterns, so that no route shows their form. */
const INSIDE_PATTERNS = [
  "/clusters/blue",
  "/admin/tokens/x/rotate",
  "/nodes/n/healthz",
  "/nodes/n/livez",
  "/nodes/n/services/default/a",
  "/openapi/v3/api/v1",
  "/readyz/store",
  "/nothing",
];

/** Inside a cluster, each once; a `*` of a route stands for anything. */
export function everyPath(): string[] {
  const routes = app.routes.map(({ path }) => path).filter((path) => path !== "/*" && path !== "*");
  const all = [...routes.map(sample), ...INSIDE_PATTERNS, ...definitions.flatMap(pathsOf), ...REVIEWS.map(reviewPath)];
  return [...new Set(all)];
}

function sample(route: string): string {
  return route
    .split("/")
    .map((part) => (part.startsWith(":") ? part.slice(1) : part === "*" ? "x" : part))
    .join("/");
}

function root(group: string, version: string): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

function pathsOf(definition: (typeof definitions)[number]): string[] {
  const { group, versions, resource, namespaced, subresources, actions = [], connects = [], views = [], reports = [] } = definition;
  return versions.flatMap((version) => {
    const place = namespaced ? `${root(group, version)}/namespaces/default` : root(group, version);
    const named = `${place}/${resource}/a`;
    const watched = named.replace(`${root(group, version)}/`, `${root(group, version)}/watch/`);
    const behind = [...subresources, ...views, ...reports, ...actions.map(({ name }) => name)];
    return [
      `${place}/${resource}`,
      `${root(group, version)}/${resource}`,
      `${place}/${resource}?watch=1&timeoutSeconds=1`,
      named,
      `${watched}?watch=1&timeoutSeconds=1`,
      ...behind.map((subresource) => `${named}/${subresource}`),
      ...connects.flatMap(({ name }) => [`${named}/${name}`, `${named}/${name}/x`]),
      ...actions.flatMap(({ collection }) => (collection ? [`${place}/${collection.resource}`] : [])),
    ];
  });
}

function reviewPath({ group, version, resource, namespaced }: (typeof REVIEWS)[number]): string {
  return `${root(group, version)}${namespaced ? "/namespaces/default" : ""}/${resource}`;
}
