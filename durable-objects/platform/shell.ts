/** A Durable Object around a brain: a class of `src` that has all the rules and reaches the platform through its ports. */
import { DurableObject } from "cloudflare:workers";
import { unsupported } from "../../src/api/rpc/protocol";
import type { Recoverable, RecoveryAnswer, RecoveryTarget } from "../../src/tenancy/rpc";
import type { Env } from "./env";
import { recoverObject } from "./recovery";

/** The names of a brain's methods. */
export type MethodOf<Brain> = {
  [K in keyof Brain]: Brain[K] extends (...args: never[]) => unknown ? K : never;
}[keyof Brain] &
  string;

type Shell<Brain, Name extends keyof Brain> = DurableObject<Env> & { readonly brain: Brain } & Pick<Brain, Name>;

/**
 * The class of objects that answer each of `names` by the brain's method of that name. The methods are the prototype's, because the platform
 * lets no other be called. What a shell says it implements shows that no name is missing. A brain without the method is an object of another release to its
 * caller: `unsupported`.
 */
export function shellOf<Brain extends object>(): <Name extends MethodOf<Brain>>(
  ...names: Name[]
) => new (ctx: DurableObjectState, env: Env, brain: Brain) => Shell<Brain, Name> {
  return (...names) => {
    class Forwarding extends DurableObject<Env> implements Recoverable {
      constructor(
        ctx: DurableObjectState,
        env: Env,
        readonly brain: Brain,
      ) {
        super(ctx, env);
      }

      recover(target: RecoveryTarget): Promise<RecoveryAnswer> {
        return recoverObject(this.ctx, target);
      }
    }
    for (const name of names) {
      const forward = function (this: Forwarding, ...args: never[]): unknown {
        const method = this.brain[name] as ((...args: never[]) => unknown) | undefined;
        // One class is the shell of several brains, and not every one answers every call.
        if (!method) throw unsupported(name);
        return method.apply(this.brain, args);
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
  "touchedSince",
  "maintain",
  "visit",
  "compact",
  "beginAbove",
  "endWatches",
  "counters",
  "setControllers",
  "wipe",
] as const;
