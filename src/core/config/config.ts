/**
 * The variables of wrangler.toml as one checked value. All mistakes of all variables are reported together, and each text begins with
 * the variable's name.
 */
import { assert } from "../base/assert";
import { parseGoDuration } from "../base/go-duration";
import { LOG_LEVELS, parseLogLevel } from "../base/log-level";
import { err, ok, type Result } from "../base/result";
import { ADDRESS_ERROR_TEXT, formatAddress, parseAddress } from "../net/address";
import type { Family } from "../net/family";
import { formatPrefix, hostBitsOf, parsePrefix, type Prefix, prefixErrorText } from "../net/prefix";
import { specialAddressMessages } from "../net/special-addresses";
import { ALL_CONTROLLERS, type ControllerList, parseControllers } from "./controllers";
import { type FeatureGates, parseFeatureGates } from "./feature-gates";

export interface Config {
  /** configured Service families, the default one first; one or two */
  serviceFamilies: readonly Family[];
  /** canonical CIDR texts in the order of `serviceFamilies` */
  serviceRanges: readonly string[];
  /** with the gate MultiCIDRServiceAllocator off: the only ranges, each cut to the reach of the old allocator */
  onlyRanges: readonly string[] | undefined;
  /** first usable address of the primary range: the ClusterIP of the Service default/kubernetes */
  apiServerServiceIP: string;
  /** canonical addresses at which clusters reach the API servers, each once, sorted; none = nobody is told of any */
  advertiseAddresses: readonly string[];
  featureGates: FeatureGates;
  apiServerLeaseDurationSeconds: number;
  apiServerLeaseRenewSeconds: number;
  /** between two collections of identity Leases that have run out */
  apiServerLeaseCollectSeconds: number;
  /** silence of a Node after which its conditions become Unknown */
  nodeMonitorGraceSeconds: number;
  /** the same, from its creation, of a Node whose condition Ready nobody has written yet */
  nodeStartupGraceSeconds: number;
  /** between two looks at the Leases of Nodes */
  nodeMonitorPeriodSeconds: number;
  /** Pods that have ended are kept up to this number; 0 = all of them */
  terminatedPodThreshold: number;
  maxEndpointsPerSlice: number;
  /** how long a change of a Pod waits for others before the endpoints of its Services are written, in milliseconds */
  endpointsBatchMs: number;
  /** which controllers run in a cluster without a list of its own */
  controllers: ControllerList;
  /** keys of taints that say that a node is about to go, besides the cluster autoscaler's */
  drainingTaints: readonly string[];
  /** between two reports of the agent of a node. Twice as long without one: the node is silent */
  proxySyncPeriodSeconds: number;
  /** when the server began, in ms since the epoch; 0 = not known. `npm start` says so; a deployed Worker has no start of its own */
  serverStartedAtMs: number;
  /** reads under way at once in one isolate; more wait for their turn. 0 = no limit */
  maxRequestsInFlight: number;
  /** the same for writes */
  maxMutatingRequestsInFlight: number;
  /** who decides what a request may do, in this order; "AlwaysAllow" alone = no authentication */
  authorizationModes: readonly AuthorizationMode[];
  /** a request without credentials is that of system:anonymous; otherwise it is refused, but for the probes of the server's own health */
  anonymousAuth: boolean;
  /** load balancers may check the health of nodes without credentials */
  anonymousNodeHealth: boolean;
  /** an address of a static band is for those who may `use` the ServiceCIDR `static` */
  staticBandGuard: boolean;
  /** PEM text of the authorities that sign the server's certificates, as each namespace tells it; "" = nobody is told */
  rootCertificates: string;
  /** how long a request waits for its turn at most; 0 = it is refused at once */
  requestQueueSeconds: number;
  /** under way at once for each user and cluster, however little its neighbours ask for; 0 = only the limits of all count */
  fairRequestsMin: number;
  /** watches that a user has open in one store at most; 0 = any number */
  maxWatchesPerUser: number;
  /** no other machine reaches this server. `npm start` says so; a deployed Worker never does */
  loopbackOnly: boolean;
  /** names, in lower case, to which a server on loopback answers besides localhost and addresses */
  allowedHosts: readonly string[];
}

