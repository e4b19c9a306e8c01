/** Calls between real Durable Objects that a test wraps. */
import { vi } from "vitest";
import { isOfOtherTest } from "./store-stubs";

/** The call itself: has its effect, and answers. */
type Call = () => Promise<unknown>;

/**
 * Every call of the method to any object of the class goes through `around`, with the object that is called. Late work in clusters of other tests does
 * not. `vi.restoreAllMocks` ends it, or what comes out.
 */
export function intercept(prototype: object, method: string, around: (call: Call, object: object) => Promise<unknown>): () => void {
  const target = prototype as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const real = target[method];
  if (!real) throw new Error(`there is no method ${method}`);
  const patched = function (this: object, ...args: unknown[]): Promise<unknown> {
    const call = (): Promise<unknown> => real.apply(this, args);
    const { ctx } = this as { ctx?: DurableObjectState };
    return isOfOtherTest(ctx?.id.name ?? "") ? call() : around(call, this);
  };
  const spy = vi.spyOn(target, method).mockImplementation(patched);
  return () => spy.mockRestore();
}
