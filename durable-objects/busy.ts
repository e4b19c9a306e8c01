/** Tells cron which clusters have had writes. */
import { BUSY_INTERVAL_MS, BUSY_LIFETIME_SECONDS, busyKey, type Rhythm } from "../src/tenancy/directory-keys";
import type { Env } from "./env";
import { systemClock } from "./ports";

/** Keys remembered per isolate; beyond it the memory starts over, which costs one more put per cluster. */
const NOTED_MAX = 10_000;
/** When this isolate put each key, in ms since the epoch: the objects of a cluster that live here share a put. */
const noted = new Map<string, number>();

/** Notes that something happened in the cluster. Nobody waits for the note; a lost one is made up for by cron's slow round. */
export function noteBusy(env: Env, id: string, rhythm: Rhythm): void {
  const key = busyKey(rhythm, id);
  const now = systemClock.now();
  const before = noted.get(key);
  if (before !== undefined && now >= before && now - before < BUSY_INTERVAL_MS[rhythm]) return;
  if (noted.size >= NOTED_MAX) noted.clear();
  noted.set(key, now);
  void env.DIRECTORY.put(key, "", { expirationTtl: BUSY_LIFETIME_SECONDS[rhythm] }).catch(() => noted.delete(key));
}
