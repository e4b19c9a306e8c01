/**
 * Cron -> jobs over clusters. The objects do the work (`maintain`, `compact`, `expire`); each call is bounded and may be repeated. This file only
 * chooses the clusters: those with writes since the last few runs, as their objects noted in the directory, and the next few of all clusters. A run
 * visits a bounded number of clusters and leaves cursors for the next one.
 */
import { inParallel } from "../core/base/in-parallel";
import { definitions, storedResource } from "../api/registry/all";
import { settingsOf } from "../core/config/settings";
import { configOf } from "./routing/config-guard";
import { type DirectoryFacts, noteBusy } from "../../durable-objects/busy";
import { type ControllerName, CONTROLLERS } from "../../durable-objects/controllers";
import type { Env } from "../../durable-objects/env";
import {
  clusterRecord,
  controller,
  coordinator,
  eventsStore,
  ipAddressesStore,
  repairController,
  resourceQuotasStore,
  servicesStore,
  storeStub,
} from "../../durable-objects/peers";
import { clusterName } from "../tenancy/cluster-id";
import { busyPrefix, DIRECTORY_PREFIX, type Rhythm } from "../tenancy/directory-keys";
import { CRON_CLUSTERS_MAX, CRON_CONCURRENCY, CRON_IDLE_CLUSTERS } from "./http/limits";
import { log } from "./http/log";
import { call, ClusterGone } from "./routing/call";

/** One call to one object of a cluster. */
interface Task {
  what: string;
  /** the controller that it wakes: left out where that is switched off */
  wakes?: ControllerName;
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
/** After a lost poke the controllers of endpoints read on here. */
const MAKE_ENDPOINTS = (["endpointslice-controller", "endpoints-controller", "endpointslice-mirroring-controller"] as const).map(
  (name): Task => ({ what: `${name}.poke`, wakes: name, run: (env, cluster) => controller(env, cluster, name).poke() }),
);
const REPAIR: Task = {
  what: "repair.poke",
  run: async (env, cluster) => {
    const config = configOf(env);
    if (config.ok) await repairController(env, cluster).pokeFrom(settingsOf(config.value));
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
  /** Its tasks are among those of every minute. It leaves busy clusters to that job while that job visits all of them in one run. */
  coveredEachMinute?: true;
  /**
   * Its tasks. A cluster with writes gets all of them. An idle one gets one part in each round through all clusters. With the start of its objects
   * that is at most 24 calls to objects (test/object/cron-cost.test.ts).
   */
  parts: readonly (readonly Task[])[];
}

/** Work that a crash may have left half done. */
const MAINTAIN: readonly Task[] = [MAINTAIN_SERVICES, MAINTAIN_ADDRESSES, MAINTAIN_COORDINATOR];
const OF_NAMESPACES: readonly Task[] = [DELETE_NAMESPACES, MAINTAIN_QUOTAS, COUNT_USAGE];

/** The crons of wrangler.toml. */
const JOBS: Readonly<Record<string, Job>> = {
  "* * * * *": { name: "maintain", rhythm: "minute", parts: [MAINTAIN, [COLLECT_GARBAGE], [REPAIR], OF_NAMESPACES, MAKE_ENDPOINTS] },
  "*/5 * * * *": { name: "topology", rhythm: "minute", coveredEachMinute: true, parts: [[MAINTAIN_COORDINATOR]] },
  "0 * * * *": { name: "compact", rhythm: "hour", parts: [[EXPIRE_EVENTS, ...COMPACT_STORES]] },
};

const MINUTE_MS = 60_000;
/** The number of a round, and the directory's cursor in it; empty at its beginning. Older releases stored the cursor alone. */
const STORED_CURSOR = /^(?:(\d+) )?(.*)$/s;

/** The cron handler. Never throws. A failed task is counted and logged, and runs again at the next tick. */
export async function runScheduled(cron: string, env: Env): Promise<void> {
  const job = JOBS[cron];
  if (!job) return log("warn", "unknown cron", { cron });
  const config = configOf(env);
  if (!config.ok) return;
  const byVariable = CONTROLLERS.off(config.value.controllers);
  const startedAt = Date.now();
  const [busy, next] = await Promise.all([
    pageOf(env, { prefix: busyPrefix(job.rhythm), limit: CRON_CLUSTERS_MAX, cursorKey: `cron/cursor/${job.name}/busy` }),
    pageOf(env, { prefix: DIRECTORY_PREFIX, limit: CRON_IDLE_CLUSTERS, cursorKey: `cron/cursor/${job.name}/all` }),
  ]);
  const part = job.parts[next.round % job.parts.length] ?? [];
  const visits = new Map(next.clusters.map(({ id, facts }) => [id, { tasks: part, facts }]));
  const visited = job.coveredEachMinute && busy.isWhole ? [] : busy.clusters;
  for (const { id, facts } of visited) visits.set(id, { tasks: job.parts.flat(), facts: facts ?? visits.get(id)?.facts });
  let errors = busy.errors + next.errors;
  await inParallel([...visits], CRON_CONCURRENCY, async ([cluster, { tasks, facts }]) => {
    const isOn = ({ wakes }: Task): boolean => wakes === undefined || (facts ? facts.on.includes(wakes) : !byVariable.includes(wakes));
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

interface Page {
  /** `facts`: what a list of the cluster's own says; undefined = the variable counts there */
  clusters: { id: string; facts: DirectoryFacts | undefined }[];
  /** which one through the whole directory this is */
  round: number;
  /** whether the batch holds every cluster of the directory */
  isWhole: boolean;
  errors: number;
}

/** The next clusters with a key under the prefix, in the directory's order, and the number of the round. Moves the cursor behind them. */
async function pageOf(env: Env, { prefix, limit, cursorKey }: { prefix: string; limit: number; cursorKey: string }): Promise<Page> {
  let cursor = "";
  try {
    const stored = (await env.DIRECTORY.get(cursorKey)) ?? "";
    const [, digits, from = ""] = STORED_CURSOR.exec(stored) ?? [];
    cursor = from;
    const listed = await env.DIRECTORY.list<DirectoryFacts>({ prefix, limit, ...(cursor ? { cursor } : {}) });
    const isWhole = listed.list_complete && cursor === "";
    // One page is a whole round, so no cursor is stored: runs are a minute apart.
    const round = isWhole ? Math.floor(Date.now() / MINUTE_MS) : Number(digits ?? 0);
    const next = isWhole ? "" : listed.list_complete ? `${String(round + 1)} ` : `${String(round)} ${listed.cursor}`;
    const isKept = next === stored || (await keepCursor(env, cursorKey, next));
    const clusters = listed.keys.map(({ name, metadata }) => ({ id: name.slice(prefix.length), facts: metadata ?? undefined }));
    return { clusters, round, isWhole, errors: isKept ? 0 : 1 };
  } catch (error) {
    log("error", "directory of clusters could not be read", { prefix, error: error instanceof Error ? error.message : String(error) });
    // A cursor that the directory has forgotten would fail in every run.
    if (cursor) await env.DIRECTORY.delete(cursorKey).catch(() => undefined);
    return { clusters: [], round: 0, isWhole: false, errors: 1 };
  }
}

/** Whether the cursor was stored. If not, the next run visits the same clusters. */
async function keepCursor(env: Env, cursorKey: string, cursor: string): Promise<boolean> {
  try {
    await (cursor ? env.DIRECTORY.put(cursorKey, cursor) : env.DIRECTORY.delete(cursorKey));
    return true;
  } catch (error) {
    log("error", "cursor of a cron job could not be kept", { cursorKey, error: String(error) });
    return false;
  }
}
