/** Counts every call to a Durable Object, calls after an answer included: the whole cost of one step. */
import { env, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import type { Env } from "../../../durable-objects/env";

const bindings = env as unknown as Env;
/** Background work makes its next call sooner, except where it rests on a busy machine. */
const QUIET_MS = 600;
const POLL_MS = 50;

export interface Call {
  /** the name of the object begins with the cluster's */
  object: string;
  method: string;
}

/** The calls that `work` causes, until all work has ended. */
export async function countedCalls(work: () => Promise<unknown>): Promise<Call[]> {
  const calls: Call[] = [];
  let underWay = 0;
  let changedAt = Date.now();
  const follow = <T>(result: T): T => {
    underWay++;
    changedAt = Date.now();
    const ended = (): void => {
      underWay--;
      changedAt = Date.now();
    };
    Promise.resolve(result).then(ended, ended);
    return result;
  };
  const namespaces = Object.getPrototypeOf(bindings.CONTROLLER) as DurableObjectNamespace;
  const get = namespaces.get;
  vi.spyOn(namespaces, "get").mockImplementation(function (this: DurableObjectNamespace, id, options) {
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
  const someObject = bindings.CLUSTER_RECORD.getByName("counted-calls/record");
  const state = await runInDurableObject(someObject, (_, ctx) => Object.getPrototypeOf(ctx) as DurableObjectState);
  const waitUntil = state.waitUntil;
  vi.spyOn(state, "waitUntil").mockImplementation(function (this: DurableObjectState, promise) {
    waitUntil.call(this, follow(promise));
  });
  try {
    await work();
    while (underWay > 0 || Date.now() - changedAt < QUIET_MS) await scheduler.wait(POLL_MS);
  } finally {
    vi.restoreAllMocks();
  }
  return calls;
}
