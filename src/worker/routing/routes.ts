/**
 * Every path that this server answers, and every kind of request inside a group and version, in one table. The router, the check of rights, `GET /` and the
 * tests of access read it. `src/worker/dispatch/answers.ts` and `src/worker/dispatch/targets.ts` say who answers a row.
 *
 * A path stands here as it is inside its cluster. It exists below /clusters/{cluster} too, unless `clusters` says otherwise. Patterns are Hono's. Its
 * RegExpRouter has one expression for all routes, and takes no names beside fixed segments: `/nodes/targets` and `/nodes/:node/healthz` together would get
 * a slower router. So `/nodes/*` is one pattern, and `behind` says what its wildcard stands for.
 */
import { type ResourceAttributes, resourceAttributes } from "../../access/authorization/attributes";
import { OWN_DOMAIN } from "../../api/meta/own-annotation";
import type { Verb } from "../../api/registry/resource";
import type { CONNECT_METHODS } from "../../api/schema/openapi/openapi";
import { DEFAULT_CLUSTER } from "../../tenancy/cluster-id";

export type HttpMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** Methods of what can only be read. */
const READ: readonly HttpMethod[] = ["GET", "HEAD"];

export function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * Below the prefixes of which clusters a path exists.
 *
 *   every      of each cluster, whether or not it exists; a request for a resource looks for its cluster later (src/worker/dispatch/answer-object.ts)
 *   existing   of each cluster that exists: the router looks for the cluster, and answers 404 without it
 *   probed     as `existing`, and of the cluster `default` in any case: a server is ready before anybody has made a cluster
 *   itself     as `existing`, but the answer looks for the cluster: it repeats an older answer while the cluster does not answer
 *   default    of the cluster `default` alone: the path belongs to the server
 *   none       of none: the path exists without a prefix alone
 */
export type RouteClusters = "every" | "existing" | "probed" | "itself" | "default" | "none";

/**
 * Who may ask. The check of rights (src/worker/access/admit.ts) runs before any route. A path without a row needs the right to the path.
 *
 *   path       whoever has the right to the method on the path (nonResourceURLs)
 *   resource   whoever has the right to the verb on the resource, where the path names one (src/access/authorization/request-attributes.ts); else as `path`
 *   anybody    in the cluster `default` everybody, without a credential too; elsewhere as `path`
 *   balancer   everybody, where the configuration allows it to load balancers; else as `path`
 *   server     administrators of all clusters
 *   clusters   to read: whoever has the right to list `clusters.servicenet.dev`, or to get the one that the path names, in the cluster `default`; else as
 *              `server`
 */
export type Right = "path" | "resource" | "anybody" | "balancer" | "server" | "clusters";

export interface PathRoute {
  /** pattern without a slash at its end */
  readonly path: string;
  /** the path with a slash at its end is served, too */
  readonly slash?: true;
  /** patterns that the wildcard stands for; absent = any rest */
  readonly behind?: readonly string[];
  readonly methods: readonly HttpMethod[];
  /** the answer refuses other methods, in its own form; absent = the router refuses them before it looks for the cluster */
  readonly refusesMethods?: true;
  readonly clusters: RouteClusters;
  readonly right: Right;
  /** `GET /` names it */
  readonly listed?: true;
  /** who answers: a name in src/worker/dispatch/answers.ts */
  readonly answer: string;
}

