/**
 * The graceful stop of a local server. Every watch that this isolate opened ends with a proper end of body; new ones end at once. Clients then watch
 * again from their last revision. After a broken connection some clients give up for good. Polls of proxies end as if their time were over.
 *
 * Reached through the cron handler (stop-signal.ts), which no client can call.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { proxyView, storeStub } from "../../../durable-objects/peers/peers";
import { storedResource } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import { WATCHED_OBJECTS_MAX } from "../http/limits";
import { JSON_TYPE, PROTOBUF_TYPE, type Rendering } from "../http/answer/respond";
import { call } from "./call";

/** An object that something waits at, by the call that ends the waiting. */
interface Waited {
  what: string;
  end(env: Env): Promise<void>;
}

export class Waits {
  readonly #objects = new Map<string, Waited>();
  #isStopping = false;

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Notes the store of a watch, opens the watch with `open`, and ends it when a stop has come meanwhile. */
  async openWatch<T>(
    { env, cluster, definition }: { env: Env; cluster: string; definition: ResourceDefinition },
    open: () => Promise<T>,
  ): Promise<T> {
    const resource = storedResource(definition);
    const end = (by: Env): Promise<void> => storeStub(by, cluster, resource).endWatches();
    const store = { what: `${resource.resource}.endWatches`, end };
    this.#note(`${cluster}/${resource.group}/${resource.resource}`, store);
    const answer = await open();
    // The store may have heard of the stop before it heard of this watch.
    if (this.#isStopping) await ended(env, store);
    return answer;
  }

  /** Notes the cluster's view for proxies before a poll. A view that has heard of the stop refuses it. */
  notePoll(cluster: string): void {
    this.#note(cluster, { what: "proxyView.endPolls", end: (by) => proxyView(by, cluster).endPolls() });
  }

  /** Ends the open watches and polls. Later watches are answered with their end, later polls are refused. */
  async end(env: Env): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#objects.values()].map((object) => ended(env, object)));
  }

  #note(key: string, object: Waited): void {
    if (this.#objects.has(key)) return;
    if (this.#objects.size >= WATCHED_OBJECTS_MAX) this.#objects.clear();
    this.#objects.set(key, object);
  }
}

/** One for each isolate. */
export const waits = new Waits();

/** A watch that is over before its first event. */
export function endedWatch(rendering: Rendering): Response {
  const type = rendering === "protobuf" ? `${PROTOBUF_TYPE};stream=watch` : JSON_TYPE;
  return new Response("", { headers: { "Content-Type": type, "Cache-Control": "no-cache, private" } });
}

async function ended(env: Env, { what, end }: Waited): Promise<void> {
  await call(() => end(env), { what, repeatable: true }).catch(
    // `call` throws only when the cluster is gone. Its watches have ended.
    () => undefined,
  );
}
