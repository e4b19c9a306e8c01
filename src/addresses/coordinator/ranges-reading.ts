/** The Coordinator's rows as consumers of the ranges read them. */
import type { RangesReading } from "../rpc/topology";
import { isConfiguredRow } from "./state/configured-ranges";
import type { CidrRow, CoordinatorState } from "./state/coordinator-storage";

/**
 * A ServiceCIDR is ready when its object shows that, so that any other reader of the object agrees. While the configured ranges alone count, no
 * object is ready.
 *
 * @param revision the store's at the moment of `state`
 */
export function rangesReading({ epoch, cidrs, ranges, claims }: CoordinatorState, revision: number): RangesReading {
  const only = cidrs.find(isConfiguredRow);
  const isReady = (row: CidrRow): boolean => (only ? row === only : !row.deleting && row.condition?.status === "True");
  const byUid = new Map(cidrs.map((row) => [row.uid, { cidrs: [] as string[], ready: isReady(row) }]));
  for (const { uid, prefix } of ranges) byUid.get(uid)?.cidrs.push(prefix);
  return { revision, epoch, sources: [...byUid.values()], claims: claims.map(({ prefix }) => prefix) };
}
