/**
 * Every variable of a server, once: its name, its default, what it means to an operator, and how its text becomes a value. `Config` (config.ts), the
 * bindings of the Worker, the table of docs/deploy.md and the settings that a cluster remembers (settings.ts) follow from it.
 */
import { err, ok, type Result } from "../base/result";
import { ALL_CONTROLLERS, type ControllerList, parseControllers } from "./controllers";
import { parseFeatureGates } from "./feature-gates";
import { addresses, anyText, duration, listOf, logLevel, type Reader, serviceRanges, trueOrFalse, wholeNumber } from "./readers";

export interface Variable<T> {
  readonly name: string;
  /** for a text that is absent or blank: upstream's default */
  readonly byDefault: string;
  /** its text in wrangler.toml; absent = it is not there: a secret, or a variable that `npm start` sets */
  readonly deployed?: string;
  /** how docs/deploy.md shows the default, where that is not its text in wrangler.toml */
  readonly shown?: string;
  /** one line of Markdown for docs/deploy.md; absent = no operator sets it */
  readonly meaning?: string;
  /** blanks around it and ends of lines are part of the value */
  readonly isVerbatim?: true;
  readonly read: Reader<T>;
  /** The canonical text, of a variable that the objects of a cluster use: two Workers that differ in it would answer differently. */
  readonly setting?: (value: T) => string;
}

const variable = <const Name extends string, T>(of: Variable<T> & { readonly name: Name }): Variable<T> & { readonly name: Name } => of;

/** As upstream's flag `--authorization-mode` names them. */
const AUTHORIZATION_MODES = ["Node", "RBAC", "AlwaysAllow"] as const;
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

