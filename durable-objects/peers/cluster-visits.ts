/**
 * What cron does in one cluster: calls to its objects. The objects do the work (`maintain`, `compact`, `expire`); each call is bounded and may be repeated.
 * A failed call is counted and logged, and comes again with the next visit.
 */
import { pause } from "../../src/core/base/pause";
import { withTimeout } from "../../src/core/base/timeout";
import type { FeatureGates } from "../../src/core/config/feature-gates";
import { type Settings, settingsOf } from "../../src/core/config/settings";
import { qualifiedResource } from "../../src/api/meta/status";
import { definitions, storedResource } from "../../src/api/registry/all";
import { eventsDefinition } from "../../src/api/registry/events/definition";
import { leasesDefinition } from "../../src/api/registry/leases/definition";
import { isMethodMissing } from "../../src/api/rpc/older-release";
import { clusterName, isRootCluster, locationOf } from "../../src/tenancy/cluster-id";
import { CLUSTER_GONE } from "../../src/tenancy/rpc";
import { VISIT_TIMEOUT_MS, type VisitReport, type VisitRequest } from "../../src/tenancy/shard-visits";
import { type ControllerName, CONTROLLERS } from "../platform/controllers";
import { type Env, objectConfig } from "../platform/env";
import { systemClock, systemRecorder } from "../platform/ports";
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
} from "./peers";

const recorder = systemRecorder({ object: "visits" });
/** Longer than an object's own deadlines, shorter than a visit may take. */
const CALL_TIMEOUT_MS = 25_000;
/** Attempts at a call that was not delivered, and the upper end of the pause before the second one. */
const ATTEMPTS = 3;
const PAUSE_MS = 100;

/** One call to one object of a cluster. */
interface Task {
  what: string;
  /** the controller that it wakes: left out where that is switched off */
  wakes?: ControllerName;
  /** the qualified resource of the store that it calls, if that is left out where nobody ever wrote to it */
  store?: string;
  /** left out in every cluster but `default` */
  atRoot?: true;
  /** left out where the gate is off */
  gate?: keyof FeatureGates;
  /** "rests" and "left": the visit ends; with "left" the cluster needs another one. */
  run(env: Env, cluster: string, tick: { tickMs: number; settings: Settings }): Promise<unknown>;
}

const MAINTAIN_SERVICES: Task = { what: "services.maintain", run: (env, cluster) => servicesStore(env, cluster).maintain() };
const MAINTAIN_ADDRESSES: Task = { what: "ipaddresses.maintain", run: (env, cluster) => ipAddressesStore(env, cluster).maintain() };
const MAINTAIN_COORDINATOR: Task = { what: "coordinator.maintain", run: (env, cluster) => coordinator(env, cluster).maintain() };
const COLLECT_GARBAGE: Task = {
  what: "garbage-collection.poke",
  wakes: "garbage-collection",
  run: (env, cluster) => controller(env, cluster, "garbage-collection").poke(),
};
const DELETE_NAMESPACES: Task = {
  what: "namespaces.poke",
  wakes: "namespaces",
  run: (env, cluster) => controller(env, cluster, "namespaces").poke(),
};
/** A controller that follows stores reads on, whatever pokes have told it. */
const readOn = (name: ControllerName): Task => ({
  what: `${name}.poke`,
  wakes: name,
  run: (env, cluster) => controller(env, cluster, name).poke(),
});
/** The first task of a visit: repair's object visits those that have asked for it. The other tasks follow in a full visit alone (visit-list.ts). */
const REPAIR: Task = {
  what: "repair.poke",
  run: (env, cluster, { settings, tickMs }) => repairStub(env, cluster).pokeFrom(settings, "cron", tickMs),
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
  store: qualifiedResource(eventsDefinition),
  run: (env, cluster) =>
    eventsStore(env, cluster)
      .expire()
      .then(() => undefined),
};

/** Deletes the Leases of instances that serve the cluster no more. "cut": the call ended before it was through. */
const COLLECT_IDENTITIES: Task = {
  what: "leases.expire",
  gate: "APIServerIdentity",
  run: async (env, cluster) => {
    const startedAt = systemClock.now();
    const expired = await leasesStore(env, cluster).expire();
    const durationMs = systemClock.now() - startedAt;
    if (expired.deleted > 0) recorder.log("info", "collected identity leases", { cluster, ...expired, durationMs });
    return expired.cut > 0 ? "cut" : undefined;
  },
};

/** Every store of a cluster once: a second representation has no store of its own. */
const COMPACT_STORES: readonly Task[] = definitions
  .filter((definition) => definition.representationOf === undefined)
  .map((definition) => ({
    what: `${definition.resource}.compact`,
    store: qualifiedResource(definition),
    ...(definition.atRoot ? { atRoot: true as const } : {}),
    run: (env, cluster) => storeStub(env, cluster, storedResource(definition)).compact(),
  }));

/** Work that a crash may have left half done. */
const MAINTAIN: readonly Task[] = [MAINTAIN_SERVICES, MAINTAIN_ADDRESSES, MAINTAIN_COORDINATOR];
const OF_NAMESPACES: readonly Task[] = [DELETE_NAMESPACES, MAINTAIN_QUOTAS, COUNT_USAGE];
const MAKE_SLICES: readonly Task[] = [readOn("endpointslice-controller")];
const MAKE_ENDPOINTS: readonly Task[] = (["endpoints-controller", "endpointslice-mirroring-controller"] as const).map(readOn);
const OF_NODES: readonly Task[] = (["node-lifecycle-controller", "proxy-health"] as const).map(readOn);
const OF_PODS: readonly Task[] = (["pod-garbage-collector-controller", "taint-eviction-controller"] as const).map(readOn);
const OF_ACCESS: readonly Task[] = (
  ["serviceaccount-controller", "root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller"] as const
).map(readOn);

