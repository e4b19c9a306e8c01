/** How disrupted each zone is, and how fast its Nodes get NoExecute taints (upstream ComputeZoneState, setLimiterInZone). */
import { type NodeState, readyOf } from "./node-state";

export type ZoneHealth = "Normal" | "PartialDisruption" | "FullDisruption";

/** Nodes a second (upstream's `--node-eviction-rate` and `--secondary-node-eviction-rate`). */
const RATE = 0.1;
const REDUCED_RATE = 0.01;
/** A partially disrupted zone of so many Nodes, or fewer, gets none (`--large-cluster-size-threshold`). */
const SMALL_ZONE_NODES = 50;
/** Share of a zone's Nodes (`--unhealthy-zone-threshold`). */
const UNHEALTHY_SHARE = 0.55;
const UNHEALTHY_MIN = 3;

export interface Zone {
  readonly health: ZoneHealth;
  /** Nodes that are counted */
  readonly nodes: number;
}

function zoneHealth(ready: number, notReady: number): ZoneHealth {
  if (ready === 0 && notReady > 0) return "FullDisruption";
  return notReady >= UNHEALTHY_MIN && notReady / (ready + notReady) >= UNHEALTHY_SHARE ? "PartialDisruption" : "Normal";
}

/** The zones by key, of the Nodes that are counted. A Node whose Ready nobody has written is not ready. */
export function zonesOf(nodes: Iterable<NodeState>): Map<string, Zone> {
  const counts = new Map<string, { ready: number; notReady: number }>();
  for (const node of nodes) {
    if (node.isExcluded) continue;
    const count = counts.get(node.zone) ?? { ready: 0, notReady: 0 };
    counts.set(node.zone, count);
    if (readyOf(node) === "True") count.ready++;
    else count.notReady++;
  }
  return new Map(
    [...counts].map(([key, { ready, notReady }]): [string, Zone] => [
      key,
      { health: zoneHealth(ready, notReady), nodes: ready + notReady },
    ]),
  );
}

/** Whether there are zones and all of them are fully disrupted: then the controller more likely cannot hear the Nodes than all Nodes have failed. */
export function isAllDisrupted(zones: ReadonlyMap<string, Zone>): boolean {
  return zones.size > 0 && [...zones.values()].every(({ health }) => health === "FullDisruption");
}

/** Milliseconds between two NoExecute taints of a zone while not every zone is fully disrupted; undefined = it gets none. */
export function taintIntervalMs(zone: Zone | undefined): number | undefined {
  if (zone?.health !== "PartialDisruption") return 1_000 / RATE;
  return zone.nodes > SMALL_ZONE_NODES ? 1_000 / REDUCED_RATE : undefined;
}
