/**
 * Cron -> jobs over clusters. The objects do the work (`maintain`, `compact`, `expire`); each call is bounded and may be repeated. This file only
 * chooses the clusters. It takes those that had writes since the last few runs, by the notes of their objects in the directory, and the next few of
 * all clusters. A run visits a bounded number of clusters and leaves cursors for the next one. Places that all run crons share the clusters with
 * writes.
 */
import { inParallel } from "../core/base/in-parallel";
import { definitions, storedResource } from "../api/registry/all";
import type { Config } from "../core/config/config";
import type { FeatureGates } from "../core/config/feature-gates";
import { settingsOf } from "../core/config/settings";
import { configOf } from "./routing/config-guard";
import { noteBusy } from "../../durable-objects/peers/busy";
import { type ControllerName, CONTROLLERS } from "../../durable-objects/platform/controllers";
import type { Env } from "../../durable-objects/platform/env";
import {
  clusterRecord,
  controller,
  coordinator,
  eventsStore,
  ipAddressesStore,
  leasesStore,
  repairStub,
  resourceQuotasStore,
  servicesStore,
  storeStub,
} from "../../durable-objects/peers/peers";
import { clusterName } from "../tenancy/cluster-id";
import { BUSY_LIFETIME_SECONDS, busyPrefix, DIRECTORY_PREFIX, type Rhythm } from "../tenancy/directory-keys";
import { shareOf } from "../leases/identity/shared-work";
import { type CronPlaces, cronPlaces } from "./cron-places";
import { busyCursorKey, idleCursorKey, isUnderWay, NOBODY, type DirectoryPage, pageOf } from "./routing/cron-rounds";
import { CRON_CLUSTERS_MAX, CRON_CONCURRENCY, CRON_IDLE_CLUSTERS } from "./http/limits";
import { log } from "./http/log";
import { call, ClusterGone } from "./routing/call";

/** One call to one object of a cluster. */
interface Task {
  what: string;
  /** the controller that it wakes: left out where that is switched off */
  wakes?: ControllerName;
  /** left out where the gate is off */
  gate?: keyof FeatureGates;
  /** Busy clusters have it by another job. */
  onlyIdle?: true;
  run(env: Env, cluster: string): Promise<void>;
}

const MAINTAIN_SERVICES: Task = { what: "services.maintain", run: (env, cluster) => servicesStore(env, cluster).maintain() };
const MAINTAIN_ADDRESSES: Task = { what: "ipaddresses.maintain", run: (env, cluster) => ipAddressesStore(env, cluster).maintain() };
const MAINTAIN_COORDINATOR: Task = { what: "coordinator.maintain", run: (env, cluster) => coordinator(env, cluster).maintain() };
const COLLECT_GARBAGE: Task = {
  what: "garbage-collection.poke",
  wakes: "garbage-collection",
  run: (env, cluster) => controller(env, cluster, "garbage-collection").poke(),
};
/** After a lost poke, or a pass that a crash ended, the deletion of a namespace continues here. */
const DELETE_NAMESPACES: Task = {
  what: "namespaces.poke",
  wakes: "namespaces",
  run: (env, cluster) => controller(env, cluster, "namespaces").poke(),
};
/** After a lost poke a controller that follows stores reads on here. */
const readOn = (name: ControllerName): Task => ({
  what: `${name}.poke`,
  wakes: name,
  run: (env, cluster) => controller(env, cluster, name).poke(),
});
const REPAIR: Task = {
  what: "repair.poke",
  run: async (env, cluster) => {
    const config = configOf(env);
    if (config.ok) await repairStub(env, cluster).pokeFrom(settingsOf(config.value), "cron");
  },
};
/** Tells the stores that missed the limits of quotas. */
const MAINTAIN_QUOTAS: Task = { what: "resourcequotas.maintain", run: (env, cluster) => resourceQuotasStore(env, cluster).maintain() };
const COUNT_USAGE: Task = {
  what: "resource-quotas.poke",
  wakes: "resource-quotas",
  run: (env, cluster) => controller(env, cluster, "resource-quotas").poke(),
};
const EXPIRE_EVENTS: Task = {
  what: "events.expire",
  run: (env, cluster) =>
    eventsStore(env, cluster)
      .expire()
      .then(() => undefined),
};

/** Deletes the Leases of instances that serve the cluster no more. `cut` gets the clusters in which a call ended before it was through. */
const collectIdentities = (cut?: Set<string>): Task => ({
  what: "leases.expire",
  gate: "APIServerIdentity",
  run: async (env, cluster) => {
    const startedAt = Date.now();
    const expired = await leasesStore(env, cluster).expire();
    if (expired.cut > 0) cut?.add(cluster);
    if (expired.deleted > 0) log("info", "collected identity leases", { cluster, ...expired, durationMs: Date.now() - startedAt });
  },
});

/** Every store of a cluster once: a second representation has no store of its own. */
const COMPACT_STORES: readonly Task[] = definitions
  .filter((definition) => definition.representationOf === undefined)
  .map((definition) => ({
    what: `${definition.resource}.compact`,
    run: (env, cluster) => storeStub(env, cluster, storedResource(definition)).compact(),
  }));

