/**
 * The graceful stop of a local server: every watch that this isolate opened ends with a proper end of body, and new ones end at once.
 * Clients go on from their last revision when the server is back; a connection that just breaks makes some of them give up for good.
 *
 * Reached through the cron handler (stop-signal.ts), which nothing outside can call.
 */
import type { Env } from "../../durable-objects/env";
import { storedResource, type StoredResource, storeStub } from "../../durable-objects/peers";
import type { ResourceDefinition } from "../registry/resource";
import { WATCHED_STORES_MAX } from "./limits";
import { call } from "./peers";

const watched = new Map<string, { cluster: string; resource: StoredResource }>();
let stopping = false;

export function isStopping(): boolean {
  return stopping;
}

/** Notes that a watch of this resource is about to be opened. */
export function rememberWatch(cluster: string, definition: ResourceDefinition): void {
  const resource = storedResource(definition);
  const key = `${cluster}/${resource.group}/${resource.resource}`;
  if (watched.has(key)) return;
  if (watched.size >= WATCHED_STORES_MAX) watched.clear();
  watched.set(key, { cluster, resource });
}

/** A watch that is over before its first event. */
export function endedWatch(): Response {
  return new Response("", { headers: { "Content-Type": "application/json", "Cache-Control": "no-cache, private" } });
}

/** Ends the watches and refuses none: from now on each is answered with its end. */
export async function endWatches(env: Env): Promise<void> {
  stopping = true;
  const end = ({ cluster, resource }: { cluster: string; resource: StoredResource }) =>
    call(() => storeStub(env, cluster, resource).endWatches(), { what: `${resource.resource}.endWatches`, repeatable: true }).catch(
      // Only what belongs to a cluster that is gone is not a value; its watches have ended.
      () => undefined,
    );
  await Promise.all([...watched.values()].map(end));
}
