/**
 * Every path that this server answers, and every kind of request inside a group and version: one table. The router, the check of rights, `GET /`, and the
 * tests that ask each route by each credential read it; `src/worker/dispatch/answers.ts` and `src/worker/dispatch/targets.ts` say who answers a row.
 *
 * A path stands here as it is inside its cluster: all paths exist below /clusters/{cluster} too, unless `scope` says otherwise. Patterns are Hono's, of the
 * kind that its RegExpRouter takes: it has one expression for all routes, and a set of routes with ambiguous patterns would get a slower router. So names
 * behind `/nodes/` and `/admin/tokens/` are one pattern each, and `behind` says what it stands for.
 */
import type { Verb } from "../../api/registry/resource";
import type { CONNECT_METHODS } from "../../api/schema/openapi/openapi";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** Methods of what can only be read. */
const READ: readonly Method[] = ["GET", "HEAD"];

export function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * What a route has to do with clusters.
 *
 *   every      it exists below each cluster's prefix, whether or not there is such a cluster; requests for resources look for theirs (src/worker/dispatch)
 *   existing   it exists below the prefix of each cluster that is there: the router looks for the cluster, and answers 404 without it
 *   itself     the same, but the answer looks for the cluster, because it goes on with an older one where nothing answers
 *   default    it belongs to the server: outside of the prefixes, or below the one of the cluster `default`, which means the same
 *   none       outside of the prefixes alone
 */
export type Scope = "every" | "existing" | "itself" | "default" | "none";

/**
 * Who may ask. The check of rights (src/worker/access/admit.ts) runs before any route; what stands in no row needs the right to its path.
 *
 *   path       whoever has the right to the method on the path (nonResourceURLs)
 *   resource   whoever has the right to the verb on the resource, where the path names one (src/access/authorization/request-attributes.ts); else as `path`
 *   anybody    in the cluster `default` everybody, without a credential too; elsewhere as `path`
 *   balancer   everybody, where the configuration allows it to load balancers; else as `path`
 *   server     administrators of all clusters
 */
export type Right = "path" | "resource" | "anybody" | "balancer" | "server";

export interface PathRoute {
  /** pattern without a slash at its end */
  readonly path: string;
  /** the path with a slash at its end is served, too */
  readonly slash?: true;
  /** what `*` may stand for, where it is not any rest: patterns */
  readonly behind?: readonly string[];
  readonly methods: readonly Method[];
  /** the answer refuses other methods itself, in its own form, once it knows more; absent = the router does, before anything else */
  readonly refusesMethods?: true;
  readonly scope: Scope;
  readonly right: Right;
  /** `GET /` names it */
  readonly listed?: true;
  /** who answers: the name in src/worker/dispatch/answers.ts */
  readonly answer: string;
}

/** Every method that a route may have. */
export const METHODS: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PLAIN = { methods: READ, scope: "every", right: "path" } as const;
const OF_CLUSTER = { methods: READ, scope: "existing", right: "path" } as const;
const BALANCER = { methods: READ, scope: "itself", right: "path" } as const;
const CHECK = { ...OF_CLUSTER, refusesMethods: true } as const;
/** Upstream's flag `--authorization-always-allow-paths`: whoever keeps a server alive asks without rights. */
const PROBE = { ...PLAIN, right: "anybody" } as const;
const VERSION = { methods: METHODS, refusesMethods: true, scope: "every", right: "resource" } as const;
const TOKENS = { refusesMethods: true, scope: "default", right: "server", answer: "tokens" } as const;

export const PATH_ROUTES = [
  { ...PLAIN, path: "/", answer: "rootPaths" },
  { ...PLAIN, path: "/api", slash: true, listed: true, answer: "coreVersions" },
  { ...PLAIN, path: "/apis", slash: true, listed: true, answer: "groups" },
  { ...PLAIN, path: "/apis/:group", slash: true, answer: "group" },
  { ...VERSION, path: "/api/:version/*", answer: "coreVersion" },
  { ...VERSION, path: "/apis/:group/:version/*", answer: "groupVersion" },
  { ...PLAIN, path: "/openapi/v3", slash: true, listed: true, answer: "openApiV3" },
  { ...PLAIN, path: "/openapi/v3/*", answer: "openApiV3Document" },
  { ...PLAIN, path: "/openapi/v2", slash: true, listed: true, answer: "openApiV2" },
  { ...PLAIN, path: "/version", slash: true, listed: true, answer: "version" },
  { ...OF_CLUSTER, path: "/metrics", listed: true, answer: "metrics" },
  { ...OF_CLUSTER, path: "/metrics/slis", listed: true, answer: "slis" },
  { ...TOKENS, path: "/admin/tokens", slash: true, methods: ["GET", "HEAD", "POST"] },
  { ...TOKENS, path: "/admin/tokens/*", behind: ["/:id", "/:id/rotate"], methods: ["POST", "DELETE"] },
  { ...CHECK, path: "/admin/rangeallocations/:name", methods: ["GET", "PUT"], answer: "rangeAllocations" },
  {
    path: "/clusters/:name",
    methods: ["GET", "HEAD", "PUT", "DELETE"],
    refusesMethods: true,
    scope: "none",
    right: "server",
    answer: "cluster",
  },
  { ...CHECK, path: "/check", methods: ["GET", "HEAD", "POST"], answer: "check" },
  { ...CHECK, path: "/check/owners", answer: "owners" },
  { ...CHECK, path: "/check/nodeports", answer: "nodePorts" },
  { ...CHECK, path: "/check/slices", answer: "sliceController" },
  { ...CHECK, path: "/check/owners/:uid", answer: "owner" },
  { ...CHECK, path: "/revisions", methods: ["POST"], answer: "revisions" },
  { ...OF_CLUSTER, path: "/ranges", slash: true, listed: true, answer: "ranges" },
  // The life of the server depends on no cluster that may be absent: its hooks are those of the one that is always there.
  { ...PROBE, path: "/healthz", answer: "healthz" },
  { ...PROBE, path: "/livez", answer: "livez" },
  { ...PROBE, path: "/readyz", scope: "existing", answer: "readyz" },
  // The name of one check, which may have slashes.
  { ...PLAIN, path: "/healthz/*", answer: "healthz" },
  { ...PLAIN, path: "/livez/*", answer: "livez" },
  { ...OF_CLUSTER, path: "/readyz/*", answer: "readyz" },
  { ...BALANCER, path: "/nodes/targets", slash: true, answer: "nodeTargets" },
  {
    ...BALANCER,
    path: "/nodes/*",
    behind: ["/:node/healthz", "/:node/livez", "/:node/services/:namespace/:service"],
    refusesMethods: true,
    right: "balancer",
    answer: "nodeHealth",
  },
] as const satisfies readonly PathRoute[];