interface Job {
  name: string;
  /** how often it looks at clusters that have had writes */
  rhythm: Rhythm;
  /** its cron's period, in minutes */
  minutes: number;
  /** Its tasks are among those of every minute. It leaves busy clusters to that job while that job visits all of them in one run. */
  coveredEachMinute?: true;
  /** No idle cluster has a turn: another job has its tasks for those. */
  onlyBusy?: true;
  /**
   * Its tasks. A cluster with writes gets all of them. An idle one gets one part in each round through all clusters. With the start of its objects
   * that is at most 20 calls to objects; the garbage collector, which asks every store, has 28 (test/object/slow/cron-cost.test.ts).
   */
  parts: readonly (readonly Task[])[];
}

/** Work that a crash may have left half done. */
const MAINTAIN: readonly Task[] = [MAINTAIN_SERVICES, MAINTAIN_ADDRESSES, MAINTAIN_COORDINATOR];
const OF_NAMESPACES: readonly Task[] = [DELETE_NAMESPACES, MAINTAIN_QUOTAS, COUNT_USAGE];
const MAKE_SLICES: readonly Task[] = [readOn("endpointslice-controller")];
const MAKE_ENDPOINTS: readonly Task[] = (["endpoints-controller", "endpointslice-mirroring-controller"] as const).map(readOn);
const OF_NODES: readonly Task[] = (["node-lifecycle-controller", "proxy-health"] as const).map(readOn);
const OF_PODS: readonly Task[] = (["pod-garbage-collector-controller", "taint-eviction-controller"] as const).map(readOn);
/** Their part is that of Pods: without roles they have no work, and a part without tasks would make the round longer. */
const OF_ACCESS: readonly Task[] = (
  ["serviceaccount-controller", "root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller"] as const
).map(readOn);
/** Stores that one part compacts. */
const COMPACTED = 10;

const EVERY_MINUTE = "* * * * *";

/** The crons of wrangler.toml. */
const JOBS: Readonly<Record<string, Job>> = {
  [EVERY_MINUTE]: {
    name: "maintain",
    rhythm: "minute",
    minutes: 1,
    parts: [MAINTAIN, [COLLECT_GARBAGE], [REPAIR], OF_NAMESPACES, MAKE_SLICES, MAKE_ENDPOINTS, OF_NODES, [...OF_PODS, ...OF_ACCESS]],
  },
  "*/5 * * * *": { name: "topology", rhythm: "minute", minutes: 5, coveredEachMinute: true, parts: [[MAINTAIN_COORDINATOR]] },
  "0 * * * *": {
    name: "compact",
    rhythm: "hour",
    minutes: 60,
    parts: [
      [{ ...collectIdentities(), onlyIdle: true }, EXPIRE_EVENTS, ...COMPACT_STORES.slice(0, COMPACTED)],
      COMPACT_STORES.slice(COMPACTED),
    ],
  },
};

/**
 * Beside the job of each minute: a round begins when a period of APISERVER_LEASE_COLLECT_SECONDS ends, and goes on in each minute to its end. A store
 * with Leases that will run out notes that its cluster is busy. Where that note is lost, or its time is over, the job of each hour comes for them.
 */
const COLLECT_LEASES = { name: "leases", rhythm: "hour", minutes: 60, onlyBusy: true } as const;
/** The clusters in which the last run of COLLECT_LEASES was not through, in a list; each place has its own. Three runs. */
const CUT_PREFIX = "cron/cut/leases/";
const CUT_LIFETIME_SECONDS = 180;

const MINUTE_MS = 60_000;
/** KV lists no more keys at once. */
const LISTED_MAX = 1_000;

/** The cron handler; `dueMs` is the time that the tick was due at. Never throws. A failed task is counted and logged, and runs again at the next tick. */
export async function runScheduled(cron: string, env: Env, dueMs: number): Promise<void> {
  const job = JOBS[cron];
  if (!job) return log("warn", "unknown cron", { cron });
  const config = configOf(env);
  if (!config.ok) return;
  const places = await cronPlaces(env, config.value);
  await runJob({ job, cron, places }, env, config.value);
  if (cron === EVERY_MINUTE && config.value.featureGates.APIServerIdentity) await collectLeases(cron, places, env, config.value, dueMs);
}

/** COLLECT_LEASES, where a round begins or is under way; and again in the clusters that needed more time in the minute before. */
async function collectLeases(cron: string, places: CronPlaces | undefined, env: Env, config: Config, dueMs: number): Promise<void> {
  const { DIRECTORY } = env;
  const cutKey = CUT_PREFIX + (places?.self ?? "");
  const isOver = endsInLastMinute(config.apiServerLeaseCollectSeconds * 1000, dueMs);
  // What the directory does not tell now, it tells in the next minute.
  const [goesOn, before] = await Promise.all([
    isOver || isUnderWay(env, busyCursorKey(COLLECT_LEASES.name, places?.self)).catch(() => false),
    DIRECTORY.get<string[]>(cutKey, "json").catch(() => null),
  ]);
  if (!goesOn && !before) return;
  const cut = new Set<string>();
  const job: Job = { ...COLLECT_LEASES, parts: [[collectIdentities(cut)]] };
  await runJob({ job, cron, places, again: before ?? [], isAgainOnly: !goesOn }, env, config);
  try {
    if (cut.size > 0) await DIRECTORY.put(cutKey, JSON.stringify([...cut]), { expirationTtl: CUT_LIFETIME_SECONDS });
    else if (before) await DIRECTORY.delete(cutKey);
  } catch (error) {
    log("warn", "clusters whose identity leases need more time could not be kept", { error: String(error) });
  }
}

