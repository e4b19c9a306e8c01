/**
 * Which pieces of which segments a source hands over next, and to whom. Three numbers are bounded: targets side by side, segments that an owner can
 * be told of, and addresses that are frozen at once. Pure.
 */
import { groupBy } from "../../core/base/group-by";
import { OWNER_PREFIXES_MAX } from "../rpc/limits";
import { formatPrefix } from "../../core/net/prefix";
import { claimUnowned } from "../topology/claim";
import type { Move } from "../topology/moves";
import { PrefixIndex } from "../topology/prefix-index";
import { storedPrefix } from "../topology/stored-prefix";
import { openMoves } from "./state/handoff-rules";
import type { TopologyView } from "./state/topology-view";

/** Targets of one source side by side: each costs four calls, and addresses on their way can be neither taken nor freed. */
export const TARGETS_TOGETHER = 50;

/**
 * The next moves from the front: to at most TARGETS_TOGETHER targets, and no more than the source can be told of when its segments are cut for
 * them. Empty pieces in between are dropped before the next segments are cut.
 */
export function nextMoves(view: TopologyView, sourceUid: string, nowMs: number): Move[] {
  const targets = new Set<string>();
  const moves: Move[] = [];
  for (const move of openMoves(view, sourceUid, nowMs)) {
    if (targets.size === TARGETS_TOGETHER && !targets.has(move.targetUid)) continue;
    targets.add(move.targetUid);
    moves.push(move);
  }
  const room = roomOf(view, sourceUid);
  while (moves.length > 1 && leftOf(moves).reduce((sum, { left }) => sum + left.length, moves.length) > room) {
    moves.length = Math.ceil(moves.length / 2);
  }
  return moves;
}

export function sameMoves(a: readonly Move[], b: readonly Move[]): boolean {
  const texts = (moves: readonly Move[]): string => JSON.stringify(moves.map(({ claim, prefix, targetUid }) => [claim, prefix, targetUid]));
  return texts(a) === texts(b);
}

/** A change of an owner's segments: cut ones go, their pieces and what is left between these come. */
export interface Cut {
  go: string[];
  come: string[];
}

/** How the source's `claims` change when `pieces` are cut out of the segments of `moves`. */
export function cutOf(claims: TopologyView["claims"], moves: readonly Move[], pieces: readonly string[]): Cut {
  const isPiece = new Set(pieces);
  const go = [...new Set(moves.map((move) => move.claim))].filter((claim) => !isPiece.has(claim));
  const gone = new Set(go);
  const isClaim = new Set(claims.map(({ prefix }) => prefix).filter((prefix) => !gone.has(prefix)));
  const left = leftOf(moves).flatMap((cut) => cut.left);
  return { go, come: [...pieces, ...left].filter((prefix) => !isClaim.has(prefix)) };
}

/** How many more segments the owner can be told of. Its own count, those that it still gives away, and those that are on their way to it. */
export function roomOf(view: TopologyView, ownerUid: string): number {
  const onTheirWay = view.handoffs.filter(
    ({ sourceUid, targetUid, phase }) =>
      (phase === "activating" && sourceUid === ownerUid) || (phase === "copying" && targetUid === ownerUid),
  );
  return onTheirWay.reduce((room, { prefixes }) => room - prefixes.length, OWNER_PREFIXES_MAX - view.claimsOf(ownerUid).length);
}

/**
 * The pieces that are handed over now, by target: from the front, at least one and as many as may be frozen at once (`rowsMax`). A target gets
 * no more than it can be told of, which may be none.
 */
export function lotsOf(
  view: TopologyView,
  moves: readonly Move[],
  { pieces, rowsMax }: { pieces: readonly { prefix: string; rows: number }[]; rowsMax: number },
): Map<string, string[]> {
  const index = new PrefixIndex(moves.map((move) => ({ prefix: move.parsed, value: move.targetUid })));
  const lots = groupBy(fewRows(pieces, rowsMax), (piece) => index.intersecting(storedPrefix(piece))[0] ?? "");
  for (const [targetUid, lot] of lots) lot.length = Math.min(lot.length, Math.max(roomOf(view, targetUid), 0));
  return lots;
}

function fewRows(pieces: readonly { prefix: string; rows: number }[], rowsMax: number): string[] {
  let rows = 0;
  const few: string[] = [];
  for (const piece of pieces) {
    rows += piece.rows;
    if (few.length > 0 && rows > rowsMax) break;
    few.push(piece.prefix);
  }
  return few;
}

/** What remains of each segment that is cut. */
function leftOf(moves: readonly Move[]): { claim: string; left: string[] }[] {
  const cut = groupBy(
    moves.filter((move) => move.prefix !== move.claim),
    (move) => move.claim,
  );
  return [...cut].map(([claim, parts]) => ({
    claim,
    left: claimUnowned(
      [storedPrefix(claim)],
      parts.map((move) => move.parsed),
    ).map(formatPrefix),
  }));
}
