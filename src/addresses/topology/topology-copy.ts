/**
 * The copy of a cluster's topology that its Coordinator publishes to KV: a first view for a store that has just started, until the Coordinator
 * answers. The copy may be of any age, or wrong. Owners refuse what their own configuration does not allow, so a choice made on it costs a round
 * at worst. It opens under epoch 0, which never equals the Coordinator's: nothing is refused because of the copy (rule 17), and any answer of
 * the Coordinator replaces it.
 */
import type { Digest } from "../../core/base/ports";
import { seal, unseal } from "../../core/encoding/sealed-text";
import type { Topology } from "../rpc/topology";

interface CopiedTopology extends Pick<Topology, "claims" | "ranges" | "withoutBands" | "zoned"> {
  format: typeof FORMAT;
  cluster: string;
}

/** Raised with every change of the layout. */
const FORMAT = 1;

/** The KV key of a cluster's topology. */
export function topologyCopyKey(cluster: string): string {
  return `topology/${cluster}`;
}

/** Within one epoch claims and ranges only come or only go, so equal versions nearly always have equal contents: it is a hint. */
export function topologyVersion({ epoch, claims, ranges }: Topology): string {
  return `${epoch}/${claims.length}/${ranges.length}`;
}

export function sealTopology(cluster: string, { claims, ranges, withoutBands, zoned }: Topology, digest: Digest): Promise<Uint8Array> {
  const copied: CopiedTopology = {
    format: FORMAT,
    cluster,
    claims,
    ranges,
    ...(withoutBands && { withoutBands }),
    ...(zoned && { zoned }),
  };
  return seal(JSON.stringify(copied), digest);
}

/** Opens what `sealTopology` made for this cluster; undefined for any other bytes. */
export async function openTopology(bytes: Uint8Array, cluster: string, digest: Digest): Promise<Topology | undefined> {
  const text = await unseal(bytes, digest);
  if (text === undefined) return undefined;
  const copied = JSON.parse(text) as CopiedTopology;
  if (copied.format !== FORMAT || copied.cluster !== cluster) return undefined;
  const { claims, ranges, withoutBands, zoned } = copied;
  return { epoch: 0, claims, ranges, owners: [], free: [], ...(withoutBands && { withoutBands }), ...(zoned && { zoned }) };
}
