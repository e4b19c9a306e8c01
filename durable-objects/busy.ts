/** The notes for cron on the real platform. The objects of a cluster that live in one isolate share them. */
import { BusyNotes } from "../src/tenancy/busy-notes";
import type { Rhythm } from "../src/tenancy/directory-keys";
import type { Env } from "./env";
import { systemClock } from "./ports";

const notes = new BusyNotes(systemClock);

/** Notes a change in the cluster of this id. Nobody waits for the note. */
export function noteBusy({ DIRECTORY }: Env, id: string, rhythm: Rhythm): void {
  notes.note(id, rhythm, (key, expirationTtl) => DIRECTORY.put(key, "", { expirationTtl }));
}
