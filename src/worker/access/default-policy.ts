/**
 * The roles and bindings that every cluster begins with. Who asks for the rules has them made where this release has not made them yet. Besides, each isolate has the
 * missing ones added once for each cluster whose rules an administrator looks at, and a local server at each start.
 */
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { isMethodMissing, writeAllOf } from "../../api/rpc/older-release";
import type { BatchedStore } from "../../api/rpc/store";
import { ensureDefaults } from "../../access/rbac/ensure-defaults";
import { resourceOfKind } from "../../access/rbac/rbac-resources";
import { err, ok, type Result } from "../../core/base/result";
import { serviceUnavailable, type Status } from "../../api/meta/status";
import { type ControllerName, CONTROLLERS } from "../../../durable-objects/platform/controllers";
import type { Env } from "../../../durable-objects/platform/env";
import { controller, policyStore, type Remote, storeStub } from "../../../durable-objects/peers/peers";
import { RETRY_AFTER_SECONDS } from "../http/limits";
import { RecentMap } from "../http/recent-map";
import { log } from "../http/log";
import { ensureBootstrapped } from "../routing/bootstrap";
import { call } from "../routing/call";
import { configOf } from "../routing/config-guard";
import { settled } from "./settled";

const CLUSTERS_MAX = 10_000;

/** Whose work every cluster has from its beginning: accounts and certificates in each namespace, rules of aggregated roles. */
const ACCESS_CONTROLLERS = [
  "serviceaccount-controller",
  "root-ca-certificate-publisher-controller",
  "clusterrole-aggregation-controller",
] as const satisfies readonly ControllerName[];

/** By the cluster's id: done, or under way. */
const ensured = new RecentMap<string, Promise<Result<void, Status>> | true>(CLUSTERS_MAX);
const PATIENCE_MS = 30_000;

/** An error is why a store did not answer; the next request tries again. `beside` keeps work running after the answer. */
export async function ensureDefaultPolicy(
  env: Env,
  cluster: string,
  beside: (work: Promise<unknown>) => void,
): Promise<Result<void, Status>> {
  const known = ensured.get(cluster);
  if (known === true) return ok(undefined);
  const underWay = known ?? ensure(env, cluster, beside);
  if (!known) {
    ensured.put(cluster, underWay);
    beside(underWay);
  }
  const done = await settled(underWay, PATIENCE_MS);
  if (done?.ok) ensured.put(cluster, true);
  else if (ensured.get(cluster) === underWay) ensured.delete(cluster);
  return done ?? err(serviceUnavailable("the roles of the cluster could not be made yet", RETRY_AFTER_SECONDS));
}

async function ensure(env: Env, cluster: string, beside: (work: Promise<unknown>) => void): Promise<Result<void, Status>> {
  const done = await call(() => ensureThere(env, cluster), { what: "clusterroles.ensureDefaults", repeatable: true });
  if (!done.ok) return done;
  beside(wakeAccessControllers(env, cluster));
  return ok(undefined);
}

/** By the store of ClusterRoles, or while that is of the release before by each store itself. */
async function ensureThere(env: Env, cluster: string): Promise<boolean> {
  try {
    return await policyStore(env, cluster).ensureDefaults();
  } catch (error) {
    if (!isMethodMissing(error, "ensureDefaults")) throw error;
  }
  return ensureDefaults({
    store: (kind) => {
      const store = (): Remote<ObjectFeed & BatchedStore> => storeStub<ObjectFeed & BatchedStore>(env, cluster, resourceOfKind(kind));
      return { objectsNamed: (keys) => store().objectsNamed(keys), writeAll: (requests) => writeAllOf(store, requests) };
    },
    refused: (resource, why) => log("warn", "a default of access could not be written", { resource, why }),
  });
}

/** A cluster that is asked for the first time has not woken those who follow it. Nobody waits for them; cron wakes them again. Does not reject. */
export function wakeAccessControllers(env: Env, cluster: string): Promise<void> {
  // `call` throws only when the cluster was deleted meanwhile.
  return wakeControllers(env, cluster).catch(() => undefined);
}

/** Clusters whose accounts somebody has asked for through this isolate. */
const accountsAsked = new RecentMap<string, true>(CLUSTERS_MAX);

/**
 * Accounts are asked for, or the ConfigMaps with certificates that stand beside them. In a new cluster whose rules nobody has asked for, those who make them have not been woken: the beginning of a cluster makes
 * what is used alone. Nobody waits for them. Does not reject.
 */
export async function wakeForAccounts(env: Env, cluster: string): Promise<void> {
  if (accountsAsked.get(cluster)) return;
  accountsAsked.put(cluster, true);
  await wakeAccessControllers(env, cluster);
}

async function wakeControllers(env: Env, cluster: string): Promise<void> {
  const config = configOf(env);
  // Before that they would find no namespaces.
  if (!config.ok || (await ensureBootstrapped(env, cluster))) return;
  const names = ACCESS_CONTROLLERS.filter((name) => CONTROLLERS.runsWith(name, config.value));
  await Promise.all(names.map((name) => call(() => controller(env, cluster, name).poke(), { what: `${name}.poke`, repeatable: true })));
}
