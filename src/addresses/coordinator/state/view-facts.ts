/**
 * What a view has worked out so far. A fact follows from objects, ranges, claims and hand-offs; no fact depends on what owners confirm. The
 * next view takes the facts over, less those that the changes in between may touch.
 */
import { semanticEqual } from "../../../api/meta/equality";
import type { Move } from "../../topology/moves";
import { changesOf, type Changes } from "./row-changes";
import type { ParsedClaim, ParsedRange, RowIndex } from "./row-index";

export class ViewFacts {
  readonly allocatable = new Map<ParsedRange, boolean>();
  readonly named = new Map<ParsedClaim, boolean>();
  /** by owner */
  readonly moves = new Map<string, readonly Move[]>();
  /** by owner: the JSON of an OwnerContent */
  readonly contents = new Map<string, string>();
}

/**
 * Drops the facts that the changes between two moments may touch.
 *
 * @param workOut works out and notes, by the rows of `after`, whether the range may give out addresses
 */
export function dropTouched(
  facts: ViewFacts,
  { before, after }: { before: RowIndex; after: RowIndex },
  workOut: (range: ParsedRange) => boolean,
): void {
  const cidrs = both(changesOf(before.cidrRows, after.cidrRows)).map(({ uid }) => uid);
  const claims = changesOf(before.claims, after.claims);
  const ranges = changesOf(before.ranges, after.ranges);
  const handoffs = both(changesOf(before.handoffs, after.handoffs));
  const touched = new Set([
    ...ranges.come,
    ...cidrs.flatMap((uid) => after.rangesOf(uid)),
    ...both(claims).flatMap(({ parsed }) => after.rangesIn(parsed)),
  ]);
  const changedTenancy = new Set(cidrs.filter((uid) => !semanticEqual(before.cidrs.get(uid)?.tenancy, after.cidrs.get(uid)?.tenancy)));
  const isAltered = (range: ParsedRange): boolean => {
    const known = facts.allocatable.get(range);
    facts.allocatable.delete(range);
    return workOut(range) !== known || changedTenancy.has(range.uid);
  };
  const changed = [...ranges.gone, ...[...touched].filter(isAltered)];
  const under = changed.flatMap(({ parsed }) => after.claimsIn(parsed));
  for (const range of ranges.gone) facts.allocatable.delete(range);
  for (const claim of [...claims.gone, ...under]) facts.named.delete(claim);
  const owners = [...both(claims), ...under].map(({ ownerUid }) => ownerUid);
  const parties = handoffs.flatMap(({ sourceUid, targetUid }) => [sourceUid, targetUid]);
  // Segments that a source has given away stay in its content until their new owner is active, and are not among its claims.
  if (changed.length > 0) parties.push(...after.handoffsIn("activating").map(({ sourceUid }) => sourceUid));
  for (const uid of [...cidrs, ...owners, ...parties]) {
    facts.moves.delete(uid);
    facts.contents.delete(uid);
  }
}

function both<Row>({ gone, come }: Changes<Row>): Row[] {
  return [...gone, ...come];
}
