/** A client that watches through the whole Worker. */
import { createExecutionContext } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";
import worker from "../../../src/worker/index";
import { ADMIN_TOKEN } from "../access/access-world";

export interface WatchingClient {
  /** of the objects that were added, as their events came */
  readonly names: string[];
  cancel(): Promise<void>;
}

type Watched = { env: Env; cluster: string };

/** The answer to a request of the administrator that takes as long as it takes: whoever counts calls would wait for its end. */
function answerTo({ env, cluster }: Watched, path: string, more: Record<string, string> = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, ...more };
  const context = createExecutionContext();
  context.waitUntil = (work) => void work.catch(() => undefined);
  return Promise.resolve(worker.fetch(new Request(`http://127.0.0.1/clusters/${cluster}${path}`, { headers }), env, context));
}

/** The page of a node for its proxy; with an ETag, as soon as it has changed. */
export function polling(world: Watched, node: string, etag?: string, seconds = 0): Promise<Response> {
  const path = `/api/v1/nodes/${node}/proxy-config?timeoutSeconds=${String(seconds)}`;
  return answerTo(world, path, etag === undefined ? {} : { "If-None-Match": etag });
}

/** As administrator, from a revision on. */
export async function watching(world: Watched, path: string, since: string): Promise<WatchingClient> {
  const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${since}`;
  const { status, body } = await answerTo(world, `${path}?${query}`);
  if (status !== 200 || !body) throw new Error(`no watch but ${String(status)}`);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const names: string[] = [];
  const read = async (): Promise<void> => {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      names.push(...[...chunk.value.matchAll(/"type":"ADDED","object":.*?"name":"([^"]*)"/g)].map(([, name = ""]) => name));
    }
  };
  void read().catch(() => undefined);
  return { names, cancel: () => reader.cancel() };
}
