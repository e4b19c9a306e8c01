/** Backups of all clusters into a bucket, where one is bound: a run with each minute's cron, behind its other work. */
import type { Env } from "../../../durable-objects/platform/env";
import { storesFetch } from "../../../durable-objects/peers/peers";
import { systemClock, systemDigest } from "../../../durable-objects/platform/ports";
import type { Config } from "../../core/config/config";
import { GIT_VERSION } from "../../core/config/version";
import { clusterName } from "../../tenancy/cluster-id";
import { DIRECTORY_PREFIX } from "../../tenancy/directory-keys";
import type { BackupType } from "../../tools/backup/format";
import { listSource } from "../../tools/backup/list-source";
import { runRound } from "../../tools/backup/rounds";
import { fleetMetrics } from "../http/connection/fleet";
import { BACKUP_CLUSTERS_PAGE, BACKUP_PAGES_MAX, BACKUP_RUN_MS, PEER_TIMEOUT_MS } from "../http/limits";
import { log } from "../http/log";
import { configOf } from "../routing/config-guard";
import { servedApis } from "../routing/served";
import { backupBucket } from "./bucket";

const HOUR_MS = 3_600_000;

/** Does nothing where there is no bucket, or where backups are off. */
export async function backUpClusters(env: Env): Promise<void> {
  if (!env.BACKUPS) return;
  const config = configOf(env);
  if (!config.ok || config.value.backupIntervalHours === 0) return;
  const { backupIntervalHours, backupsKept } = config.value;
  const types = backupTypes(config.value);
  const { backedUp, failed, refused } = await runRound(
    {
      bucket: backupBucket(env.BACKUPS),
      clusters: (cursor) => clustersOf(env, cursor),
      nameOf: clusterName,
      source: (id) => {
        const fetch = storesFetch(env, id, { unfollowed: true });
        return listSource(types, (path) => fetch(path, { signal: AbortSignal.timeout(PEER_TIMEOUT_MS) }));
      },
      clock: systemClock,
      digest: systemDigest,
      recorder: { log },
    },
    {
      intervalMs: backupIntervalHours * HOUR_MS,
      kept: backupsKept,
      runMs: BACKUP_RUN_MS,
      pagesMax: BACKUP_PAGES_MAX,
      serverVersion: GIT_VERSION,
    },
  );
  fleetMetrics.add("backups", backedUp);
  fleetMetrics.add("backupFailures", failed);
  fleetMetrics.add("bucketRefusals", refused);
}

async function clustersOf({ DIRECTORY }: Env, cursor: string): Promise<{ ids: string[]; cursor: string | undefined }> {
  const page = await DIRECTORY.list({ prefix: DIRECTORY_PREFIX, limit: BACKUP_CLUSTERS_PAGE, ...(cursor ? { cursor } : {}) });
  return { ids: page.keys.map(({ name }) => name.slice(DIRECTORY_PREFIX.length)), cursor: page.list_complete ? undefined : page.cursor };
}

/** As discovery has them in every cluster: each resource that can be listed and created, in its preferred version. */
function backupTypes(config: Config): BackupType[] {
  return servedApis(config, "").versions.flatMap(({ group, version, resources }) =>
    [...resources.values()].flatMap(({ resource, kind, namespaced, versions, verbs, subresources, representationOf }) => {
      // What is another form of a stored object is no object of its own.
      if (representationOf || versions[0] !== version || !verbs.includes("list") || !verbs.includes("create")) return [];
      return [{ group, version, resource, kind, namespaced, hasStatus: subresources.includes("status") }];
    }),
  );
}
