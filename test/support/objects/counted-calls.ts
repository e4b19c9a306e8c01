/** Counts every call to a Durable Object, calls after an answer included: the whole cost of one step. */
import { createExecutionContext, env } from "cloudflare:test";
import { vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { statePrototype, workDueSoon } from "./work-due";

const bindings = env as unknown as Env;
/** Work that nobody follows, as a digest, ends within so many looks. */
const QUIET_LOOKS = 5;
const LOOK_MS = 10;
/** Every way to wait for the key-value store. */
const KV_METHODS = ["get", "getWithMetadata", "list", "put", "delete"] as const;

export interface Call {
  /** the name of the object begins with the cluster's */
  object: string;
  method: string;
}

/**
 * The calls that `work` causes, until all work has ended: no call, no background work and no read of the key-value store is under way, and no
 * timer or alarm of the product is due soon.
 */
export async function countedCalls(work: () => Promise<unknown>): Promise<Call[]> {
  const calls: Call[] = [];
  let underWay = 0;
  let changes = 0;
  const follow = <T>(result: T): T => {
    underWay++;
    changes++;
    const ended = (): void => {
      underWay--;
      changes++;
    };
    Promise.resolve(result).then(ended, ended);
    return result;
  };
  const namespaces = Object.getPrototypeOf(bindings.CONTROLLER) as DurableObjectNamespace;
  const get = namespaces.get;
  const spies: { mockRestore(): void }[] = [];
  const getting = vi.spyOn(namespaces, "get").mockImplementation(function (this: DurableObjectNamespace, id, options) {
    const stub = get.call(this, id, options);
    return new Proxy(stub, {
      get(target, key) {
        const methods = target as unknown as Record<string | symbol, (...args: unknown[]) => unknown>;
        // A member of a stub is called as such: any other use of it would be a call of its own.
        if (typeof methods[key] !== "function") return methods[key];
        return (...args: unknown[]): unknown => {
          calls.push({ object: id.name ?? "", method: String(key) });
          return follow(methods[key]?.(...args));
        };
      },
    });
  });
  spies.push(getting);
  for (const context of [statePrototype, Object.getPrototypeOf(createExecutionContext()) as DurableObjectState]) {
    const waitUntil = context.waitUntil;
    const spy = vi.spyOn(context, "waitUntil").mockImplementation(function (this: DurableObjectState, promise) {
      waitUntil.call(this, follow(promise));
    });
    spies.push(spy);
  }
  const kv = Object.getPrototypeOf(bindings.DIRECTORY) as Record<string, (...args: unknown[]) => unknown>;
  for (const method of KV_METHODS) {
    const real = kv[method];
    if (!real) throw new Error(`there is no method ${method}`);
    const spy = vi.spyOn(kv, method).mockImplementation(function (this: KVNamespace, ...args: unknown[]) {
      return follow(real.apply(this, args));
    });
    spies.push(spy);
  }
  try {
    await work();
    for (let looks = 0, seen = changes; looks < QUIET_LOOKS; seen = changes) {
      await scheduler.wait(LOOK_MS);
      looks = underWay > 0 || changes !== seen || workDueSoon() ? 0 : looks + 1;
    }
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return calls;
}
