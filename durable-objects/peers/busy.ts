/** What the objects of a cluster tell the directory of clusters, for cron. Those that live in one isolate share their notes. */
import { BusyNotes, enterOrPut } from "../../src/tenancy/busy-notes";
import { BUSY_LIFETIME_SECONDS, busyKey, directoryKey, type Rhythm } from "../../src/tenancy/directory-keys";
import type { ControllerList } from "../../src/core/config/controllers";
import { type ControllerName, CONTROLLERS } from "../platform/controllers";
import type { Env } from "../platform/env";
import { systemClock } from "../platform/ports";
import { clusterShard } from "./peers";

const notes = new BusyNotes(systemClock);

/** The facts of src/tenancy/rpc, in a shard and beside the key of a cluster, with the names of this release. */
export interface DirectoryFacts {
  off: readonly ControllerName[];
  on: readonly ControllerName[];
}

export function directoryFacts(list: ControllerList): DirectoryFacts {
  const off = CONTROLLERS.off(list);
  return { off, on: CONTROLLERS.names.filter((name) => !off.includes(name)) };
}

/** Notes a change in the cluster of this id. Nobody waits for the note. `facts`: undefined = the variable counts there. */
export function noteBusy(env: Env, id: string, rhythm: Rhythm, facts?: DirectoryFacts): void {
  notes.note(id, rhythm, (rhythms) => enterShard(env, id, rhythms, facts));
}

/** Rejects when neither the shard nor KV takes the note. */
function enterShard(env: Env, id: string, rhythms: Rhythm[], facts: DirectoryFacts | undefined): Promise<void> {
  return enterOrPut(
    { id, rhythms, facts: facts ?? null },
    {
      enter: (entry) => clusterShard(env, id).enter([entry]),
      put: (rhythm) => env.DIRECTORY.put(busyKey(rhythm, id), "", { expirationTtl: BUSY_LIFETIME_SECONDS[rhythm], ...beside(facts) }),
    },
  );
}

/** Writes into the directory, for all visits of cron from now on, which controllers run in the cluster. */
export async function noteControllers(env: Env, id: string, facts: DirectoryFacts | undefined): Promise<void> {
  await Promise.all([enterCluster(env, directoryKey(id), facts), enterShard(env, id, ["minute"], facts)]);
}

/** Enters a cluster in the directory. `facts`: as for noteBusy; the key may be there, with what noteControllers wrote beside it. */
export function enterCluster({ DIRECTORY }: Env, key: string, facts: DirectoryFacts | undefined): Promise<void> {
  return DIRECTORY.put(key, "{}", beside(facts));
}

function beside(facts: DirectoryFacts | undefined): { metadata?: DirectoryFacts } {
  return facts ? { metadata: facts } : {};
}
