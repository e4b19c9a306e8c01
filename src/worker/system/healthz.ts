/**
 * Health endpoints. Live = this isolate answers and has done what upstream's server does at its start; ready = it could also serve a request of this
 * cluster, which takes its Coordinator. A probe of readiness calls the Coordinator, once a second. Other checks that have passed once call nothing
 * again. Source: upstream apiserver server/healthz.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { clusterShard, coordinator, repairStub } from "../../../durable-objects/peers/peers";
import { systemClock } from "../../../durable-objects/platform/ports";
import type { Lease } from "../../api/meta/kubernetes";
import { withTimeout } from "../../core/base/timeout";
import { settingsOf } from "../../core/config/settings";
import { LABEL_HOSTNAME } from "../../leases/identity/identity-lease";
import type { ServingInstances } from "../../leases/identity/serving-instances";
import { ok } from "../../core/base/result";
import { clusterName, DEFAULT_CLUSTER } from "../../tenancy/cluster-id";
import { directoryKey, DISK_PROBE_KEY } from "../../tenancy/directory-keys";
import { log } from "../http/log";
import { HEALTH_CLUSTERS_MAX, READY_TIMEOUT_MS } from "../http/limits";
import { RecentMap } from "../http/recent-map";
import { isBootstrapped } from "../routing/bootstrap";
import { call, ClusterGone } from "../routing/call";
import { configOf } from "../routing/config-guard";
import { renewAtStart } from "../routing/identity";
import { instancesOf } from "../routing/instances";
import { diskState } from "../routing/disk-state";
import { writeStreaks } from "../routing/write-streaks";
import { pageNotFound, textResponse } from "../http/answer/respond";
import { healthSlis, type HealthProbe } from "./health-slis";
import { type JobTime, LateJobs } from "./late-jobs";
import { isImplied } from "../routing/known-clusters";
import { type Hook, HOOKS, StartHooks, type StartWork } from "./start-hooks";

const PROBES: readonly HealthProbe[] = ["healthz", "livez", "readyz"];

interface Probed {
  env: Env;
  request: Request;
  cluster: string;
}

interface HealthzCheck {
  name: string;
  /** undefined = fine, else why not: for the log, and for who asks for this check alone */
  run(probed: Probed): Promise<string | undefined>;
}

const PING: HealthzCheck = { name: "ping", run: () => Promise.resolve(undefined) };
/** The guard in front of every route has refused the request when the configuration is invalid. */
const CONFIG: HealthzCheck = { name: "config", run: () => Promise.resolve(undefined) };
const COORDINATOR: HealthzCheck = {
  name: "coordinator",
  async run({ env, cluster }) {
    const answer = await lately(env, `coordinator ${cluster}`, async () =>
      (await isUnmade(env, cluster)) ? ok(undefined) : topologyOf(env, cluster),
    );
    if (!answer.ok) return answer.error.message ?? "no answer";
    return diskState.fault === undefined ? undefined : lately(env, "disk", () => diskProblem(env));
  },
};

/** Anybody may ask for readiness, as often as he likes. */
const LATELY_MS = 1_000;
const recentAnswers = new WeakMap<Env, RecentMap<string, { readonly atMs: number; readonly answer: unknown }>>();

/** What `ask` answers, or answered a moment ago. Requests under way do not share it: the platform lets none wait for another. */
async function lately<T>(env: Env, what: string, ask: () => Promise<T>): Promise<T> {
  const kept = recentAnswers.get(env) ?? new RecentMap(HEALTH_CLUSTERS_MAX);
  recentAnswers.set(env, kept);
  const known = kept.get(what);
  if (known && Math.abs(systemClock.now() - known.atMs) < LATELY_MS) return known.answer as T;
  const answer = await ask();
  kept.put(what, { atMs: systemClock.now(), answer });
  return answer;
}

/** More than what is left in the last page of a full disk. */
const DISK_PROBE = "x".repeat(16_384);

/** Reads go on without space, so a write says whether the disk takes data again. */
async function diskProblem(env: Env): Promise<string | undefined> {
  try {
    await withTimeout(systemClock, READY_TIMEOUT_MS, env.DIRECTORY.put(DISK_PROBE_KEY, DISK_PROBE, { expirationTtl: 60 }));
  } catch (error) {
    // The platform takes one write of a key a second, from all isolates.
    if (!String(error).includes("429")) return diskState.fault;
  }
  diskState.mended();
  return undefined;
}

/** Cron and its jobs, as far as the cluster is written to. */
const JOBS: HealthzCheck = {
  name: "scheduled-jobs",
  run({ env, cluster }) {
    const writtenForMs = writeStreaks.lengthMs(cluster, systemClock.now());
    return lateJobs.problem(cluster, writtenForMs, () => jobTimesIfKnown(env, cluster, systemClock.now() - writtenForMs));
  },
};
const lateJobs = new LateJobs(systemClock, HEALTH_CLUSTERS_MAX);

