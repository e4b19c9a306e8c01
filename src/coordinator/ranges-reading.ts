/** What the Coordinator's rows say to consumers of the ranges. */
import type { RangesReading } from "../rpc/coordinator";
import type { CoordinatorState } from "./coordinator-storage";

/** `revision` is the store's at the moment of `state`. Ready is what the object shows: any other reader of it comes to the same. */
export function rangesReading({ epoch, cidrs, ranges, claims }: CoordinatorState, revision: number): RangesReading {
  const byUid = new Map(cidrs.map((row) => [row.uid, { cidrs: [] as string[], ready: !row.deleting && row.condition?.status === "True" }]));
  for (const { uid, prefix } of ranges) byUid.get(uid)?.cidrs.push(prefix);
  return { revision, epoch, sources: [...byUid.values()], claims: claims.map(({ prefix }) => prefix) };
}
