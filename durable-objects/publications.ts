/** Publications on the real platform: KV for what is published, the object's own storage for when. */
import type { PublicationMark, Publications } from "../src/api/store/publisher";
import type { Env } from "./env";

export function publications({ kv }: DurableObjectStorage, env: Env): Publications {
  return {
    markLoad: (key) => kv.get<PublicationMark>(`published/${key}`),
    markSave: (key, mark) => kv.put(`published/${key}`, mark),
    put: (key, bytes, lifetimeSeconds) =>
      env.DIRECTORY.put(key, bytes, lifetimeSeconds === undefined ? {} : { expirationTtl: lifetimeSeconds }),
  };
}