/** Times of the jobs that tell. There are none where nobody knows what cron owes the cluster. */
async function jobTimesIfKnown(env: Env, cluster: string, writtenSinceMs: number): Promise<JobTime[]> {
  try {
    return await withTimeout(systemClock, READY_TIMEOUT_MS, jobTimes(env, cluster, writtenSinceMs));
  } catch (error) {
    if (error instanceof ClusterGone) throw error;
    log("warn", "times of scheduled jobs could not be read", { cluster, error: String(error) });
    return [];
  }
}

async function jobTimes(env: Env, cluster: string, writtenSinceMs: number): Promise<JobTime[]> {
  const whereabouts = { what: "shard.whereabouts", repeatable: true, timeoutMs: READY_TIMEOUT_MS };
  const asked = await call(() => clusterShard(env, cluster).whereabouts(cluster), whereabouts);
  // Writes that changed nothing left no note, so cron does not come.
  if (!asked.ok || !asked.value.minute) return [];
  const { waitMs } = asked.value;
  const config = configOf(env);
  const [counts, instances] = await Promise.all([countsOf(env, cluster), instancesIfKnown(env, cluster)]);
  const { lastRuns } = counts.ok ? counts.value : {};
  const visited = (text: string, atMs: number) => ({ text, atMs, dueMs: Math.max(atMs, writtenSinceMs) + waitMs.maintain });
  const times = lastRuns ? [visited("cron, last at", lastRuns.cronMs), visited("repair, last at", lastRuns.repairMs)] : [];
  if (!config.ok || instances?.expiredSinceMs === undefined) return times;
  // It waited for the period in which it ran out, and may have missed one. Before the writes the server may have been off, or the gate.
  const atMs = Math.max(instances.expiredSinceMs, writtenSinceMs) + 2 * config.value.apiServerLeaseCollectSeconds * 1000;
  return [...times, { text: "collection of identity Leases, due at", atMs, dueMs: atMs + waitMs.leases }];
}

function countsOf(env: Env, cluster: string) {
  const what = "repair.counts";
  return call(() => repairStub(env, cluster).repairCounts(), { what, repeatable: true, timeoutMs: READY_TIMEOUT_MS });
}

function topologyOf(env: Env, cluster: string) {
  return call(() => coordinator(env, cluster).topology(), {
    what: "coordinator.topology",
    repeatable: true,
    timeoutMs: READY_TIMEOUT_MS,
  });
}

/** By the bindings, as the configuration is. */
const hooks = new WeakMap<Env, StartHooks>();

function hookCheck(hook: Hook): HealthzCheck {
  return {
    name: `poststarthook/${HOOKS[hook]}`,
    run(probed) {
      const { env, cluster } = probed;
      let own = hooks.get(env);
      if (!own) hooks.set(env, (own = new StartHooks(systemClock, HEALTH_CLUSTERS_MAX)));
      return own.problem(cluster, hook, workOf(probed), READY_TIMEOUT_MS);
    },
  };
}

/** A slice of repair's sweep that ended so lately is as good as a pass in this life of its object. */
const REPAIRED_LATELY_MS = 30 * 60_000;

function workOf({ env, cluster, request }: Probed): StartWork {
  return {
    renewIdentity: () => renewAtStart(env, cluster, request),
    syncServiceCIDR: async () => !(await isInUse(env, cluster)) || (await topologyOf(env, cluster)).ok,
    askRepair: async () => {
      const config = configOf(env);
      if (!config.ok) return;
      const settings = settingsOf(config.value);
      await call(() => repairStub(env, cluster).pokeFrom(settings), { what: "repair.pokeFrom", repeatable: true });
    },
    isRepaired: async () => {
      if (!(await isInUse(env, cluster))) return true;
      const counts = await countsOf(env, cluster);
      if (!counts.ok) return false;
      const { isRepaired, sweeps, lastRuns } = counts.value;
      // A server of one machine looks at everything at its start. Objects of a deployment start often.
      if (!isOneMachine(env) && lastRuns && systemClock.now() - lastRuns.repairMs < REPAIRED_LATELY_MS) return true;
      // An object of the release before does not tell.
      return isRepaired ?? sweeps > 0;
    },
  };
}

/** Whether this is a server of one machine, which knows when it started. It need not have an identity Lease. */
function isOneMachine(env: Env): boolean {
  const config = configOf(env);
  return config.ok && config.value.serverStartedAtMs > 0;
}

