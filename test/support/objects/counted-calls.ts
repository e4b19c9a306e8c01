/** Counts every call to a Durable Object, calls after an answer included: the whole cost of one step. Late work in clusters of other tests is none of it. */
import { createExecutionContext, env } from "cloudflare:test";
import { vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { isOfOtherTest } from "./store-stubs";
import { statePrototype, workDueSoon } from "./work-due";

const bindings = env as unknown as Env;
/** Work that nobody follows, as a digest, ends within so many looks. */
const QUIET_LOOKS = 5;
const LOOK_MS = 10;
/** Longer than any rest and any call's time limit. What changes nothing for so long was lost with its object. */
const STILL_MS = 8_000;
/** What is not at rest by then is late work of other tests, which makes timers and waits in this one. */
const SETTLED_MS_MAX = 30_000;
/** Tests move the clock. */
const now = Date.now;
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
  const underWay = new Set<{ what: string }>();
  let changes = 0;
  const follow = <T>(result: T, what: string): T => {
    const one = { what };
    underWay.add(one);
    changes++;
    const ended = (): void => {
      underWay.delete(one);
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
          if (isOfOtherTest(id.name ?? "")) return methods[key]?.(...args);
          calls.push({ object: id.name ?? "", method: String(key) });
          return follow(methods[key]?.(...args), `${id.name ?? ""}.${String(key)}`);
        };
      },
    });
  });
  spies.push(getting);
  for (const context of [statePrototype, Object.getPrototypeOf(createExecutionContext()) as DurableObjectState]) {
    const waitUntil = context.waitUntil;
    const spy = vi.spyOn(context, "waitUntil").mockImplementation(function (this: DurableObjectState, promise) {
      waitUntil.call(this, follow(promise, "waitUntil"));
    });
    spies.push(spy);
  }
  const kv = Object.getPrototypeOf(bindings.DIRECTORY) as Record<string, (...args: unknown[]) => unknown>;
  for (const method of KV_METHODS) {
    const real = kv[method];
    if (!real) throw new Error(`there is no method ${method}`);
    const spy = vi.spyOn(kv, method).mockImplementation(function (this: KVNamespace, ...args: unknown[]) {
      return follow(real.apply(this, args), `KV ${method}`);
    });
    spies.push(spy);
  }
  let seen = changes;
  let seenAt = now();
  /** Whether what is under way has stood still for so long that it never ends: its object has died. */
  const isStill = (): boolean => {
    if (changes === seen) return now() - seenAt > STILL_MS;
    [seen, seenAt] = [changes, now()];
    return false;
  };
  const tellStill = (): string => `still under way after ${STILL_MS} ms: ${[...underWay].map(({ what }) => what).join(", ")}`;
  try {
    const working = follow(work(), "the work itself").then(() => true);
    while (!(await Promise.race([working, scheduler.wait(LOOK_MS * QUIET_LOOKS).then(() => false)]))) {
      if (isStill()) throw new Error(tellStill());
    }
    const doneAt = now();
    for (let looks = 0; looks < QUIET_LOOKS;) {
      const before = changes;
      await scheduler.wait(LOOK_MS);
      looks = underWay.size > 0 || changes !== before || workDueSoon() ? 0 : looks + 1;
      if (underWay.size > 0 && isStill()) {
        console.warn(tellStill());
        break;
      }
      if (now() - doneAt > SETTLED_MS_MAX) {
        console.warn(`not at rest ${SETTLED_MS_MAX} ms after the work: ${[...underWay].map(({ what }) => what).join(", ")}`);
        break;
      }
    }
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return calls;
}
