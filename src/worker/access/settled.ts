import { isTimeout, withTimeout } from "../../core/base/timeout";
import { systemClock } from "../../../durable-objects/platform/ports";

/**
 * What work that several requests share comes to; undefined: nothing, after this time. The platform drops the work of a request that has ended, and then
 * a promise of its own never settles (rule 25).
 */
export async function settled<T>(work: Promise<T>, patienceMs: number): Promise<T | undefined> {
  try {
    return await withTimeout(systemClock, patienceMs, work);
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  }
}
