/** The notes for cron on the real platform. The objects of a cluster that live in one isolate share them. */
import { BusyNotes } from "../src/tenancy/busy-notes";
import { BUSY_LIFETIME_SECONDS, busyKey, directoryKey, type Rhythm } from "../src/tenancy/directory-keys";
import type { ControllerName } from "./controllers";
import type { Env } from "./env";
import { systemClock } from "./ports";

const notes = new BusyNotes(systemClock);

/** What the directory says beside the key of a cluster whose list of controllers is its own: those that cron is not to call. */
export interface DirectoryFacts {
  off: readonly ControllerName[];
}

/** Notes a change in the cluster of this id. Nobody waits for the note. `off`: see DirectoryFacts; undefined = the variable counts there. */
export function noteBusy({ DIRECTORY }: Env, id: string, rhythm: Rhythm, off?: readonly ControllerName[]): void {
  notes.note(id, rhythm, (key, expirationTtl) => DIRECTORY.put(key, "", { expirationTtl, ...factsOf(off) }));
}

/** Writes into the directory, for all visits of cron from now on, which controllers of the cluster are off. */
export async function noteControllers(env: Env, id: string, off: readonly ControllerName[] | undefined): Promise<void> {
  const expirationTtl = BUSY_LIFETIME_SECONDS.minute;
  await Promise.all([
    enterCluster(env, directoryKey(id), off),
    env.DIRECTORY.put(busyKey("minute", id), "", { expirationTtl, ...factsOf(off) }),
  ]);
}

/** Enters a cluster in the directory. `off`: as for noteBusy; the key may be there, with what noteControllers wrote beside it. */
export function enterCluster({ DIRECTORY }: Env, key: string, off: readonly ControllerName[] | undefined): Promise<void> {
  return DIRECTORY.put(key, "{}", factsOf(off));
}

function factsOf(off: readonly ControllerName[] | undefined): { metadata?: DirectoryFacts } {
  return off ? { metadata: { off } } : {};
}
