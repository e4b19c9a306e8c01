/** A Publisher on the real platform: KV for what is published, the object's own storage for when. */
import { type PublicationMark, type Published, Publisher } from "../src/api/store/publisher";
import type { Env } from "./env";
import type { StoreSetting } from "./store-object";

export interface Publication {
  ctx: DurableObjectState;
  env: Env;
  setting: Pick<StoreSetting, "clock" | "recorder">;
  /** in KV */
  key: string;
  /** how long KV keeps it; absent = for ever */
  lifetimeSeconds?: number;
}

export function publisher({ ctx, env, setting, key, lifetimeSeconds }: Publication, what: Published): Publisher {
  const mark = `published/${key}`;
  const options = lifetimeSeconds === undefined ? {} : { expirationTtl: lifetimeSeconds };
  return new Publisher(
    {
      clock: setting.clock,
      recorder: setting.recorder,
      markLoad: () => ctx.storage.kv.get<PublicationMark>(mark),
      markSave: (made) => ctx.storage.kv.put(mark, made),
      put: (bytes) => env.DIRECTORY.put(key, bytes, options),
    },
    what,
  );
}
