/** Which ServiceCIDRs take over the segments of one that goes, and what is left of these. Pure. */
import { formatAddress } from "../../core/net/address";
import { subtract } from "../../core/net/interval";
import { containsPrefix, lastOf, type Prefix } from "../../core/net/prefix";
import type { AddressInterval } from "../rpc/service-cidr";
import { byPosition } from "./prefix-index";
import type { NamedPrefix } from "./stored-prefix";

/** A range that covers, with the uid of its ServiceCIDR. */
export interface Cover extends NamedPrefix {
  uid: string;
}

/** A segment, or a part of it, and the ServiceCIDR that takes it over. */
export interface Move {
  /** the segment */
  claim: string;
  prefix: string;
  parsed: Prefix;
  targetUid: string;
}

/** The parts of a segment that others name, and the addresses between them that nobody else names. */
export interface Remainder {
  claim: string;
  /** disjoint, in address order */
  named: string[];
  gaps: AddressInterval[];
}

/**
 * A segment goes whole to the largest range around it. Without one, its parts go to the largest ranges inside. What no range covers has no
 * move. Moves are in address order; of equal ranges the one with the lower uid counts, so that the answer is the same every time.
 *
 * @param coversOf answers the covering ranges of others that share an address with a prefix
 */
export function movesOf(claims: readonly NamedPrefix[], coversOf: (prefix: Prefix) => readonly Cover[]): Move[] {
  const moves = claims.flatMap(({ prefix: claim, parsed: segment }): Move[] => {
    const covers = outermost(coversOf(segment));
    const [around] = covers;
    if (around && containsPrefix(around.parsed, segment)) return [{ claim, prefix: claim, parsed: segment, targetUid: around.uid }];
    return covers.map(({ prefix, parsed, uid }) => ({ claim, prefix, parsed, targetUid: uid }));
  });
  return moves.sort((a, b) => byPosition(a.parsed, b.parsed));
}

/** The segments that others name in part or not at all. `namesOf` answers the ranges of others that share an address with a prefix. */
export function remaindersOf(claims: readonly NamedPrefix[], namesOf: (prefix: Prefix) => readonly Cover[]): Remainder[] {
  return claims.flatMap(({ prefix: claim, parsed: segment }): Remainder[] => {
    const names = outermost(namesOf(segment));
    if (names[0] && containsPrefix(names[0].parsed, segment)) return [];
    const named = names.map(({ parsed }) => ({ first: parsed.base, last: lastOf(parsed) }));
    const gaps = subtract([{ first: segment.base, last: lastOf(segment) }], named).map(({ first, last }) => ({
      first: formatAddress(segment.family, first),
      last: formatAddress(segment.family, last),
    }));
    return gaps.length > 0 ? [{ claim, named: names.map(({ prefix }) => prefix), gaps }] : [];
  });
}

/** The covers that lie in none of the others, in address order. */
function outermost(covers: readonly Cover[]): Cover[] {
  const sorted = [...covers].sort((a, b) => byPosition(a.parsed, b.parsed) || (a.uid < b.uid ? -1 : 1));
  const found: Cover[] = [];
  for (const cover of sorted) {
    const before = found.at(-1);
    if (!before || !containsPrefix(before.parsed, cover.parsed)) found.push(cover);
  }
  return found;
}
