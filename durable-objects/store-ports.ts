/** The ports of a ClusterStore on the real platform. */
import type { Config } from "../src/core/config/config";
import { definitionOf } from "../src/api/registry/all";
import { resourceMissing } from "../src/api/rpc/protocol";
import { usageRules } from "../src/api/registry/resource-quotas/usage";
import type { ClusterStorePorts, StorePeers } from "../src/api/store/cluster-store";
import { qualifiedResource } from "../src/api/meta/status";
import type { Followers } from "../src/api/store/feeds/follower-pokes";
import { parseStoreName, type StoreIdentity } from "../src/api/store/list/list-copy";
import { noteBusy } from "./peers/busy";
import { CONTROLLERS } from "./platform/controllers";
import { objectConfig, type Env } from "./platform/env";
import { controller, namespacesStore, repairStub, resourceQuotasStore } from "./peers/peers";
import { setAlarm, systemClock, systemDigest, systemRandom, systemRecorder } from "./platform/ports";
import { publications } from "./peers/publications";
import { keptQuotas } from "./quota-values";
import { IDENTITY_SCHEMA, objectName } from "./sql/identity-sql";
import { migrate, type Migration } from "./sql/migrate";
import { sqlNamespaceGuardStorage, sqlStoreStorage, STORE_SCHEMA } from "./sql/store-sql";
import { type ObjectSwitches, objectSwitches } from "./peers/switches";
import { wipe } from "./platform/wipe";

/** The first steps of every store's schema; a class with more tables appends its own. */
export const STORE_MIGRATIONS: readonly Migration[] = [{ id: 1, sql: IDENTITY_SCHEMA + STORE_SCHEMA }];

export interface StoreSetting extends ClusterStorePorts {
  config: Config;
  peers: StorePeers;
  switches: ObjectSwitches;
  setAlarm(atMs: number): void;
}

/** The controllers that follow the store's resource. */
export function followersOf(env: Env, { cluster, definition, switches }: StoreSetting): Followers {
  const resource = qualifiedResource(definition);
  const names = CONTROLLERS.followersOf(resource);
  return (createdOnly, met) =>
    names
      .filter((name) => switches.isOn(name) && CONTROLLERS.hears(name, resource, createdOnly, met))
      .map((name) => controller(env, cluster, name));
}

/** Opens the tables and identifies the store. `identify` reads the object's name where it does not name the resource. */
export function openStore(
  ctx: DurableObjectState,
  env: Env,
  migrations: readonly Migration[],
  identify: (name: string) => StoreIdentity = parseStoreName,
): StoreSetting {
  const { storage } = ctx;
  migrate(storage, migrations, systemClock.now());
  const name = objectName(ctx);
  const { cluster, group, resource } = identify(name);
  const definition = definitionOf(group, resource);
  if (!definition) throw resourceMissing(group, resource);
  const config = objectConfig(env);
  const switches = objectSwitches(storage, config);
  return {
    cluster,
    definition,
    config,
    serviceFamilies: () => config.serviceFamilies,
    clock: systemClock,
    random: systemRandom(),
    recorder: systemRecorder({ object: name }),
    digest: systemDigest,
    serverStartedAt: config.serverStartedAtMs,
    storage: sqlStoreStorage(storage),
    closedNamespaces: sqlNamespaceGuardStorage(storage),
    streamedListsMax: config.maxStreamedLists,
    ...(usageRules(definition) ? { quotas: keptQuotas(storage) } : {}),
    publications: publications(storage, env),
    peers: {
      namespace: (namespace) => namespacesStore(env, cluster).get({ namespace: "", name: namespace }, ""),
      garbageCollector: () => (switches.isOn("garbage-collection") ? controller(env, cluster, "garbage-collection") : undefined),
      limitSource: () => resourceQuotasStore(env, cluster),
      visitList: () => repairStub(env, cluster),
      quotaController: () => (switches.isOn("resource-quotas") ? controller(env, cluster, "resource-quotas") : undefined),
    },
    switches,
    controllersSet: (setting) => switches.set(setting),
    noteBusy: (rhythm) => noteBusy(env, cluster, rhythm, switches.facts),
    setAlarm: (atMs) => setAlarm(storage, atMs),
    end: () => wipe(ctx),
    abort: (reason) => ctx.abort(reason),
  };
}