/** Every method that a route may have. */
export const METHODS: readonly HttpMethod[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PLAIN = { methods: READ, clusters: "every", right: "path" } as const;
const OF_CLUSTER = { methods: READ, clusters: "existing", right: "path" } as const;
const BALANCER = { methods: READ, clusters: "itself", right: "path" } as const;
const CHECK = { ...OF_CLUSTER, refusesMethods: true } as const;
/** Probes of a server's life have no credential. Upstream: flag `--authorization-always-allow-paths`. */
const PROBE = { ...PLAIN, right: "anybody" } as const;
const VERSION = { methods: METHODS, refusesMethods: true, clusters: "every", right: "resource" } as const;
const TOKENS = { refusesMethods: true, clusters: "default", right: "server", answer: "tokens" } as const;

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
  { path: "/clusters", methods: READ, clusters: "default", right: "clusters", answer: "clusters" },
  {
    path: "/clusters/:name",
    methods: ["GET", "HEAD", "PUT", "DELETE"],
    refusesMethods: true,
    clusters: "none",
    right: "clusters",
    answer: "cluster",
  },
  { ...CHECK, path: "/check", methods: ["GET", "HEAD", "POST"], answer: "check" },
  { ...CHECK, path: "/check/owners", answer: "owners" },
  { ...CHECK, path: "/check/nodeports", answer: "nodePorts" },
  { ...CHECK, path: "/check/slices", answer: "sliceController" },
  { ...CHECK, path: "/check/controllers", answer: "controllers" },
  { ...CHECK, path: "/check/owners/:uid", answer: "owner" },
  { ...CHECK, path: "/revisions", methods: ["POST"], answer: "revisions" },
  { ...CHECK, path: "/recoveries", methods: ["POST"], answer: "recoveries" },
  { ...OF_CLUSTER, path: "/ranges", slash: true, listed: true, answer: "ranges" },
  // The server's life depends on no cluster that may be absent: healthz and livez run the checks of the cluster `default`.
  { ...PROBE, path: "/healthz", answer: "healthz" },
  { ...PROBE, path: "/livez", answer: "livez" },
  { ...PROBE, path: "/readyz", clusters: "probed", answer: "readyz" },
  // The name of one check, which may have slashes.
  { ...PLAIN, path: "/healthz/*", answer: "healthz" },
  { ...PLAIN, path: "/livez/*", answer: "livez" },
  { ...OF_CLUSTER, path: "/readyz/*", clusters: "probed", answer: "readyz" },
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

/** The patterns of a route, for the router. */
export function patternsOf({ path, slash }: PathRoute): string[] {
  return slash ? [path, `${path}/`] : [path];
}

/** A kind of request inside a group and version. */
export interface TargetRoute {
  /** behind the version; `namespaces/{namespace}/` may stand in front */
  readonly path: string;
  /** The methods, each with its verb. The right of a request is the one to this verb on `resource` or `resource/subresource`. */
  readonly verbs: Readonly<Partial<Record<string, Verb>>>;
}

const GET = { GET: "get", HEAD: "get" } as const;

/**
 * The kinds of requests inside a group and version. The registry says which kinds a resource has, and which of a row's verbs.
 * Upstream: apiserver pkg/endpoints/request/requestinfo.go, pkg/endpoints/installer.go.
 */
export const TARGET_ROUTES = {
  /** a list is a watch with `watch=1`, and below `watch/` */
  collection: { path: "{resource}", verbs: { GET: "list", HEAD: "list", POST: "create", DELETE: "deletecollection" } },
  object: { path: "{resource}/{name}[/{subresource}]", verbs: { ...GET, PUT: "update", PATCH: "patch", DELETE: "delete" } },
  /** a document for a create-only subresource, or for the collection that stands for it */
  action: { path: "{resource}/{name}/{action}", verbs: { POST: "create" } },
  /** a request that is handed on; upstream's authorizers know no verb for OPTIONS */
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
/** A path that exists below no cluster is known by its cluster, which is "". */
const SERVERS = ROUTES.filter(({ right, clusters }) => right === "server" && clusters === "default").map(({ path }) =>
  path.replace(/\/\*$/, ""),
);

/** Whether everybody may ask for the path in the cluster `default`. `path`: as sent. */
export function isForAnybody(path: string): boolean {
  return ANYBODYS.has(path);
}

/** Whether the path belongs to the server as a whole, with all that is below it. `path`: decoded. */
export function isServers(path: string): boolean {
  return SERVERS.some((own) => path === own || path.startsWith(`${own}/`));
}

const CLUSTERS_PATH = "/clusters";

/**
 * What a request that reads clusters asks for, in the cluster `default`; undefined = it reads none.
 *
 * @param cluster of the path, "" = the path is inside none
 * @param path percent-encoded
 */
export function clustersAsked(method: string, cluster: string, path: string): ResourceAttributes | undefined {
  if (!isRead(method)) return undefined;
  const asked = { group: OWN_DOMAIN, resource: "clusters" };
  if (cluster === DEFAULT_CLUSTER && path === CLUSTERS_PATH) return resourceAttributes({ ...asked, verb: "list" });
  const [, name] = (cluster === "" && /^\/clusters\/([^/%]+)$/.exec(path)) || [];
  return name === undefined ? undefined : resourceAttributes({ ...asked, verb: "get", name });
}

/** Paths that `GET /` names, besides those of groups and of checks. */
export const LISTED_PATHS: readonly string[] = ROUTES.filter(({ listed }) => listed).map(({ path }) => path);
