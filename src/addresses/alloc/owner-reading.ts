/** What an owner says of its rows without changing any. Rows of frozen and received segments are included, unless a function says otherwise. */
import { assert } from "../../core/base/assert";
import { formatAddress } from "../../core/net/address";
import { OWNER_CALL_ITEMS_MAX, OWNER_ROWS_PER_ANSWER_MAX } from "../rpc/limits";
import type { AddressInterval, AddressRow } from "../rpc/service-cidr";
import { assertIntervals, keyOf } from "./owner-call";
import { type AddressKey, parseAddressKey } from "./owner-key";
import type { OwnerMemory } from "./owner-memory";
import type { OwnerStorage, StoredRow } from "./owner-storage";

/** The addresses of the largest range of the old allocator. */
const TAKEN_SPAN_MAX = 2n ** 20n;

/** Rows written after `afterPosition`, at most `limit` and never more than OWNER_ROWS_PER_ANSWER_MAX. */
export function rowsBehind(storage: OwnerStorage, afterPosition: number, limit: number): StoredRow[] {
  return storage.rowsSince(afterPosition, Math.max(0, Math.min(limit, OWNER_ROWS_PER_ANSWER_MAX)));
}

/** The number of rows of Services in each interval. */
export function serviceRowsIn(storage: OwnerStorage, intervals: readonly AddressInterval[]): number[] {
  assertIntervals(intervals);
  return intervals.map(({ first, last }) => storage.serviceRowCount(keyOf(first), keyOf(last)));
}

/** The taken addresses of each interval. With frozen segments, which have no bitmap, rows are counted. */
export function takenCounts(storage: OwnerStorage, { config, pool }: OwnerMemory, intervals: readonly AddressInterval[]): number[] {
  assertIntervals(intervals);
  return intervals.map(({ first, last }) => {
    const [low, high] = [keyOf(first), keyOf(last)];
    if (config.frozen.length > 0) return storage.rowCount(low, high);
    return pool.takenIn(parseAddressKey(low).family, parseAddressKey(low).address, parseAddressKey(high).address);
  });
}

/** The places of the interval's taken addresses, counted from its first one. */
export function takenOffsets(storage: OwnerStorage, { first, last }: AddressInterval): Uint32Array {
  const [low, high] = [keyOf(first), keyOf(last)];
  const base = parseAddressKey(low).address;
  assert(parseAddressKey(high).address - base < TAKEN_SPAN_MAX, "an interval of which all taken addresses are asked is bounded");
  const offsets: number[] = [];
  for (const key of storage.rowKeys(low, high)) offsets.push(Number(parseAddressKey(key).address - base));
  return Uint32Array.from(offsets);
}

/** The rows of addresses (canonical texts); `stale` where this owner may not speak for the address. */
export function rowsAtAddresses(
  storage: OwnerStorage,
  { pool }: OwnerMemory,
  addresses: readonly string[],
): (AddressRow | null | "stale")[] {
  assert(addresses.length <= OWNER_CALL_ITEMS_MAX, "the items of one call are bounded");
  return addresses.map((text) => {
    const key = keyOf(text);
    const { family, address } = parseAddressKey(key);
    if (!pool.isOwned(family, address)) return "stale";
    const [row] = storage.rowsIn({ first: key, last: key, after: "" }, 1);
    return row ? toAddressRow(row) : null;
  });
}

function formatKey(key: AddressKey): string {
  const { family, address } = parseAddressKey(key);
  return formatAddress(family, address);
}

/** The row as it is sent. */
export function toAddressRow(row: StoredRow): AddressRow {
  return { address: formatKey(row.key), token: row.token, gen: row.gen, holder: row.holder, position: row.position };
}
