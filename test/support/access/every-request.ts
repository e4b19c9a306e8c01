/** Every request that the server has a route for: the table of routes, with sample values, and what the registry serves inside groups. */
import { definitions, definitionsEverywhere } from "../../../src/api/registry/all";
import { EMPTY_RESOURCES } from "../../../src/worker/routing/empty-resources";
import { REVIEWS } from "../../../src/worker/routing/review-kinds";
import { PATH_ROUTES, type PathRoute, patternsOf } from "../../../src/worker/routing/routes";

export { METHODS } from "../../../src/worker/routing/routes";

const ROUTES: readonly PathRoute[] = PATH_ROUTES;

/** Of a cluster with that name, of a check and a document that there are, and of nobody. */
const FURTHER = ["/clusters/blue", "/openapi/v3/api/v1", "/readyz/store", "/nothing"];

/** Inside a cluster, each once, and those of the root with its prefix. A wildcard is what the table says of it, or the name `x`. */
export function everyPath(): string[] {
  const all = [
    ...everyPattern().map(sample),
    ...FURTHER,
    ...definitionsEverywhere.flatMap(pathsOf),
    ...everyRootPath(),
    ...REVIEWS.map(reviewPath),
    ...EMPTY_RESOURCES.flatMap(emptyPaths),
  ];
  return [...new Set(all)];
}

/** Of the kinds that the cluster `default` alone has. */
export function everyRootPath(): string[] {
  return definitions.filter(({ atRoot }) => atRoot).flatMap((definition) => pathsOf(definition).map((path) => `/clusters/default${path}`));
}

/** The patterns of the table, without wildcards. */
export function everyPattern(): string[] {
  return ROUTES.flatMap((route) => {
    const rests = ["/x", ...(route.behind ?? [])];
    return patternsOf(route).flatMap((path) => (path.endsWith("/*") ? rests.map((rest) => `${path.slice(0, -2)}${rest}`) : [path]));
  });
}

function sample(pattern: string): string {
  return pattern
    .split("/")
    .map((part) => (part.startsWith(":") ? part.slice(1) : part))
    .join("/");
}

function root(group: string, version: string): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

function pathsOf(definition: (typeof definitionsEverywhere)[number]): string[] {
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

function emptyPaths({ group, version, resource, namespaced, discovered }: (typeof EMPTY_RESOURCES)[number]): string[] {
  const list = `${root(group, version)}${namespaced ? "/namespaces/namespace" : ""}/${resource}`;
  return [list, `${list}/`, ...(discovered ? [`${list}/name`] : [])];
}
