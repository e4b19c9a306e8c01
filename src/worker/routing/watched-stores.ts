/**
 * The graceful stop of a local server: every watch that this isolate opened ends with a proper end of body, and new ones end at once.
 * Clients go on from their last revision when the server is back; a connection that just breaks makes some of them give up for good.
 *
 * Reached through the cron handler (stop-signal.ts), which nothing outside can call.
 */
import type { Env } from "../../../durable-objects/env";
import { storedResource, type StoredResource, storeStub } from "../../../durable-objects/peers";
import type { ResourceDefinition } from "../../api/registry/resource";
import { WATCHED_STORES_MAX } from "../http/limits";
import { call } from "./call";

interface WatchedStore {
  cluster: string;
  resource: StoredResource;
}

const watched = new Map<string, WatchedStore>();
let stopping = false;

export function isStopping(): boolean {
  return stopping;
}

/** Notes that a watch of this resource is opened, as `open` does it, and ends it when a stop has come meanwhile. */
export async function openWatch<T>(
  { env, cluster, definition }: { env: Env; cluster: string; definition: ResourceDefinition },
  open: () => Promise<T>,
): Promise<T> {
  const resource = storedResource(definition);
  const key = `${cluster}/${resource.group}/${resource.resource}`;
  if (!watched.has(key)) {
    if (watched.size >= WATCHED_STORES_MAX) watched.clear();
    watched.set(key, { cluster, resource });
  }
  const answer = await open();
  // The store may have heard of the stop before it heard of this watch.
  if (stopping) await endWatchesOf(env, { cluster, resource });
  return answer;
}

/** A watch that is over before its first event. */
export function endedWatch(): Response {
  return new Response("", { headers: { "Content-Type": "application/json", "Cache-Control": "no-cache, private" } });
}

/** Ends the watches and refuses none: from now on each is answered with its end. */
export async function endWatches(env: Env): Promise<void> {
  stopping = true;
  await Promise.all([...watched.values()].map((store) => endWatchesOf(env, store)));
}

async function endWatchesOf(env: Env, { cluster, resource }: WatchedStore): Promise<void> {
  await call(() => storeStub(env, cluster, resource).endWatches(), { what: `${resource.resource}.endWatches`, repeatable: true }).catch(
    // Only what belongs to a cluster that is gone is not a value; its watches have ended.
    () => undefined,
  );
}