const OF_FLEET: readonly Task[] = [{ ...readOn("clusters"), atRoot: true }];

const EVERYTHING: readonly Task[] = [
  ...[REPAIR, ...MAINTAIN, COLLECT_GARBAGE, ...OF_NAMESPACES, ...MAKE_SLICES, ...MAKE_ENDPOINTS],
  ...[...OF_NODES, ...OF_PODS, ...OF_ACCESS, ...OF_FLEET],
];

/** A visit; "rests" and "left" of its first task end it. */
const TASKS: Readonly<Record<VisitRequest["job"], readonly Task[]>> = {
  maintain: EVERYTHING,
  leases: [COLLECT_IDENTITIES],
  compact: [EXPIRE_EVENTS, ...COMPACT_STORES],
  idle: EVERYTHING,
};

/** What an idle cluster has besides, whatever its first task finds. */
const BESIDES: readonly Task[] = [{ ...COLLECT_IDENTITIES, store: qualifiedResource(leasesDefinition) }, EXPIRE_EVENTS, ...COMPACT_STORES];

/** The objects of the cluster have said that they are gone. */
class ClusterGone extends Error {}

/** A visit. A cluster that has ended is left to its record. Rejects with a broken configuration alone. */
export async function visitCluster(env: Env, { id, job, facts, tickMs, settings }: VisitRequest): Promise<VisitReport> {
  const config = objectConfig(env);
  const tick = { tickMs, settings: settings ?? settingsOf(config) };
  const byVariable = CONTROLLERS.off(config.controllers);
  const isRoot = isRootCluster(id);
  const isOn = ({ atRoot, wakes, gate }: Task): boolean =>
    (isRoot || !atRoot) &&
    (gate === undefined || config.featureGates[gate]) &&
    (wakes === undefined || (CONTROLLERS.runsWith(wakes, config) && (facts ? facts.on.includes(wakes) : !byVariable.includes(wakes))));
  const report: VisitReport = { calls: 0, errors: 0, found: "done" };
  const begunAt = systemClock.now();
  const run = async (tasks: readonly Task[]): Promise<void> => {
    const used = tasks.some(({ store }) => store !== undefined) ? await usedIn(env, id, report) : null;
    const isUsed = ({ store }: Task): boolean => store === undefined || used === null || used.includes(store);
    for (const task of tasks.filter((one) => isOn(one) && isUsed(one))) {
      // Nobody waits any longer, because calls have timed out.
      if (systemClock.now() - begunAt > VISIT_TIMEOUT_MS) return;
      report.calls++;
      const found = await attempt(`${id}: ${task.what}`, () => task.run(env, id, tick));
      if (found === FAILED) report.errors++;
      // Whoever has more to do than this job has that told.
      else if (found === "cut") report.found = report.found === "left" ? "left" : "cut";
      else if (found === "rests" || found === "left") {
        report.found = found;
        return;
      }
    }
  };
  try {
    await run(TASKS[job]);
    if (job === "idle") await run(BESIDES);
    // The record, which has the list, tells what a later release has brought.
    if (facts && !CONTROLLERS.names.every((name) => facts.on.includes(name) || facts.off.includes(name))) await carryOn(env, id, report);
  } catch (error) {
    if (!(error instanceof ClusterGone)) throw error;
    await carryOn(env, id, report);
  }
  return report;
}

/** The stores that somebody may have written to; null = any. */
async function usedIn(env: Env, id: string, report: VisitReport): Promise<readonly string[] | null> {
  report.calls++;
  const asked = async (): Promise<readonly string[] | null> => {
    try {
      return await repairStub(env, id).entered();
    } catch (error) {
      if (isMethodMissing(error, "entered")) return null;
      throw error;
    }
  };
  const found = await attempt(`${id}: repair.entered`, asked);
  if (found === FAILED) report.errors++;
  return Array.isArray(found) ? (found as string[]) : null;
}

async function carryOn(env: Env, id: string, report: VisitReport): Promise<void> {
  report.calls++;
  const record = clusterRecord(env, clusterName(id), locationOf(id));
  if ((await attempt(`${id}: record.carryOn`, () => record.carryOn(id), 1)) === FAILED) report.errors++;
}

const FAILED = Symbol("failed");

/** The answer, or FAILED, which was logged. Throws ClusterGone. */
async function attempt(what: string, work: () => Promise<unknown>, attempts = ATTEMPTS): Promise<unknown> {
  for (let tried = 1; ; tried++) {
    try {
      return await withTimeout(systemClock, CALL_TIMEOUT_MS, work());
    } catch (error) {
      if (String(error).includes(CLUSTER_GONE)) throw new ClusterGone(CLUSTER_GONE);
      const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
      if (retryable !== true || overloaded === true || tried >= attempts) {
        recorder.log("warn", "a call of a visit failed", { what, error: String(error) });
        return FAILED;
      }
      await pause(systemClock, PAUSE_MS * tried);
    }
  }
}
