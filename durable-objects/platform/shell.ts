/** A Durable Object around a brain: a class of `src` that has all the rules and reaches the platform through its ports. */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "./env";

/** The names of a brain's methods. */
export type MethodOf<Brain> = {
  [K in keyof Brain]: Brain[K] extends (...args: never[]) => unknown ? K : never;
}[keyof Brain] &
  string;

type Shell<Brain, Name extends keyof Brain> = DurableObject<Env> & { readonly brain: Brain } & Pick<Brain, Name>;

/**
 * The class of objects that answer each of `names` by the brain's method of that name. The methods are the prototype's, because the platform
 * lets no other be called. What a shell says it implements shows that no name is missing.
 */
export function shellOf<Brain extends object>(): <Name extends MethodOf<Brain>>(
  ...names: Name[]
) => new (ctx: DurableObjectState, env: Env, brain: Brain) => Shell<Brain, Name> {
  return (...names) => {
    class Forwarding extends DurableObject<Env> {
      constructor(
        ctx: DurableObjectState,
        env: Env,
        readonly brain: Brain,
      ) {
        super(ctx, env);
      }
    }
    for (const name of names) {
      const forward = function (this: Forwarding, ...args: never[]): unknown {
        return (this.brain[name] as (...args: never[]) => unknown).apply(this.brain, args);
      };
      Object.defineProperty(Forwarding.prototype, name, { value: forward, writable: true, configurable: true });
    }
    return Forwarding as unknown as new (ctx: DurableObjectState, env: Env, brain: Brain) => Shell<Brain, (typeof names)[number]>;
  };
}

/** What every store answers besides its collections. */
export const STORE_METHODS = [
  "write",
  "writeAll",
  "get",
  "closeNamespace",
  "emptyNamespace",
  "takeQuotas",
  "quotaReport",
  "quotaUsage",
  "changesSince",
  "listMetadata",
  "metadataOf",
  "whereabouts",
  "objectsSince",
  "objectsAfter",
  "objectsNamed",
  "maintain",
  "compact",
  "beginAbove",
  "endWatches",
  "counters",
  "setControllers",
  "wipe",
] as const;
