import { NOTHING_KNOWN, type NothingKnown } from "../../../src/proxy-health/rpc";

/** The answer to a check of a node; fails with NOTHING_KNOWN where the object knows nothing yet. */
export function known<T>(answer: T | NothingKnown): T {
  if (answer === NOTHING_KNOWN) throw new Error(NOTHING_KNOWN);
  return answer as T;
}