/** As upstream's flag `--authorization-mode` names them. */
const AUTHORIZATION_MODES = ["Node", "RBAC", "AlwaysAllow"] as const;
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

/** Whether every request is allowed, whoever sends it. */
export function allowsAll({ authorizationModes }: Pick<Config, "authorizationModes">): boolean {
  return authorizationModes.includes("AlwaysAllow");
}

/** Upstream's answer to an empty `--service-cluster-ip-range` (pkg/kubeapiserver/options). */
const DEFAULT_RANGE = "10.0.0.0/24";
/** upstream refuses a primary range of fewer addresses */
const RANGE_HOST_BITS_MIN = 3;
/** limit of the bitmap allocator of older releases */
const LEGACY_HOST_BITS_MAX = 20;
/** the bitmap of an IPv6 range ended after 2^16 addresses, however large the range was */
const LEGACY_IPV6_HOST_BITS = 16;
const INT32_MAX = 2 ** 31 - 1;
const BATCH_PERIOD = "ENDPOINTSLICE_UPDATES_BATCH_PERIOD";
const MAX_ENDPOINTS_PER_SLICE_LIMIT = 1000;
/** upstream has no limit; after an hour nobody would take a Service for alive */
const BATCH_PERIOD_MAX_MS = 3_600_000;
/** upstream's `syncPeriod` has no limit; a node without power that still gets traffic after two hours is a mistake */
const PROXY_SYNC_PERIOD_SECONDS_MAX = 3_600;
/**
 * Upstream's flags of these names have 200 and 400, of requests that an apiserver works on. Here requests that wait for an object count too: 1,000
 * creates at 2,000 a second take half of the second that upstream promises.
 */
const MAX_MUTATING_REQUESTS_INFLIGHT = 1000;
const MAX_REQUESTS_INFLIGHT = 2000;
/** Upstream: a quarter of the request's timeout of a minute (apiserver util/flowcontrol, RequestWaitLimit). */
const REQUEST_QUEUE_SECONDS = 15;
const REQUEST_QUEUE_SECONDS_MAX = 60;
/** Objects of a deployment have threads of their own: 100 requests of 20 ms are 5,000 a second. `npm start`, one thread for all, sets a few. */
const FAIR_REQUESTS_MIN = 100;
/** A service account that all nodes of a large cluster share, as that of a DaemonSet, has a watch for each of them. */
const MAX_WATCHES_PER_USER = 10_000;

/**
 * Text of variables -> Config, or all errors. A variable that is absent or blank has upstream's default; variables of other names
 * are ignored.
 */
