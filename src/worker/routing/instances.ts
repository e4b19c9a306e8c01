/** The instances that serve a cluster, asked of its store of Leases. */
import type { Env } from "../../../durable-objects/platform/env";
import { storesFetch } from "../../../durable-objects/peers/peers";
import { systemClock } from "../../../durable-objects/platform/ports";
import { withTimeout } from "../../core/base/timeout";
import { type ServingInstances, servingInstances } from "../../leases/identity/serving-instances";
import { READY_TIMEOUT_MS } from "../http/limits";

/** Rejects when the store does not answer in time. */
export async function instancesOf(env: Env, cluster: string): Promise<ServingInstances> {
  const abort = new AbortController();
  try {
    const listed = servingInstances(storesFetch(env, cluster, { unfollowed: true }), systemClock.now(), abort.signal);
    return await withTimeout(systemClock, READY_TIMEOUT_MS, listed);
  } finally {
    abort.abort();
  }
}
