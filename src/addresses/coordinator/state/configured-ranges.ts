/**
 * The gate MultiCIDRServiceAllocator switched off: only the configured ranges give out addresses, through a row that stands for them beside the
 * rows of the ServiceCIDR objects. This row has a uid and no name; it claims what nobody owns and is seeded as any other. While it exists, the
 * ranges of objects give out nothing and cover nothing, and the objects are left alone.
 *
 * With the gate on, the row is removed as an object is by force. The segments of its owner stay where they are until a ready ServiceCIDR takes them
 * over. So switching moves no address, and nothing that is taken is ever free in between.
 */
import { storedPrefix } from "../../topology/stored-prefix";
import type { CidrRow, CoordinatorStorage } from "./coordinator-storage";
import { READY } from "./service-cidr-object";
import { claimUnownedFor } from "./unowned-claims";

/** Whether the row stands for the configured ranges: an object always has a name. */
export function isConfiguredRow(row: CidrRow): boolean {
  return row.name === "";
}

/**
 * Makes or removes the row, so that it exists exactly with these ranges; to be called in a transaction.
 *
 * @param newUid answers a uid that was never used before
 */
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
  // The configuration cannot be refused, however many ServiceCIDRs lie inside its ranges.
  claimUnownedFor(storage, uid, { wanted: wanted.map(storedPrefix), owned: claims.map(({ prefix }) => storedPrefix(prefix)) });
}
