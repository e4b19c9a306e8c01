import type { Pass } from "./controller";

/** A pass that is made with the first one, as its making may fail: a broken configuration then fails each pass, and the first one under a valid one works. */
export function madeOnce(make: () => Pass): Pass {
  let pass: Pass | undefined;
  return async (isPoked) => (pass ??= make())(isPoked);
}
