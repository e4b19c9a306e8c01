/** Which ServiceCIDRs take over the segments of one that goes (DESIGN §4). Pure. */
import { containsPrefix, type Prefix } from "../net/prefix";
import { byPosition } from "./prefix-index";
import type { NamedPrefix } from "./stored-prefix";

/** A range that covers, with the uid of its ServiceCIDR. */
export interface Cover extends NamedPrefix {
  uid: string;
}

/** A part of a segment, or all of it, and who takes it over. */
export interface Move {
  /** the segment that it is, or is a part of */
  claim: string;
  prefix: string;
  parsed: Prefix;
  targetUid: string;
}

/**
 * Each segment goes whole to the largest range around it; without one, its parts go to the largest ranges inside. What no range covers has no
 * move. `coversOf` answers the covering ranges of others that have an address in common with a prefix. In address order; of equal ranges the
 * one with the lower uid, so that the answer is the same every time.
 */
export function movesOf(claims: readonly NamedPrefix[], coversOf: (prefix: Prefix) => Cover[]): Move[] {
  const moves: Move[] = [];
  for (const { prefix: claim, parsed: segment } of claims) {
    const covers = coversOf(segment).sort((a, b) => a.parsed.length - b.parsed.length || (a.uid < b.uid ? -1 : 1));
    const [around] = covers;
    if (around && containsPrefix(around.parsed, segment)) {
      moves.push({ claim, prefix: claim, parsed: segment, targetUid: around.uid });
      continue;
    }
    const taken: Prefix[] = [];
    for (const { prefix, parsed, uid } of covers) {
      if (taken.some((larger) => containsPrefix(larger, parsed))) continue;
      taken.push(parsed);
      moves.push({ claim, prefix, parsed, targetUid: uid });
    }
  }
  return moves.sort((a, b) => byPosition(a.parsed, b.parsed));
}