export function parseConfig(vars: Readonly<Record<string, string | undefined>>): Result<Config, string[]> {
  const errors: string[] = [];
  const gates = parseFeatureGates(vars.FEATURE_GATES ?? "");
  if (!gates.ok) errors.push(...gates.error.map((text) => `FEATURE_GATES: ${text}`));
  // with a broken list of gates, errors about the stricter limits would mislead
  const legacy = gates.ok && !(gates.value.MultiCIDRServiceAllocator && gates.value.DisableAllocatorDualWrite);
  const prefixes = parseRanges(textOf(vars, "SERVICE_CLUSTER_IP_RANGE", DEFAULT_RANGE), legacy, errors);
  const advertiseAddresses = parseAddresses(vars.ADVERTISE_ADDRESSES ?? "", errors);
  const durationSeconds = parseInteger(vars, "APISERVER_LEASE_DURATION_SECONDS", 3600, INT32_MAX, errors);
  const renewSeconds = parseInteger(vars, "APISERVER_LEASE_RENEW_SECONDS", 10, INT32_MAX, errors);
  if (durationSeconds > 0 && renewSeconds > durationSeconds) {
    errors.push(
      `APISERVER_LEASE_RENEW_SECONDS must not be greater than APISERVER_LEASE_DURATION_SECONDS (${durationSeconds}), got ${renewSeconds}: ` +
        "the Lease would expire before it is renewed",
    );
  }
  const collectSeconds = parseInteger(vars, "APISERVER_LEASE_COLLECT_SECONDS", 3600, INT32_MAX, errors);
  const nodeGraceSeconds = parseInteger(vars, "NODE_MONITOR_GRACE_PERIOD_SECONDS", 50, INT32_MAX, errors);
  const nodeStartupGraceSeconds = parseInteger(vars, "NODE_STARTUP_GRACE_PERIOD_SECONDS", 60, INT32_MAX, errors);
  const nodePeriodSeconds = parseInteger(vars, "NODE_MONITOR_PERIOD_SECONDS", 5, INT32_MAX, errors);
  if (nodeGraceSeconds > 0 && nodePeriodSeconds > nodeGraceSeconds) {
    errors.push(
      `NODE_MONITOR_PERIOD_SECONDS must not be greater than NODE_MONITOR_GRACE_PERIOD_SECONDS (${nodeGraceSeconds}), got ${nodePeriodSeconds}: ` +
        "a Node would become Unknown between two looks",
    );
  }
  const terminatedPodThreshold = parseInteger(vars, "TERMINATED_POD_GC_THRESHOLD", 12_500, INT32_MAX, errors, 0);
  const maxEndpointsPerSlice = parseInteger(vars, "MAX_ENDPOINTS_PER_SLICE", 100, MAX_ENDPOINTS_PER_SLICE_LIMIT, errors);
  const endpointsBatchMs = parsePeriod(textOf(vars, BATCH_PERIOD, "0s"), errors);
  const controllers = parseControllers(textOf(vars, "CONTROLLERS", ALL_CONTROLLERS.join()));
  if (!controllers.ok) errors.push(...controllers.error.map((text) => `CONTROLLERS: ${text}`));
  const drainingTaints = parseTaints(vars.DRAINING_TAINTS ?? "", errors);
  const proxySyncPeriodSeconds = parseInteger(vars, "PROXY_SYNC_PERIOD_SECONDS", 30, PROXY_SYNC_PERIOD_SECONDS_MAX, errors);
  const maxRequestsInFlight = parseInteger(vars, "MAX_REQUESTS_INFLIGHT", MAX_REQUESTS_INFLIGHT, INT32_MAX, errors, 0);
  const maxMutatingRequestsInFlight = parseInteger(
    vars,
    "MAX_MUTATING_REQUESTS_INFLIGHT",
    MAX_MUTATING_REQUESTS_INFLIGHT,
    INT32_MAX,
    errors,
    0,
  );
  const authorizationModes = parseModes(textOf(vars, "AUTHORIZATION_MODE", "Node,RBAC"), errors);
  const anonymousAuth = parseSwitch(vars, "ANONYMOUS_AUTH", errors);
  const anonymousNodeHealth = parseSwitch(vars, "ANONYMOUS_NODE_HEALTH", errors);
  const staticBandGuard = parseSwitch(vars, "STATIC_BAND_GUARD", errors);
  const requestQueueSeconds = parseInteger(vars, "REQUEST_QUEUE_SECONDS", REQUEST_QUEUE_SECONDS, REQUEST_QUEUE_SECONDS_MAX, errors, 0);
  const fairRequestsMin = parseInteger(vars, "FAIR_REQUESTS_MIN", FAIR_REQUESTS_MIN, INT32_MAX, errors, 0);
  const maxWatchesPerUser = parseInteger(vars, "MAX_WATCHES_PER_USER", MAX_WATCHES_PER_USER, INT32_MAX, errors, 0);
  if (parseLogLevel(vars.LOG_LEVEL) === undefined)
    errors.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}, got ${JSON.stringify(vars.LOG_LEVEL)}`);
  if (errors.length > 0 || !gates.ok || !controllers.ok) return err(errors);
  const primary = prefixes[0];
  assert(primary !== undefined, "parseConfig: a list of ranges without errors has a first one");
  return ok({
    serviceFamilies: prefixes.map((prefix) => prefix.family),
    serviceRanges: prefixes.map(formatPrefix),
    onlyRanges: gates.value.MultiCIDRServiceAllocator ? undefined : prefixes.map((prefix) => formatPrefix(legacyPart(prefix))),
    apiServerServiceIP: formatAddress(primary.family, primary.base + 1n),
    advertiseAddresses,
    featureGates: gates.value,
    apiServerLeaseDurationSeconds: durationSeconds,
    apiServerLeaseRenewSeconds: renewSeconds,
    apiServerLeaseCollectSeconds: collectSeconds,
    nodeMonitorGraceSeconds: nodeGraceSeconds,
    nodeStartupGraceSeconds,
    nodeMonitorPeriodSeconds: nodePeriodSeconds,
    terminatedPodThreshold,
    maxEndpointsPerSlice,
    endpointsBatchMs,
    controllers: controllers.value,
    drainingTaints,
    proxySyncPeriodSeconds,
    serverStartedAtMs: Number(vars.SERVER_STARTED_AT ?? 0),
    maxRequestsInFlight,
    maxMutatingRequestsInFlight,
    authorizationModes,
    anonymousAuth,
    anonymousNodeHealth,
    staticBandGuard,
    requestQueueSeconds,
    fairRequestsMin,
    maxWatchesPerUser,
    rootCertificates: vars.ROOT_CA ?? "",
    loopbackOnly: vars.LOOPBACK_ONLY === "true",
    allowedHosts: (vars.ALLOWED_HOSTS ?? "")
      .toLowerCase()
      .split(",")
      .filter((name) => name !== ""),
  });
}

function textOf(vars: Readonly<Record<string, string | undefined>>, name: string, byDefault: string): string {
  const text = (vars[name] ?? "").trim();
  return text === "" ? byDefault : text;
}

/** Returns the readable ranges; texts as those of upstream's flag. */
function parseRanges(text: string, legacy: boolean, errors: string[]): Prefix[] {
  const variable = "SERVICE_CLUSTER_IP_RANGE";
  const parts = text.split(",");
  if (parts.length > 2) {
    errors.push(`${variable} must not contain more than two entries`);
    return [];
  }
  const prefixes: Prefix[] = [];
  parts.forEach((part, index) => {
    const prefix = parseRange(part.trim(), `${variable}[${index}]`, errors);
    if (prefix === undefined) return;
    prefixes.push(prefix);
    if (index === 0 && hostBitsOf(prefix) < RANGE_HOST_BITS_MIN) {
      errors.push(`${variable}[0]: the service cluster IP range must be at least 8 IP addresses`);
    }
    checkSize(prefix, `${variable}[${index}]`, legacy, errors);
  });
  const [first, second] = prefixes;
  if (first !== undefined && second !== undefined && first.family === second.family) {
    errors.push(`${variable}[0] and ${variable}[1] must be of different IP family`);
  }
  return prefixes;
}

/** A CIDR in another spelling (`FD00::/112`) is accepted. */
function parseRange(text: string, where: string, errors: string[]): Prefix | undefined {
  const parsed = parsePrefix(text);
  if (parsed.ok) return parsed.value;
  if (parsed.error.reason === "notCanonical") return parsed.error.prefix;
  errors.push(`${where}: ${JSON.stringify(text)} ${prefixErrorText(parsed.error)}`);
  return undefined;
}

/** The part of a range that the bitmap allocator of older releases uses (upstream: ipallocator, `min(RangeSize, 65536)`). */
function legacyPart(prefix: Prefix): Prefix {
  if (prefix.family === "IPv4") return prefix;
  return { ...prefix, length: Math.max(prefix.length, 128 - LEGACY_IPV6_HOST_BITS) };
}

function checkSize(prefix: Prefix, where: string, legacy: boolean, errors: string[]): void {
  const width = prefix.family === "IPv4" ? 32 : 128;
  if (legacy && hostBitsOf(prefix) > LEGACY_HOST_BITS_MAX) {
    errors.push(`specified ${where} is too large; for ${width}-bit addresses, the mask must be >= ${width - LEGACY_HOST_BITS_MAX}`);
  }
}

/** The addresses of ADVERTISE_ADDRESSES, between commas. What an EndpointSlice would refuse is refused here. */
function parseAddresses(text: string, errors: string[]): string[] {
  const addresses = listOf(text).flatMap((part) => {
    const parsed = parseAddress(part);
    const problem = parsed.ok ? specialAddressMessages(parsed.value, part)[0] : ADDRESS_ERROR_TEXT[parsed.error];
    if (problem !== undefined) errors.push(`ADVERTISE_ADDRESSES: ${JSON.stringify(part)} ${problem}`);
    return parsed.ok ? parsed.value.canonical : [];
  });
  return [...new Set(addresses)].sort();
}

/** A key as Kubernetes has it: a name, or a domain and a name. */
const TAINT_KEY = /^([a-z0-9]([-.a-z0-9]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** The keys of DRAINING_TAINTS, between commas, each once. */
function parseTaints(text: string, errors: string[]): string[] {
  const keys = listOf(text);
  for (const key of keys) {
    if (!TAINT_KEY.test(key))
      errors.push(`DRAINING_TAINTS: ${JSON.stringify(key)} must be the key of a taint, as "karpenter.sh/disrupted"`);
  }
  return [...new Set(keys)];
}

/** The modes of AUTHORIZATION_MODE, each once. With AlwaysAllow no other one would ever be asked. */
function parseModes(text: string, errors: string[]): AuthorizationMode[] {
  const modes = listOf(text).flatMap((part) => {
    const known = AUTHORIZATION_MODES.find((mode) => mode === part);
    if (!known) errors.push(`AUTHORIZATION_MODE: ${JSON.stringify(part)} is none of ${AUTHORIZATION_MODES.join(", ")}`);
    return known ?? [];
  });
  if (modes.includes("AlwaysAllow") && modes.length > 1) errors.push("AUTHORIZATION_MODE: AlwaysAllow stands alone");
  return [...new Set(modes)];
}

/** "true" or "false"; absent = false. */
function parseSwitch(vars: Readonly<Record<string, string | undefined>>, name: string, errors: string[]): boolean {
  const text = textOf(vars, name, "false");
  if (text !== "true" && text !== "false") errors.push(`${name} must be true or false, got ${JSON.stringify(text)}`);
  return text === "true";
}

/** What stands between commas. */
function listOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Milliseconds of a duration as upstream's flag `--endpointslice-updates-batch-period` has it. */
function parsePeriod(text: string, errors: string[]): number {
  const ms = parseGoDuration(text);
  if (ms !== undefined && ms <= BATCH_PERIOD_MAX_MS) return ms;
  errors.push(`${BATCH_PERIOD} must be a duration between 0s and 1h, as "500ms" or "1s", got ${JSON.stringify(text)}`);
  return 0;
}

/** A whole number in `min`..`max`; a refused one is 0, with its error in `errors`. */
function parseInteger(
  vars: Readonly<Record<string, string | undefined>>,
  name: string,
  byDefault: number,
  max: number,
  errors: string[],
  min = 1,
): number {
  const text = textOf(vars, name, String(byDefault));
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : -1;
  if (value >= min && value <= max) return value;
  errors.push(`${name} must be a whole number between ${min} and ${max}, got ${JSON.stringify(text)}`);
  return 0;
}
