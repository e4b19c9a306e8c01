/** Calls between real Durable Objects that a test wraps. */
import { vi } from "vitest";

/** The call itself: has its effect, and answers. */
type Call = () => Promise<unknown>;

/** Every call of the method to any object of the class goes through `around`, with the object that is called. `vi.restoreAllMocks` ends it. */
export function intercept(prototype: object, method: string, around: (call: Call, object: object) => Promise<unknown>): void {
  const target = prototype as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const real = target[method];
  if (!real) throw new Error(`there is no method ${method}`);
  const patched = function (this: object, ...args: unknown[]): Promise<unknown> {
    return around(() => real.apply(this, args), this);
  };
  vi.spyOn(target, method).mockImplementation(patched);
}
