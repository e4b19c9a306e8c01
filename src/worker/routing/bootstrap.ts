/** First use of a cluster: its services store makes the default ServiceCIDR, through the Coordinator, and the Service `kubernetes`. */
import type { Status } from "../../api/meta/status";
import type { Beside } from "../../core/turns/batched";
import type { Env } from "../../../durable-objects/platform/env";
import { repairStub, servicesStore } from "../../../durable-objects/peers/peers";
import { settingsOf } from "../../core/config/settings";
import { configOf } from "./config-guard";
import { BOOTSTRAP_TIMEOUT_MS, BOOTSTRAPPED_MAX_CLUSTERS } from "../http/limits";
import { call } from "./call";

/** Of an isolate, by its bindings, as the configuration is. */
interface SeenClusters {
  /** Clusters that it has seen bootstrapped. Only a hint: a repeated call does nothing in the store. */
  readonly bootstrapped: Set<string>;
  /** clusters in which it has found an object */
  readonly inUse: Set<string>;
}

const seen = new WeakMap<Env, SeenClusters>();

function seenBy(env: Env): SeenClusters {
  const known = seen.get(env);
  if (known) return known;
  const fresh: SeenClusters = { bootstrapped: new Set(), inUse: new Set() };
  seen.set(env, fresh);
  return fresh;
}

function note(clusters: Set<string>, cluster: string): void {
  if (clusters.size >= BOOTSTRAPPED_MAX_CLUSTERS) clusters.clear();
  clusters.add(cluster);
}

export function isBootstrapped(env: Env, cluster: string): boolean {
  return seenBy(env).bootstrapped.has(cluster);
}

/** Whether this isolate knows that the cluster has objects. */
export function isInUse(env: Env, cluster: string): boolean {
  const { bootstrapped, inUse } = seenBy(env);
  return inUse.has(cluster) || bootstrapped.has(cluster);
}

export function noteInUse(env: Env, cluster: string): void {
  note(seenBy(env).inUse, cluster);
}

/** What a request has begun before its turn. */
const begun = new WeakMap<Request, { cluster: string; done: Promise<Status | undefined> }>();

/**
 * Begins what this request will need if it may go on, beside the question whether it may: the services store of a cluster that was made. It makes nothing
 * that is not there already, unless the beginning of the cluster was cut off.
 *
 * @param namespace in which it is to create a Service; undefined = it creates none
 */
export function beginBootstrap(env: Env, cluster: string, request: Request, namespace: string | undefined, beside: Beside): void {
  if (isBootstrapped(env, cluster)) return;
  const done = ensureBootstrapped(env, cluster, 0, namespace);
  begun.set(request, { cluster, done });
  beside(done.catch(() => undefined));
}

/** The same for the request that goes on; what it has begun is waited for. */
export function bootstrapFor(env: Env, cluster: string, request: Request, timeoutMs: number): Promise<Status | undefined> {
  const own = begun.get(request);
  return own?.cluster === cluster ? own.done : ensureBootstrapped(env, cluster, timeoutMs);
}

/**
 * Undefined when the cluster is ready, else why not.
 *
 * @param timeoutMs the patience of the client, 0 = none given
 * @param namespace as for beginBootstrap
 */
export async function ensureBootstrapped(env: Env, cluster: string, timeoutMs = 0, namespace?: string): Promise<Status | undefined> {
  const done = await call(() => servicesStore(env, cluster).ensureBootstrapped(namespace), {
    what: "services.ensureBootstrapped",
    repeatable: true,
    timeoutMs: Math.min(timeoutMs || BOOTSTRAP_TIMEOUT_MS, BOOTSTRAP_TIMEOUT_MS),
  });
  if (!done.ok) return done.error;
  note(seenBy(env).bootstrapped, cluster);
  noteSettings(env, cluster);
  return undefined;
}

/** Reports the settings of this isolate to the cluster. No request waits for it; cron does the same each minute. */
function noteSettings(env: Env, cluster: string): void {
  const config = configOf(env);
  if (!config.ok) return;
  const settings = settingsOf(config.value);
  void call(() => repairStub(env, cluster).pokeFrom(settings), { what: "repair.pokeFrom", repeatable: true }).catch(
    // `call` throws only when the cluster was deleted meanwhile.
    () => undefined,
  );
}
