/** The notes for cron on the real platform. The objects of a cluster that live in one isolate share them. */
import { BusyNotes } from "../../src/tenancy/busy-notes";
import { BUSY_LIFETIME_SECONDS, busyKey, directoryKey, type Rhythm } from "../../src/tenancy/directory-keys";
import type { ControllerList } from "../../src/core/config/controllers";
import { type ControllerName, CONTROLLERS } from "../platform/controllers";
import type { Env } from "../platform/env";
import { systemClock } from "../platform/ports";

const notes = new BusyNotes(systemClock);

/**
 * What the directory says beside the key of a cluster whose list of controllers is its own: those that cron is to call, and not to call. A controller
 * that is in neither came with a later release. The list itself may be longer than what stands beside a key.
 */
export interface DirectoryFacts {
  off: readonly ControllerName[];
  on: readonly ControllerName[];
}

export function directoryFacts(list: ControllerList): DirectoryFacts {
  const off = CONTROLLERS.off(list);
  return { off, on: CONTROLLERS.names.filter((name) => !off.includes(name)) };
}

/** Notes a change in the cluster of this id. Nobody waits for the note. `facts`: undefined = the variable counts there. */
export function noteBusy({ DIRECTORY }: Env, id: string, rhythm: Rhythm, facts?: DirectoryFacts): void {
  notes.note(id, rhythm, (key, expirationTtl) => DIRECTORY.put(key, "", { expirationTtl, ...beside(facts) }));
}

/** Writes into the directory, for all visits of cron from now on, which controllers run in the cluster. */
export async function noteControllers(env: Env, id: string, facts: DirectoryFacts | undefined): Promise<void> {
  const expirationTtl = BUSY_LIFETIME_SECONDS.minute;
  await Promise.all([
    enterCluster(env, directoryKey(id), facts),
    env.DIRECTORY.put(busyKey("minute", id), "", { expirationTtl, ...beside(facts) }),
  ]);
}

/** Enters a cluster in the directory. `facts`: as for noteBusy; the key may be there, with what noteControllers wrote beside it. */
export function enterCluster({ DIRECTORY }: Env, key: string, facts: DirectoryFacts | undefined): Promise<void> {
  return DIRECTORY.put(key, "{}", beside(facts));
}

function beside(facts: DirectoryFacts | undefined): { metadata?: DirectoryFacts } {
  return facts ? { metadata: facts } : {};
}
