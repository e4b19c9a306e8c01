/** What the Coordinator's rows say to consumers of the ranges. */
import type { RangesReading } from "../rpc/coordinator";
import { isConfiguredRow } from "./configured-ranges";
import type { CidrRow, CoordinatorState } from "./coordinator-storage";

/**
 * `revision` is the store's at the moment of `state`. Ready is what the object shows: any other reader of it comes to the same. While the
 * configured ranges alone count, no object is ready.
 */
export function rangesReading({ epoch, cidrs, ranges, claims }: CoordinatorState, revision: number): RangesReading {
  const only = cidrs.find(isConfiguredRow);
  const isReady = (row: CidrRow): boolean => (only ? row === only : !row.deleting && row.condition?.status === "True");
  const byUid = new Map(cidrs.map((row) => [row.uid, { cidrs: [] as string[], ready: isReady(row) }]));
  for (const { uid, prefix } of ranges) byUid.get(uid)?.cidrs.push(prefix);
  return { revision, epoch, sources: [...byUid.values()], claims: claims.map(({ prefix }) => prefix) };
}
