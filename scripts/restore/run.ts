/**
 * Restores a backup into an empty cluster, through its API. Every step may find its work done, so an interrupted restore is run again: an object
 * that is right is left alone, an object that differs is written again. A mark in the cluster goes last. It keeps two restores apart, and a
 * restore from a cluster in use. Before all, the stores begin above what clients of the backed-up cluster have seen; a repeat changes nothing.
 *
 * The server gives new uids. A reference by uid gets the new uid; an object that is made before the object of its reference is written once more
 * at the end.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beginningOf } from "../../src/tools/backup/beginning";
import type { Backup } from "../../src/tools/backup/format";
import { SERVICE_CIDRS, SERVICES, typeName } from "../../src/tools/backup/order";
import { DEFAULT_NAME, DEFAULT_SERVICE } from "../../src/api/registry/default-objects";
import type { ServiceCIDR } from "../../src/api/meta/kubernetes";
import { rangeSourceOf } from "../../src/addresses/ranges/service-ranges";
import { type CheckOutcome, runCheck } from "../check/run";
import type { Api } from "../cluster/api";
import { UserError } from "../terminal/user-error";
import type { Progress } from "../terminal/progress";
import { beginAbove } from "./beginning";
import { type ClusterState, readState } from "./cluster-state";
import { fileUnderWay, mark, unmark } from "./mark";
import { judge } from "./preconditions";
import { Restorer, type Shortcoming } from "./restorer";

/** A new cluster makes its own objects first. */
const BEGIN_WAIT_MS = 60_000;
const POLL_MS = 250;

export interface RestoreTask {
  api: Api;
  backup: Backup;
  resume: boolean;
  dryRun: boolean;
  progress: Progress;
}

export interface RestoreReport {
  server: string;
  dryRun: boolean;
  /** objects of the backup, by resource */
  objects: Record<string, number>;
  /** written in this run */
  created: number;
  /** existing objects that this run wrote again */
  updated: number;
  shortcomings: Shortcoming[];
  /** older revisions than these are 410 from now on, by resource; absent in a dry run, and of a server that cannot do it */
  revisions?: Record<string, string>;
  /** of the cluster afterwards; absent in a dry run */
  check?: CheckOutcome;
}

export async function runRestore(task: RestoreTask): Promise<RestoreReport> {
  const { api, backup, resume, dryRun, progress } = task;
  const underWay = await fileUnderWay(api);
  const state = await begun(api, progress);
  judge(backup, state, { underWay, resume, url: api.url });
  const objects = Object.fromEntries(backup.sections.map(({ type, objects: { length } }) => [typeName(type), length]));
  if (dryRun) return { server: api.url, dryRun, objects, created: 0, updated: 0, shortcomings: [] };
  // Before the first write: nothing that is written has a revision that clients know, and each client lists anew.
  const revisions = await beginAbove(api, beginningOf(backup));
  if (underWay === undefined) await mark(api, backup.sha256);
  const restorer = new Restorer({ api, backup, progress }, revisions ? await begun(api, progress) : state);
  await restorer.run();
  const shortcomings = await restorer.verify();
  const check = await runCheck({ api, progress });
  if (shortcomings.length === 0 && check.wrong.length === 0) await unmark(api);
  const { created, updated } = restorer;
  return { server: api.url, dryRun, objects, created, updated, ...(revisions ? { revisions } : {}), shortcomings, check };
}

/** The state of the cluster once its initial objects exist. */
async function begun(api: Api, progress: Progress): Promise<ClusterState> {
  for (const deadline = Date.now() + BEGIN_WAIT_MS; ;) {
    const state = await readState(api, progress);
    const isThere = state.objects.get(SERVICES)?.has(DEFAULT_SERVICE) ?? false;
    const ranges = state.objects.get(SERVICE_CIDRS);
    const range = ranges?.get(DEFAULT_NAME) as ServiceCIDR | undefined;
    if (isThere && (!ranges || (range && rangeSourceOf(range).ready))) return state;
    if (Date.now() > deadline)
      throw new UserError(`${api.url} has no Service ${DEFAULT_SERVICE}, or its ServiceCIDR ${DEFAULT_NAME} is not Ready`);
    await sleep(POLL_MS);
  }
}