/** A key as Kubernetes has it: a name, or a domain and a name. */
const TAINT_KEY = /^([a-z0-9]([-.a-z0-9]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** The `loadBalancerClass` of Services that pools serve. */
export const POOL_CLASS = "servicenet.dev/pool";

const HOUR_MS = 3_600_000;
/** upstream's `syncPeriod` has no limit; a node without power that still gets traffic after two hours is a mistake */
const PROXY_SYNC_PERIOD_SECONDS_MAX = 3_600;
const MAX_ENDPOINTS_PER_SLICE_LIMIT = 1_000;
const REQUEST_QUEUE_SECONDS_MAX = 60;
/** half a year */
const BACKUP_INTERVAL_HOURS_MAX = 4_392;
/** A page of the bucket's list has 1,000 keys. */
const BACKUPS_KEPT_MAX = 500;

/** With the name of the variable in front of each problem. */
function named<T>(parse: (text: string) => Result<T, string[]>): Reader<T> {
  return (text, name) => {
    const parsed = parse(text);
    return parsed.ok ? parsed : err(parsed.error.map((problem) => `${name}: ${problem}`));
  };
}

/** Each mode once. With AlwaysAllow no other one would ever be asked. */
const authorizationModes: Reader<AuthorizationMode[]> = (text, name) => {
  const known = (part: string): part is AuthorizationMode => AUTHORIZATION_MODES.some((mode) => mode === part);
  const read = listOf((part) => (known(part) ? undefined : `is none of ${AUTHORIZATION_MODES.join(", ")}`))(text, name);
  if (!read.ok) return read;
  const modes = read.value.filter(known);
  return modes.includes("AlwaysAllow") && modes.length > 1 ? err([`${name}: AlwaysAllow stands alone`]) : ok(modes);
};

/** By the member of `Config` that has the value. The order is that of docs/deploy.md, and of problems. */
export const VARIABLES = {
  /** every gate's value */
  featureGates: variable({
    name: "FEATURE_GATES",
    byDefault: "",
    deployed:
      "MultiCIDRServiceAllocator=true,DisableAllocatorDualWrite=true,ServiceIPStaticSubrange=true,APIServerIdentity=true,KubeProxyDrainingTerminatingNodes=true",
    shown: "all five on",
    meaning: "`Name=true,Name=false`; names in `src/core/config/feature-gates.ts`",
    read: named(parseFeatureGates),
  }),
  /** the ranges of the default ServiceCIDR, the default family first */
  servicePrefixes: variable({
    name: "SERVICE_CLUSTER_IP_RANGE",
    // Upstream's answer to an empty `--service-cluster-ip-range` (pkg/kubeapiserver/options).
    byDefault: "10.0.0.0/24",
    deployed: "10.96.0.0/16",
    meaning: "the default ServiceCIDR of a new cluster; two ranges of two families for dual-stack, the first is default",
    read: serviceRanges,
  }),
  /** canonical addresses at which clusters reach the API servers, each once, sorted; none = nobody is told of any */
  advertiseAddresses: variable({
    name: "ADVERTISE_ADDRESSES",
    byDefault: "",
    deployed: "",
    meaning: "where clusters reach this API: the endpoints of `default/kubernetes`, between commas, without port",
    read: addresses,
    setting: (list) => list.join(","),
  }),
  apiServerLeaseDurationSeconds: variable({
    name: "APISERVER_LEASE_DURATION_SECONDS",
    byDefault: "3600",
    deployed: "3600",
    meaning: "lifetime of an identity Lease",
    read: wholeNumber(),
    setting: String,
  }),
  /**
   * A renewal costs a deployment a call and a row, in each place and cluster. So it is renewed as often as its lifetime, and three missed renewals, need.
   * Upstream renews every 10 s, as `npm start` does. Where the text is blank, config.ts keeps it below the lifetime.
   */
  apiServerLeaseRenewSeconds: variable({
    name: "APISERVER_LEASE_RENEW_SECONDS",
    byDefault: "600",
    deployed: "",
    shown: "`600`",
    meaning: "how often it is renewed; empty = every 600 s, or a quarter of its lifetime where that is less; 10 with `npm start`",
    read: wholeNumber(),
    setting: String,
  }),
  /** between two collections of identity Leases that have run out */
  apiServerLeaseCollectSeconds: variable({
    name: "APISERVER_LEASE_COLLECT_SECONDS",
    byDefault: "3600",
    deployed: "3600",
    meaning: "how often identity Leases that have run out are deleted; less than a minute counts as a minute",
    read: wholeNumber(),
  }),
  /** silence of a Node after which its conditions become Unknown */
  nodeMonitorGraceSeconds: variable({
    name: "NODE_MONITOR_GRACE_PERIOD_SECONDS",
    byDefault: "50",
    deployed: "50",
    meaning: "silence after which a [Node](nodes.md) becomes Unknown",
    read: wholeNumber(),
  }),
  /** between two looks at the Leases of Nodes, at least */
  nodeMonitorPeriodSeconds: variable({
    name: "NODE_MONITOR_PERIOD_SECONDS",
    byDefault: "5",
    deployed: "5",
    meaning: "the shortest time between two looks at the Leases of Nodes; not more than the grace",
    read: wholeNumber(),
  }),
  /** the same silence, from its creation, of a Node whose condition Ready nobody has written yet */
  nodeStartupGraceSeconds: variable({
    name: "NODE_STARTUP_GRACE_PERIOD_SECONDS",
    byDefault: "60",
    deployed: "60",
    meaning: "the same silence, from its creation, of a Node whose condition Ready nobody has written",
    read: wholeNumber(),
  }),
  maxEndpointsPerSlice: variable({
    name: "MAX_ENDPOINTS_PER_SLICE",
    byDefault: "100",
    deployed: "100",
    meaning: "endpoints that the controller puts into one EndpointSlice, 1 to 1000",
    read: wholeNumber({ max: MAX_ENDPOINTS_PER_SLICE_LIMIT }),
    setting: String,
  }),
  /** how long a change of a Pod waits for others before the endpoints of its Services are written, in milliseconds */
  endpointsBatchMs: variable({
    name: "ENDPOINTSLICE_UPDATES_BATCH_PERIOD",
    byDefault: "0s",
    deployed: "0s",
    meaning: "how long a change of a Pod, or of a slice by others, waits for more; for Endpoints and mirroring, too",
    // Upstream's flag has no limit; after an hour nobody would take a Service for alive.
    read: duration(HOUR_MS, "0s and 1h"),
    setting: (ms) => `${ms}ms`,
  }),
  /** Pods that have ended are kept up to this number; 0 = all of them */
  terminatedPodThreshold: variable({
    name: "TERMINATED_POD_GC_THRESHOLD",
    byDefault: "12500",
    deployed: "12500",
    meaning: "Pods that have ended are kept up to this number, 0 = all; see [Pods](pods-without-kubelet.md)",
    read: wholeNumber({ min: 0 }),
  }),
  /** which controllers run in a cluster without a list of its own */
  controllers: variable({
    name: "CONTROLLERS",
    byDefault: ALL_CONTROLLERS.join(),
    deployed: "*",
    meaning: "which controllers run, as `--controllers` of kube-controller-manager; see [clusters](clusters.md)",
    read: named(parseControllers),
    setting: (list: ControllerList) => list.join(),
  }),
  /** the load balancers of Services without a class: "" = somebody else's, else those of pools */
  defaultLoadBalancerClass: variable({
    name: "DEFAULT_LOAD_BALANCER_CLASS",
    byDefault: "",
    deployed: "",
    meaning: "`servicenet.dev/pool`: [pools](load-balancer-addresses.md) also serve Services that name no `loadBalancerClass`",
    read: (text, name) =>
      text === "" || text === POOL_CLASS
        ? ok<"" | typeof POOL_CLASS>(text)
        : err([`${name}: ${JSON.stringify(text)} is not ${POOL_CLASS}`]),
    setting: String,
  }),
  /** keys of taints that say that a node is about to go, besides the cluster autoscaler's */
  drainingTaints: variable({
    name: "DRAINING_TAINTS",
    byDefault: "",
    deployed: "",
    meaning: "keys of taints that say that a node is about to go ([health checks](load-balancer-health-checks.md))",
    read: listOf((key) => (TAINT_KEY.test(key) ? undefined : 'must be the key of a taint, as "karpenter.sh/disrupted"')),
    setting: (keys) => keys.join(),
  }),
  /** between two reports of the agent of a node. Twice as long without one: the node is silent */
  proxySyncPeriodSeconds: variable({
    name: "PROXY_SYNC_PERIOD_SECONDS",
    byDefault: "30",
    deployed: "30",
    meaning: "how often nodes report about their proxies, 1 to 3600; twice as long without a report is silence",
    read: wholeNumber({ max: PROXY_SYNC_PERIOD_SECONDS_MAX }),
    setting: String,
  }),
  /**
   * reads under way at once in one isolate; more wait for their turn. 0 = no limit. Upstream's flags of these names have 400 and 200, of requests that an
   * apiserver works on. Here requests that wait for an object count too: 1,000 creates at 2,000 a second take half of the second that upstream promises.
   */
  maxRequestsInFlight: variable({
    name: "MAX_REQUESTS_INFLIGHT",
    byDefault: "2000",
    deployed: "2000",
    meaning: "reads under way at once, 0 = any number; see [overload](#overload)",
    read: wholeNumber({ min: 0 }),
  }),
  /** the same for writes */
  maxMutatingRequestsInFlight: variable({
    name: "MAX_MUTATING_REQUESTS_INFLIGHT",
    byDefault: "1000",
    deployed: "1000",
    meaning: "writes under way at once, 0 = any number",
    read: wholeNumber({ min: 0 }),
  }),
  /**
   * how long a request waits for its turn at most; 0 = it is refused at once. Upstream: a quarter of the request's timeout of a minute (apiserver
   * util/flowcontrol, RequestWaitLimit).
   */
  requestQueueSeconds: variable({
    name: "REQUEST_QUEUE_SECONDS",
    byDefault: "15",
    deployed: "15",
    meaning: "how long a request waits for its turn at most, 0 to 60; 0 = it is refused at once",
    read: wholeNumber({ min: 0, max: REQUEST_QUEUE_SECONDS_MAX }),
  }),
  /**
   * under way at once for each user and cluster, however little its neighbours ask for; 0 = only the limits of all count. Objects of a deployment have
   * threads of their own: 100 requests of 20 ms are 5,000 a second. `npm start`, one thread for all, sets a few.
   */
  fairRequestsMin: variable({
    name: "FAIR_REQUESTS_MIN",
    byDefault: "100",
    deployed: "",
    shown: "`100`",
    meaning: "requests of a cluster, and of a user in it, under way beside others in any case; 3 with `npm start`, 0 = no such bounds",
    read: wholeNumber({ min: 0 }),
  }),
  /**
   * watches that a user has open in one store at most; 0 = any number. A service account that all nodes of a large cluster share, as that of a DaemonSet,
   * has a watch for each of them.
   */
  maxWatchesPerUser: variable({
    name: "MAX_WATCHES_PER_USER",
    byDefault: "10000",
    deployed: "10000",
    meaning: "watches of one resource that a user has open in an isolate, then 429; 0 = any number; administrators may have more",
    read: wholeNumber({ min: 0 }),
  }),
  /**
   * lists of more than a megabyte that one store sends at once; 0 = any number. Each holds its beginning, a megabyte and a half, until its client takes it.
   */
  maxStreamedLists: variable({
    name: "MAX_STREAMED_LISTS",
    byDefault: "20",
    deployed: "20",
    meaning: "lists of more than a megabyte that one store sends at once, then 429; 0 = any number",
    read: wholeNumber({ min: 0 }),
  }),
  /** names, in lower case, to which a server on loopback answers besides localhost and addresses */
  allowedHosts: variable({
    name: "ALLOWED_HOSTS",
    byDefault: "",
    deployed: "",
    meaning: "host names that the server answers to, besides addresses; none = any; writes of pages of these hosts are let in",
    read: (text, name) => listOf(() => undefined)(text.toLowerCase(), name),
  }),
  /** who decides what a request may do, in this order; "AlwaysAllow" alone = no authentication */
  authorizationModes: variable({
    name: "AUTHORIZATION_MODE",
    byDefault: "Node,RBAC",
    deployed: "Node,RBAC",
    meaning: "who decides, in this order; `AlwaysAllow` does not authenticate ([access](access.md))",
    read: authorizationModes,
  }),
  /** a request without credentials is that of system:anonymous; otherwise it is refused, but for the probes of the server's own health */
  anonymousAuth: variable({
    name: "ANONYMOUS_AUTH",
    byDefault: "false",
    deployed: "false",
    meaning: "`true`: a request without a credential is that of `system:anonymous`",
    read: trueOrFalse,
  }),
  /** load balancers may check the health of nodes without credentials */
  anonymousNodeHealth: variable({
    name: "ANONYMOUS_NODE_HEALTH",
    byDefault: "false",
    deployed: "false",
    meaning: "`true`: health checks of nodes need no credential",
    read: trueOrFalse,
  }),
  /** an address of a static band is for those who may `use` the ServiceCIDR `static` */
  staticBandGuard: variable({
    name: "STATIC_BAND_GUARD",
    byDefault: "false",
    deployed: "false",
    meaning: "`true`: an address of a static band needs a right ([access](access.md#who-may-name-an-address))",
    read: trueOrFalse,
  }),
  /** the cluster `default` is taken as made: its first request makes its objects, wherever that comes from */
  impliesDefaultCluster: variable({
    name: "IMPLICIT_DEFAULT_CLUSTER",
    byDefault: "false",
    deployed: "false",
    meaning: "`true`: the first request makes the cluster `default`, as in tests and `wrangler dev` ([clusters](clusters.md))",
    read: trueOrFalse,
  }),
  /** an administrator's request that may make an object begins its cluster where nobody has made it */
  impliesClusters: variable({
    name: "IMPLICIT_CLUSTERS",
    byDefault: "false",
    deployed: "false",
    meaning:
      "`true`: an administrator's first create makes its cluster, for use on a machine of your own ([clusters](clusters.md#beginning))",
    read: trueOrFalse,
  }),
  /** between two backups of a cluster into the bucket; 0 = none */
  backupIntervalHours: variable({
    name: "BACKUP_INTERVAL_HOURS",
    byDefault: "24",
    deployed: "24",
    meaning:
      "how often each cluster is backed up into the bucket `BACKUPS`, where one is bound; 0 = never ([backup](backup.md#by-the-clock))",
    read: wholeNumber({ min: 0, max: BACKUP_INTERVAL_HOURS_MAX }),
  }),
  /** backups of a cluster in the bucket */
  backupsKept: variable({
    name: "BACKUPS_KEPT",
    byDefault: "7",
    deployed: "7",
    meaning: "how many backups of each cluster the bucket keeps, the newest ones, 1 to 500",
    read: wholeNumber({ max: BACKUPS_KEPT_MAX }),
  }),
  logLevel: variable({
    name: "LOG_LEVEL",
    byDefault: "info",
    deployed: "info",
    meaning: "how much is logged: `debug`, `info`, `warn` or `error`",
    read: logLevel,
  }),
  /** when the server began, in ms since the epoch; 0 = not known. `npm start` says so; a deployed Worker has no start of its own */
  serverStartedAtMs: variable({ name: "SERVER_STARTED_AT", byDefault: "0", read: (text) => ok(Number(text)) }),
  /** PEM text of the authorities that sign the server's certificates, as each namespace tells it; "" = nobody is told. `npm start` sets it. */
  rootCertificates: variable({ name: "ROOT_CA", byDefault: "", isVerbatim: true, read: anyText }),
  /** no other machine reaches this server. `npm start` says so; a deployed Worker never does, whatever else stands there */
  loopbackOnly: variable({ name: "LOOPBACK_ONLY", byDefault: "false", read: (text) => ok(text === "true") }),
} as const;

/** Variables that are read where they are used: those of access control (src/access/settings.ts), and the name of the place. */
export const VARIABLES_ELSEWHERE = {
  hostName: {
    name: "HOST_NAME",
    deployed: "",
    shown: "the place",
    meaning: "names this place in its [identity Lease](#identity-leases); `npm start` takes the machine's host name",
  },
  adminTokenHashes: {
    name: "ADMIN_TOKEN_HASHES",
    meaning: "administrators of the whole server: a secret, not in `wrangler.toml`",
  },
  authenticationConfig: {
    name: "AUTHENTICATION_CONFIG",
    meaning: "JSON: issuers of JWTs, in upstream's form ([access](access.md#jwts-of-an-issuer))",
  },
  auditPolicy: {
    name: "AUDIT_POLICY",
    deployed: "writes=Metadata,reads=None,sample=1",
    shown: "writes",
    meaning: "what the audit log has: `writes=LEVEL,reads=LEVEL,sample=PART`; levels `None`, `Metadata`, `Request`",
  },
} as const satisfies Readonly<Record<string, Pick<Variable<never>, "name" | "deployed" | "shown" | "meaning">>>;

/** The values of all variables, by the member of `Config` that has them. */
export type VariableValues = {
  readonly [Member in keyof typeof VARIABLES]: (typeof VARIABLES)[Member] extends Variable<infer T> ? T : never;
};

/** The value of each variable, or all that is wrong with all of them. Variables of other names are ignored. */
export function readVariables(vars: Readonly<Record<string, string | undefined>>): { values: Partial<VariableValues>; errors: string[] } {
  const values: Record<string, unknown> = {};
  const errors: string[] = [];
  for (const [member, { name, byDefault, isVerbatim, read }] of Object.entries<Variable<unknown>>(VARIABLES as never)) {
    const text = vars[name] ?? "";
    const isBlank = text.trim() === "";
    const value = read(isBlank ? byDefault : isVerbatim ? text : text.trim(), name);
    if (value.ok) values[member] = value.value;
    else errors.push(...value.error);
  }
  return { values: values as Partial<VariableValues>, errors };
}
