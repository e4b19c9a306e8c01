/**
 * The roles and bindings that every cluster begins with. Each isolate adds the missing ones once for each cluster that it serves, as upstream does at
 * each start. Nothing is taken away. Source: upstream pkg/registry/rbac/rest/storage_rbac.go.
 */
import type { KubeObject } from "../../api/meta/kubernetes";
import { type ObjectFeed } from "../../api/rpc/object-feed";
import { writeAllOf } from "../../api/rpc/older-release";
import type { BatchedStore, ObjectKey, WriteOptions, WriteRequest } from "../../api/rpc/store";
import { type DefaultObject, defaultPolicy } from "../../access/rbac/default-policy";
import type { RbacKind } from "../../access/rbac/policy";
import { type DefaultWrite, reconcileBinding, reconcileRole } from "../../access/rbac/reconcile-default";
import { groupBy } from "../../core/base/group-by";
import { err, ok, type Result } from "../../core/base/result";
import { serviceUnavailable, type Status } from "../../api/meta/status";
import { type ControllerName, CONTROLLERS } from "../../../durable-objects/platform/controllers";
import type { Env } from "../../../durable-objects/platform/env";
import { controller, type Remote, storeStub } from "../../../durable-objects/peers/peers";
import { RETRY_AFTER_SECONDS } from "../http/limits";
import { RecentMap } from "../http/recent-map";
import { log } from "../http/log";
import { ensureBootstrapped } from "../routing/bootstrap";
import { call } from "../routing/call";
import { configOf } from "../routing/config-guard";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import { settled } from "./settled";
import { RBAC_RESOURCES } from "./rbac-resources";

const CLUSTERS_MAX = 10_000;
const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "kube-apiserver",
  fieldValidation: "Ignore",
  force: false,
  group: RBAC_GROUP,
  version: "v1",
};
const DELETE_OPTIONS = { dryRun: false, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined } as const;

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
  const byKind = groupBy(defaultPolicy(), ({ kind }) => kind);
  const done = await Promise.all([...byKind].map(([kind, objects]) => ensureKind(env, cluster, kind as RbacKind, objects)));
  const failed = done.find((one) => !one.ok);
  if (failed) return failed;
  // `call` throws only when the cluster was deleted meanwhile.
  beside(wakeControllers(env, cluster).catch(() => undefined));
  return ok(undefined);
}

/** A cluster that is asked for the first time has not woken those who follow it. Nobody waits for them; cron wakes them again. */
async function wakeControllers(env: Env, cluster: string): Promise<void> {
  const config = configOf(env);
  // Before that they would find no namespaces.
  if (!config.ok || (await ensureBootstrapped(env, cluster))) return;
  const names = ACCESS_CONTROLLERS.filter((name) => CONTROLLERS.runsWith(name, config.value));
  await Promise.all(names.map((name) => call(() => controller(env, cluster, name).poke(), { what: `${name}.poke`, repeatable: true })));
}

async function ensureKind(env: Env, cluster: string, kind: RbacKind, wanted: readonly DefaultObject[]): Promise<Result<void, Status>> {
  const resource = RBAC_RESOURCES[kind];
  const store = (): Remote<ObjectFeed & BatchedStore> =>
    storeStub<ObjectFeed & BatchedStore>(env, cluster, { group: RBAC_GROUP, resource });
  const keys = wanted.map(({ object }) => keyOf(object));
  const found = await call(() => store().objectsNamed(keys), { what: `${resource}.objectsNamed`, repeatable: true });
  if (!found.ok) return found;
  const writes = wanted.flatMap((one, i) => writesOf(one, found.value[i] ?? undefined));
  if (writes.length === 0) return ok(undefined);
  // A second attempt at a creation that succeeded unheard is told that the object exists, which is what was wanted.
  const written = await call(() => writeAllOf(store, writes), { what: `${resource}.writeAll`, repeatable: true });
  if (!written.ok) return written;
  for (const result of written.value) {
    if (!result.ok && result.status.code !== 409)
      log("warn", "a default of access could not be written", { resource, why: result.status.message ?? "" });
  }
  const lost = written.value.find((result) => !result.ok && result.status.code >= 500);
  return lost && !lost.ok ? err(lost.status) : ok(undefined);
}

function keyOf({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

function writesOf(wanted: DefaultObject, stored: string | undefined): WriteRequest[] {
  const write = reconciled(wanted, stored);
  if (!write) return [];
  const key = keyOf(wanted.object);
  const object = JSON.stringify(write.object);
  const create: WriteRequest = { verb: "create", namespace: key.namespace, object, options: OPTIONS };
  if (write.operation === "create") return [create];
  if (write.operation === "recreate") return [{ verb: "delete", key, options: DELETE_OPTIONS }, create];
  return [{ verb: "update", key, subresource: "", object, options: OPTIONS }];
}

function reconciled(wanted: DefaultObject, stored: string | undefined): DefaultWrite<KubeObject> | undefined {
  switch (wanted.kind) {
    case "ClusterRole":
    case "Role":
      return reconcileRole(objectIn<typeof wanted.object>(stored), wanted.object);
    default:
      return reconcileBinding(objectIn<typeof wanted.object>(stored), wanted.object);
  }
}

function objectIn<T>(stored: string | undefined): T | undefined {
  return stored === undefined ? undefined : (JSON.parse(stored) as T);
}
