/** Publications on the real platform: KV for what is published, the object's own storage for when. */
import type { LastPublication, Publications } from "../../src/api/store/list/publisher";
import type { Env } from "../platform/env";

export function publications({ kv }: DurableObjectStorage, env: Env): Publications {
  return {
    lastLoad: (key) => kv.get<LastPublication>(`published/${key}`),
    lastSave: (key, last) => kv.put(`published/${key}`, last),
    put: (key, bytes, lifetimeSeconds) =>
      env.DIRECTORY.put(key, bytes, lifetimeSeconds === undefined ? {} : { expirationTtl: lifetimeSeconds }),
  };
}
