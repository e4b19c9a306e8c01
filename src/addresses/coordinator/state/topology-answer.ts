/** The topology as routers read it. */
import type { Topology } from "../../rpc/topology";
import type { CoordinatorSettings } from "./coordinator-settings";
import type { TopologyView } from "./topology-view";

/** The owners that write a segment, by uid. */
export function writersOf(view: TopologyView): string[] {
  return [...new Set(view.claims.map((claim) => claim.ownerUid))];
}

/** `free`: the known free counts of these owners. */
export function topologyOf(
  view: TopologyView,
  { staticBands }: Pick<CoordinatorSettings, "staticBands">,
  free: Topology["free"],
): Topology {
  return {
    epoch: view.epoch,
    claims: view.claims.map(({ prefix, ownerUid }) => ({ prefix, ownerUid })),
    ranges: view.ranges
      .filter((range) => view.isCover(range))
      .map(({ prefix, uid }) => ({ prefix, name: view.cidrs.get(uid)?.name ?? "", ...view.cidrs.get(uid)?.tenancy })),
    ...(view.isZoned ? { zoned: true } : {}),
    ...(staticBands ? {} : { withoutBands: true }),
    owners: writersOf(view)
      .flatMap((uid) => view.owners.get(uid) ?? [])
      .map(({ uid, epoch }) => ({ uid, epoch })),
    free,
  };
}
