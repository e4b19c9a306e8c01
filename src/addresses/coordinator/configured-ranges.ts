/**
 * The gate MultiCIDRServiceAllocator switched off: the configured ranges alone give out addresses, through a row that stands for them beside
 * those of the ServiceCIDR objects. It has a uid and no name, claims what nobody owns and is seeded as any other; as long as it is there, the
 * ranges of objects give out nothing, are cover for nothing, and nothing is done to the objects.
 *
 * With the gate on the row goes, as an object does that is removed by force: what its owner has written stays where it is until a ready
 * ServiceCIDR takes it over. So switching moves no address, and nothing that is taken is ever free in between.
 */
import { SERVICE_CIDR_SEGMENTS_MAX } from "../../core/base/limits";
import { formatPrefix } from "../../core/net/prefix";
import { claimUnowned, largestOf } from "../topology/claim";
import { storedPrefix } from "../topology/stored-prefix";
import type { CidrRow, CoordinatorStorage } from "./coordinator-storage";
import { READY } from "./service-cidr-object";

/** Whether the row stands for the configured ranges: objects always have a name. */
export function isConfiguredRow(row: CidrRow): boolean {
  return row.name === "";
}

/** Makes or removes the row, so that it is there exactly with these ranges; to be called in a transaction. `newUid`: never used before. */
export function alignConfiguredRow(storage: CoordinatorStorage, onlyRanges: readonly string[] | undefined, newUid: () => string): void {
  const { cidrs, ranges, claims } = storage.load();
  const rows = cidrs.filter(isConfiguredRow);
  const wanted = onlyRanges && [...onlyRanges].sort();
  const isRight = ({ uid }: CidrRow): boolean => {
    const has = ranges.filter((range) => range.uid === uid).map((range) => range.prefix);
    return JSON.stringify(has.sort()) === JSON.stringify(wanted);
  };
  const kept = wanted && rows.find(isRight);
  for (const row of rows) if (row !== kept) storage.cidrDelete(row.uid);
  if (!wanted || kept) return;
  const uid = newUid();
  storage.cidrSave({ uid, name: "", deleting: false, suspended: false, fencedUntil: 0, finalizer: true, condition: READY });
  for (const prefix of wanted) storage.rangeSave({ uid, prefix, ready: false });
  const unowned = claimUnowned(
    wanted.map(storedPrefix),
    claims.map(({ prefix }) => storedPrefix(prefix)),
  );
  // The configuration cannot be refused, however many ServiceCIDRs lie inside.
  for (const claim of largestOf(unowned, SERVICE_CIDR_SEGMENTS_MAX))
    storage.claimInsert({ prefix: formatPrefix(claim), ownerUid: uid, seeded: false });
}
