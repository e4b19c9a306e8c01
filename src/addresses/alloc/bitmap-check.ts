/** Compares an owner's bitmap with its rows, which are the truth. */
import { InvariantError } from "../../core/base/assert";
import { parseAddressKey } from "./owner-key";
import { type OwnerMemory, rowsIn } from "./owner-memory";
import type { OwnerStorage, StoredRow } from "./owner-storage";

/**
 * How the bitmap differs from the rows, or undefined.
 * @param afterPosition 0 = the first page of rows: then the bitmap as a whole is checked, too
 * @param rows the page of rows behind that position
 */
export function bitmapFault(
  storage: OwnerStorage,
  memory: OwnerMemory,
  { afterPosition, rows }: { afterPosition: number; rows: readonly StoredRow[] },
): string | undefined {
  try {
    if (afterPosition === 0) verifyMemory(storage, memory, rows);
    else verifyRows(memory, rows);
    return undefined;
  } catch (error) {
    if (error instanceof InvariantError) return error.message;
    throw error;
  }
}

/** Throws when the bitmap contradicts itself, its count is not the number of rows, or the address of one of `rows` is free. */
function verifyMemory(storage: OwnerStorage, memory: OwnerMemory, rows: readonly StoredRow[]): void {
  const { pool, config } = memory;
  pool.verify();
  const stored = rowsIn(storage, config.active);
  if (pool.takenCount() !== stored) throw new InvariantError(`${pool.takenCount()} addresses are taken, and there are ${stored} rows`);
  verifyRows(memory, rows);
}

/** The part of verifyMemory whose cost grows with `rows` alone. */
function verifyRows({ pool }: OwnerMemory, rows: readonly StoredRow[]): void {
  for (const { key } of rows) {
    const { family, address } = parseAddressKey(key);
    if (pool.isOwned(family, address) && !pool.isTaken(family, address)) throw new InvariantError("an address with a row is free");
  }
}
