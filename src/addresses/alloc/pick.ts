import { assert } from "../../core/base/assert";
import type { Random } from "../../core/base/ports";
import type { Band } from "../../core/net/band";
import { OPEN_ZONE } from "../../core/net/zones";
import type { Segment } from "./segment";

/** The order of bands for a dynamic request (KEP-3070): the static band serves it only when no dynamic band has an address left. */
const BANDS: readonly Band[] = ["dynamic", "static"];

/**
 * Takes one address for a dynamic request: uniform over the free dynamic-band addresses of all segments, then, unless `dynamicOnly`, over those
 * of the static band. undefined = full. A pick is independent of every earlier pick, and costs the same however full the segments are.
 *
 * @param zone the zone that has the address; OPEN_ZONE = none has
 */
export function allocateFrom(
  segments: readonly Segment[],
  random: Random,
  dynamicOnly: boolean,
  zone = OPEN_ZONE,
): { address: bigint; band: Band } | undefined {
  for (const band of BANDS) {
    if (dynamicOnly && band === "static") break;
    const segment = drawSegment(segments, band, random, zone);
    if (segment !== undefined) return { address: segment.allocate(band, random, zone), band };
  }
  return undefined;
}

/** Draws a segment with a probability proportional to its free addresses of the band; undefined when there are none. */
function drawSegment(segments: readonly Segment[], band: Band, random: Random, zone: string): Segment | undefined {
  const only = segments[0];
  if (only === undefined) return undefined;
  if (segments.length === 1) return only.freeCount(band, zone) > 0 ? only : undefined;
  let total: number | bigint = 0;
  for (const segment of segments) {
    const free = segment.freeCount(band, zone);
    total = typeof total === "number" && typeof free === "number" ? total + free : BigInt(total) + BigInt(free);
  }
  if (total <= 0) return undefined;
  // A dense segment has at most 2^28 addresses, so a number is exact. One sparse segment makes the sum a bigint.
  let rest: number | bigint = typeof total === "number" ? random.below(total) : random.belowBig(total);
  for (const segment of segments) {
    const free = segment.freeCount(band, zone);
    if (rest < free) return segment;
    rest = typeof rest === "number" && typeof free === "number" ? rest - free : BigInt(rest) - BigInt(free);
  }
  assert(false, "pick: the free counts of the segments changed during a pick");
}
