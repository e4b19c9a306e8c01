/** First use of a cluster: its services store makes what must exist before anything else (which reaches the Coordinator in turn). */
import type { Status } from "../meta/status";
import type { Env } from "../../durable-objects/env";
import { servicesStore } from "../../durable-objects/peers";
import { BOOTSTRAP_TIMEOUT_MS, BOOTSTRAPPED_MAX_CLUSTERS } from "./limits";

import { call } from "./peers";

/** Clusters that this isolate has seen bootstrapped. A hint only: the call is a no-op in the store when it was done before. */
const bootstrapped = new Set<string>();

export function isBootstrapped(cluster: string): boolean {
  return bootstrapped.has(cluster);
}

/** Undefined when the cluster is ready; else why not. */
export async function ensureBootstrapped(env: Env, cluster: string): Promise<Status | undefined> {
  const done = await call(() => servicesStore(env, cluster).ensureBootstrapped(), {
    what: "services.ensureBootstrapped",
    repeatable: true,
    timeoutMs: BOOTSTRAP_TIMEOUT_MS,
  });
  if (!done.ok) return done.error;
  if (bootstrapped.size >= BOOTSTRAPPED_MAX_CLUSTERS) bootstrapped.clear();
  bootstrapped.add(cluster);
  return undefined;
}
