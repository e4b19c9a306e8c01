/** First use of a cluster: its services store makes the default ServiceCIDR, through the Coordinator, and the Service `kubernetes`. */
import type { Status } from "../../api/meta/status";
import type { Env } from "../../../durable-objects/platform/env";
import { repairStub, servicesStore } from "../../../durable-objects/peers/peers";
import { settingsOf } from "../../core/config/settings";
import { configOf } from "./config-guard";
import { BOOTSTRAP_TIMEOUT_MS, BOOTSTRAPPED_MAX_CLUSTERS } from "../http/limits";
import { call } from "./call";

/** Clusters that this isolate has seen bootstrapped. Only a hint: a repeated call does nothing in the store. */
const bootstrapped = new Set<string>();

export function isBootstrapped(cluster: string): boolean {
  return bootstrapped.has(cluster);
}

/** Undefined when the cluster is ready, else why not. `timeoutMs`: the patience of the client, 0 = none given. */
export async function ensureBootstrapped(env: Env, cluster: string, timeoutMs = 0): Promise<Status | undefined> {
  const done = await call(() => servicesStore(env, cluster).ensureBootstrapped(), {
    what: "services.ensureBootstrapped",
    repeatable: true,
    timeoutMs: Math.min(timeoutMs || BOOTSTRAP_TIMEOUT_MS, BOOTSTRAP_TIMEOUT_MS),
  });
  if (!done.ok) return done.error;
  if (bootstrapped.size >= BOOTSTRAPPED_MAX_CLUSTERS) bootstrapped.clear();
  bootstrapped.add(cluster);
  noteSettings(env, cluster);
  return undefined;
}

/** Reports the settings of this isolate to the cluster. No request waits for it; cron does the same each minute. */
function noteSettings(env: Env, cluster: string): void {
  const config = configOf(env);
  if (!config.ok) return;
  const settings = settingsOf(config.value);
  void call(() => repairStub(env, cluster).pokeFrom(settings), { what: "repair.pokeFrom", repeatable: true }).catch(
    // `call` throws only when the cluster was deleted meanwhile.
    () => undefined,
  );
}
