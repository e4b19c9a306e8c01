/**
 * The graceful stop of a local server. Every watch that this isolate opened ends with a proper end of body; new ones end at once. Clients then watch
 * again from their last revision. After a broken connection some clients give up for good.
 *
 * Reached through the cron handler (stop-signal.ts), which no client can call.
 */
import type { Env } from "../../../durable-objects/env";
import { storeStub } from "../../../durable-objects/peers";
import { storedResource, type StoredResource } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import { WATCHED_STORES_MAX } from "../http/limits";
import { JSON_TYPE, PROTOBUF_TYPE, type Rendering } from "../http/respond";
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

/** Notes the store of a watch, opens the watch with `open`, and ends it when a stop has come meanwhile. */
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
export function endedWatch(rendering: Rendering): Response {
  const type = rendering === "protobuf" ? `${PROTOBUF_TYPE};stream=watch` : JSON_TYPE;
  return new Response("", { headers: { "Content-Type": type, "Cache-Control": "no-cache, private" } });
}

/** Ends the open watches. Later ones are answered with their end. */
export async function endWatches(env: Env): Promise<void> {
  stopping = true;
  await Promise.all([...watched.values()].map((store) => endWatchesOf(env, store)));
}

async function endWatchesOf(env: Env, { cluster, resource }: WatchedStore): Promise<void> {
  await call(() => storeStub(env, cluster, resource).endWatches(), { what: `${resource.resource}.endWatches`, repeatable: true }).catch(
    // `call` throws only when the cluster is gone. Its watches have ended.
    () => undefined,
  );
}
