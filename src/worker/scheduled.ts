/**
 * Cron -> jobs over clusters. The work itself is the objects' own (`maintain`, `compact`, `expire`), which bound and repeat it safely;
 * here is only whom to call. An invocation visits a bounded number of clusters and leaves a cursor for the next one.
 */
import { definitions } from "../registry/all";
import { configOf } from "./config-guard";
import type { Env } from "../../durable-objects/env";
import {
  controller,
  coordinator,
  eventsStore,
  ipAddressesStore,
  servicesStore,
  storedResource,
  storeStub,
} from "../../durable-objects/peers";
import { CRON_CLUSTERS_MAX, CRON_CONCURRENCY } from "./limits";
import { log } from "./log";
import { call } from "./peers";

/** One call to one object of a cluster. */
interface Task {
  what: string;
  run(env: Env, cluster: string): Promise<void>;
}

const MAINTAIN_SERVICES: Task = { what: "services.maintain", run: (env, cluster) => servicesStore(env, cluster).maintain() };
const MAINTAIN_ADDRESSES: Task = { what: "ipaddresses.maintain", run: (env, cluster) => ipAddressesStore(env, cluster).maintain() };
const MAINTAIN_COORDINATOR: Task = { what: "coordinator.maintain", run: (env, cluster) => coordinator(env, cluster).maintain() };
const COLLECT_GARBAGE: Task = {
  what: "garbage-collection.poke",
  run: (env, cluster) => controller(env, cluster, "garbage-collection").poke(),
};
/** A poke that was lost, or a pass that a crash ended, must not leave a namespace behind that is being deleted for ever. */
const DELETE_NAMESPACES: Task = {
  what: "namespaces.poke",
  run: (env, cluster) => controller(env, cluster, "namespaces").poke(),
};
const REPAIR: Task = { what: "repair.poke", run: (env, cluster) => controller(env, cluster, "repair").poke() };
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
  tasks: readonly Task[];
}

/** The crons of wrangler.toml. */
const JOBS: Readonly<Record<string, Job>> = {
  "* * * * *": {
    name: "maintain",
    tasks: [MAINTAIN_SERVICES, MAINTAIN_ADDRESSES, MAINTAIN_COORDINATOR, DELETE_NAMESPACES, COLLECT_GARBAGE, REPAIR],
  },
  "*/5 * * * *": { name: "topology", tasks: [MAINTAIN_COORDINATOR] },
  "0 * * * *": { name: "compact", tasks: [EXPIRE_EVENTS, ...COMPACT_STORES] },
};

/** KV keys of the directory: one per cluster, written by the cluster's services store on first use. */
const DIRECTORY_PREFIX = "cluster/";

/** The cron handler. Never throws: a failed task is counted and logged, and runs again at the next tick. */
export async function runScheduled(cron: string, env: Env): Promise<void> {
  const job = JOBS[cron];
  if (!job) return log("warn", "unknown cron", { cron });
  if (!configOf(env).ok) return;
  const startedAt = Date.now();
  const page = await clustersOf(env, cron);
  let errors = 0;
  const queue = [...page.clusters];
  const worker = async (): Promise<void> => {
    for (let cluster = queue.shift(); cluster !== undefined; cluster = queue.shift()) {
      const failed = await runTasks(job, env, cluster);
      errors += failed;
    }
  };
  await Promise.all(Array.from({ length: CRON_CONCURRENCY }, worker));
  errors += page.errors;
  log(errors > 0 ? "warn" : "info", "cron job finished", {
    job: job.name,
    cron,
    clusters: page.clusters.length,
    durationMs: Date.now() - startedAt,
    errors,
  });
}

/** How many tasks failed; each has been logged by `call`. */
async function runTasks(job: Job, env: Env, cluster: string): Promise<number> {
  let errors = 0;
  for (const task of job.tasks) {
    const done = await call(() => task.run(env, cluster), { what: `${cluster}: ${task.what}`, repeatable: true });
    if (!done.ok) errors++;
  }
  return errors;
}

/** The next clusters in the directory's order, and the cursor moved behind them. */
async function clustersOf(env: Env, cron: string): Promise<{ clusters: string[]; errors: number }> {
  const key = `cron/cursor/${cron}`;
  try {
    const cursor = (await env.DIRECTORY.get(key)) ?? "";
    const listed = await env.DIRECTORY.list({ prefix: DIRECTORY_PREFIX, limit: CRON_CLUSTERS_MAX, ...(cursor ? { cursor } : {}) });
    const next = listed.list_complete ? "" : listed.cursor;
    if (next !== cursor) await (next ? env.DIRECTORY.put(key, next) : env.DIRECTORY.delete(key));
    return { clusters: listed.keys.map(({ name }) => name.slice(DIRECTORY_PREFIX.length)), errors: 0 };
  } catch (error) {
    log("error", "directory of clusters could not be read", { cron, error: error instanceof Error ? error.message : String(error) });
    // A cursor that the directory no longer knows would fail for ever.
    await env.DIRECTORY.delete(key).catch(() => undefined);
    return { clusters: [], errors: 1 };
  }
}