/** A name in `PATH_ROUTES` of who answers. */
export type PathAnswer = (typeof PATH_ROUTES)[number]["answer"];

/** The patterns of a route, as the router takes them. */
export function patternsOf({ path, slash }: PathRoute): string[] {
  return slash ? [path, `${path}/`] : [path];
}

/** What a kind of request inside a group and version is: its path behind the version, and the verb of each method. */
export interface TargetRoute {
  /** for all namespaces, or in one: `namespaces/{namespace}/` may stand in front */
  readonly path: string;
  /** Methods, each with its verb. The right of a row is the one to this verb on `resource` or `resource/subresource`. */
  readonly verbs: Readonly<Partial<Record<string, Verb>>>;
}

const GET = { GET: "get", HEAD: "get" } as const;

/**
 * The kinds of requests inside a group and version. The registry says which of them a resource has, and what of a row's verbs.
 * Upstream: apiserver pkg/endpoints/request/requestinfo.go, pkg/endpoints/installer.go.
 */
export const TARGET_ROUTES = {
  /** a list is a watch with `watch=1`, and below `watch/` */
  collection: { path: "{resource}", verbs: { GET: "list", HEAD: "list", POST: "create", DELETE: "deletecollection" } },
  object: { path: "{resource}/{name}[/{subresource}]", verbs: { ...GET, PUT: "update", PATCH: "patch", DELETE: "delete" } },
  /** a document for a create-only subresource, or for the collection that stands for it */
  action: { path: "{resource}/{name}/{action}", verbs: { POST: "create" } },
  /** a request that is handed on. Upstream's authorizers know no verb for OPTIONS */
  connect: {
    path: "{resource}/{name}/{connect}[/{path}]",
    verbs: { ...GET, OPTIONS: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } satisfies Record<
      (typeof CONNECT_METHODS)[number],
      Verb
    >,
  },
  /** a document that is this server's own */
  view: { path: "{resource}/{name}/{view}", verbs: GET },
  /** a document about the object, this server's own */
  report: { path: "{resource}/{name}/{report}", verbs: { PUT: "update", POST: "create" } },
  /** asked, answered, never stored */
  review: { path: "{review}", verbs: { POST: "create" } },
  /** a kind that has no objects: its list, and where discovery names it an object */
  empty: { path: "{resource}[/{name}]", verbs: { GET: "list", HEAD: "list" } },
} as const satisfies Readonly<Record<string, TargetRoute>>;

/** The verb of a method on a kind of request; undefined = the method is not served there. */
export function verbOn(kind: keyof typeof TARGET_ROUTES, method: string): Verb | undefined {
  const { verbs }: TargetRoute = TARGET_ROUTES[kind];
  return verbs[method];
}

const ROUTES: readonly PathRoute[] = PATH_ROUTES;

const ANYBODYS: ReadonlySet<string> = new Set(ROUTES.filter(({ right }) => right === "anybody").map(({ path }) => path));
/** Those of scope `none` are told by their cluster, which is none. */
const SERVERS = ROUTES.filter(({ right, scope }) => right === "server" && scope === "default").map(({ path }) => path.replace(/\/\*$/, ""));

/** Whether everybody may ask for the path in the cluster `default`. `path`: as sent. */
export function isForAnybody(path: string): boolean {
  return ANYBODYS.has(path);
}

/** Whether the path belongs to the server as a whole, with all that is below it. `path`: decoded. */
export function isServers(path: string): boolean {
  return SERVERS.some((own) => path === own || path.startsWith(`${own}/`));
}

/** Paths that `GET /` names, besides those of groups and of checks. */
export const LISTED_PATHS: readonly string[] = ROUTES.filter(({ listed }) => listed).map(({ path }) => path);