/** Whether the cluster has objects. A deployment makes none for a probe; a server of one machine makes those of its clusters at its start. */
async function isInUse(env: Env, cluster: string): Promise<boolean> {
  if (isOneMachine(env) || isBootstrapped(env, cluster)) return true;
  // Where the directory does not answer, the objects do.
  return (await env.DIRECTORY.get(directoryKey(cluster)).catch(() => "")) !== null;
}

const HOOKS_OF_IDENTITY: readonly HealthzCheck[] = [hookCheck("identity"), hookCheck("collection")];
const OTHER_HOOKS: readonly HealthzCheck[] = [hookCheck("repair"), hookCheck("serviceCIDR")];

function checksOf(env: Env, probe: HealthProbe): readonly HealthzCheck[] {
  return [
    PING,
    CONFIG,
    ...(probe === "readyz" ? [COORDINATOR, JOBS] : []),
    ...(hasIdentities(env) ? HOOKS_OF_IDENTITY : []),
    ...OTHER_HOOKS,
  ];
}

/** The one cluster that is probed whether or not anybody has made it. */
async function isUnmade(env: Env, cluster: string): Promise<boolean> {
  return clusterName(cluster) === DEFAULT_CLUSTER && !isImplied(env, DEFAULT_CLUSTER) && !(await isInUse(env, cluster));
}

/** Every path of health: of all checks and of each. */
export function checkPaths(env: Env): string[] {
  return PROBES.flatMap((probe) => [`/${probe}`, ...checksOf(env, probe).map(({ name }) => `/${probe}/${name}`)]);
}

interface ProbeRequest extends Probed {
  probe: HealthProbe;
  /** the name of the one check that is asked for; undefined = all */
  only: string | undefined;
  query: URLSearchParams;
}

/** GET /{probe} and /{probe}/{check}. */
export async function probeResponse(asked: ProbeRequest): Promise<Response> {
  const { env, cluster, probe, only, query } = asked;
  const all = checksOf(env, probe);
  if (only !== undefined) {
    const check = all.find(({ name }) => name === only);
    if (!check) return pageNotFound();
    const problem = await check.run(asked);
    return problem === undefined ? textResponse(200, "ok") : textResponse(500, `internal server error: ${problem}\n`);
  }
  const excluded = new Set(query.getAll("exclude"));
  const results = await Promise.all(
    all.map(async (check) => ({ check, problem: excluded.has(check.name) ? undefined : await check.run(asked) })),
  );
  const lines: string[] = [];
  for (const { check, problem } of results) {
    if (excluded.delete(check.name)) lines.push(`[+]${check.name} excluded: ok\n`);
    else {
      healthSlis.note(clusterName(cluster), probe, check.name, problem === undefined);
      lines.push(problem === undefined ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`);
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].sort().map((name) => JSON.stringify(name));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(",")}\n`);
  }
  if (probe === "readyz" && query.has("verbose")) lines.push(...(await instanceLines(env, cluster)));
  const problems = results.flatMap(({ check, problem }) => (problem === undefined ? [] : [`${check.name}: ${problem}`]));
  if (problems.length > 0) {
    log("warn", "health check failed", { probe, cluster, problems: problems.join("; ") });
    return textResponse(500, `${lines.join("")}${probe} check failed\n`);
  }
  return textResponse(200, query.has("verbose") ? `${lines.join("")}${probe} check passed\n` : "ok");
}

/** The places that serve the cluster, in the order of their Leases' names: a line each, of a kind that is no check's. */
async function instanceLines(env: Env, cluster: string): Promise<string[]> {
  if (!hasIdentities(env)) return [];
  const instances = await lately(env, `instances ${cluster}`, () => instancesIfKnown(env, cluster));
  return instances?.living.map(instanceLine) ?? ["info: serving instances are not known\n"];
}

function hasIdentities(env: Env): boolean {
  const config = configOf(env);
  return config.ok && config.value.featureGates.APIServerIdentity;
}

/** Undefined: nobody knows, or the gate is off. */
async function instancesIfKnown(env: Env, cluster: string): Promise<ServingInstances | undefined> {
  if (!hasIdentities(env)) return undefined;
  try {
    return await instancesOf(env, cluster);
  } catch (error) {
    log("warn", "serving instances could not be listed", { cluster, error: String(error) });
    return undefined;
  }
}

function instanceLine({ metadata, spec }: Lease): string {
  const host = metadata?.labels?.[LABEL_HOSTNAME] ?? "";
  // Others may write these Leases, and one line is one line.
  const text = (value: unknown): string => JSON.stringify(typeof value === "string" ? value : "");
  return `info: serving instance ${metadata?.name ?? ""} host=${text(host)} holder=${text(spec?.holderIdentity)} renewed=${text(spec?.renewTime)}\n`;
}