/** Whether a period, counted from the Unix epoch, has ended in the minute before. */
function endsInLastMinute(periodMs: number, nowMs: number): boolean {
  return Math.floor(nowMs / periodMs) > Math.floor((nowMs - MINUTE_MS) / periodMs);
}

interface Run {
  job: Job;
  cron: string;
  /** undefined = this run is the only one */
  places: CronPlaces | undefined;
  /** clusters that are visited besides */
  again?: readonly string[];
  /** Only those are visited, and no page. */
  isAgainOnly?: boolean;
}

async function runJob({ job, cron, places, again = [], isAgainOnly }: Run, env: Env, config: Config): Promise<void> {
  const { controllers, featureGates } = config;
  const byVariable = CONTROLLERS.off(controllers);
  const startedAt = Date.now();
  const [busy, next] = await Promise.all([
    isAgainOnly ? NOBODY : busyPage(env, job, places),
    job.onlyBusy
      ? NOBODY
      : pageOf(env, { prefix: DIRECTORY_PREFIX, limit: CRON_IDLE_CLUSTERS, cursorKey: idleCursorKey(job.name), period: job.minutes }),
  ]);
  const part = job.parts[next.round % job.parts.length] ?? [];
  const visits = new Map(next.clusters.map(({ id, facts }) => [id, { tasks: part, facts }]));
  const visited = job.coveredEachMinute && busy.isWhole ? [] : [...again.map((id) => ({ id, facts: undefined })), ...busy.clusters];
  for (const { id, facts } of visited)
    visits.set(id, { tasks: job.parts.flat().filter((task) => !task.onlyIdle), facts: facts ?? visits.get(id)?.facts });
  let errors = busy.errors + next.errors;
  await inParallel([...visits], CRON_CONCURRENCY, async ([cluster, { tasks, facts }]) => {
    const isOn = ({ wakes, gate }: Task): boolean =>
      (gate === undefined || featureGates[gate]) &&
      (wakes === undefined || (CONTROLLERS.runsWith(wakes, config) && (facts ? facts.on.includes(wakes) : !byVariable.includes(wakes))));
    let failed = await runTasks(tasks.filter(isOn), env, cluster);
    // The record, which has the list, tells what a later release has brought.
    if (facts && !CONTROLLERS.names.every((name) => facts.on.includes(name) || facts.off.includes(name)))
      failed += await carryOn(env, cluster);
    if (failed > 0) noteBusy(env, cluster, job.rhythm, facts);
    errors += failed;
  });
  log(errors > 0 ? "warn" : "debug", "cron job finished", {
    job: job.name,
    cron,
    clusters: visits.size,
    busy: visited.length,
    durationMs: Date.now() - startedAt,
    errors,
  });
}

/** How many tasks failed; each has been logged by `call`. */
async function runTasks(tasks: readonly Task[], env: Env, cluster: string): Promise<number> {
  let errors = 0;
  try {
    for (const task of tasks) {
      const done = await call(() => task.run(env, cluster), { what: `${cluster}: ${task.what}`, repeatable: true });
      if (!done.ok) errors++;
    }
  } catch (error) {
    if (!(error instanceof ClusterGone)) throw error;
    errors += await carryOn(env, cluster);
  }
  return errors;
}

/** How many calls failed. */
async function carryOn(env: Env, cluster: string): Promise<number> {
  const record = clusterRecord(env, clusterName(cluster));
  const done = await call(() => record.carryOn(cluster), { what: `${cluster}: record.carryOn`, repeatable: false });
  return done.ok ? 0 : 1;
}

/**
 * The next clusters with writes. Several places may share them: each goes through the directory with a cursor of its own, and takes its part of a
 * page. The page is so large that each visits as many as a place alone.
 */
async function busyPage(env: Env, { name, rhythm, minutes }: Job, places: CronPlaces | undefined): Promise<DirectoryPage> {
  const limit = Math.min(CRON_CLUSTERS_MAX * (places?.all.length ?? 1), LISTED_MAX);
  const expirationTtl = BUSY_LIFETIME_SECONDS[rhythm];
  const of = { prefix: busyPrefix(rhythm), limit, cursorKey: busyCursorKey(name, places?.self), period: minutes, expirationTtl };
  const page = await pageOf(env, of);
  return places ? { ...page, clusters: shareOf(page.clusters, ({ id }) => id, places.all, places.self) } : page;
}
