/** Counts of this isolate for the whole deployment, and the dataset of Analytics Engine that takes them where one is bound. */
import type { Env } from "../../../../durable-objects/platform/env";
import { FleetMetrics } from "../../../core/telemetry/fleet-metrics";
import { log } from "../log";

/** All points are one series, which the platform samples together. */
const INDEX = "fleet";

/** One for each isolate. */
export const fleetMetrics = new FleetMetrics();

/** Writes the next point. `colo`: the data centre of the request. `isDue`: however old the last one is. Never throws; nobody waits for the dataset. */
export function writeFleetPoint(env: Env, { colo = "", isDue = false }: { colo?: string; isDue?: boolean } = {}): void {
  if (!env.FLEET_METRICS) return;
  const doubles = fleetMetrics.take(Date.now(), isDue);
  if (!doubles) return;
  try {
    env.FLEET_METRICS.writeDataPoint({ indexes: [INDEX], blobs: [env.CF_VERSION_METADATA?.id ?? "", colo], doubles });
  } catch (error) {
    log("warn", "the dataset of fleet metrics refuses", { error: String(error) });
  }
}
