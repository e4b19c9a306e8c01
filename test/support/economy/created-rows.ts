/**
 * The rows that the creation of one Service writes, alone in its turn, with everything that follows: one selector, one port, one address. The
 * tests of test/object/economy fail for a row that is not named here, and for one that is named and not written. docs/edge.md shows them.
 */

export interface CreatedRow {
  /** The name of the object in its cluster; "owner" is that of the range. */
  readonly object: string;
  readonly table: string;
  /** at most */
  readonly rows: number;
  readonly why: string;
}

/** Of each object that a store keeps. */
const object = (store: string): CreatedRow => ({ object: store, table: "objects", rows: 1, why: "the object" });
const history = (store: string): CreatedRow => ({ object: store, table: "history", rows: 1, why: "watches go on from any revision" });
const SLICES = "endpointslices.discovery.k8s.io";
const ADDRESSES = "ipaddresses.networking.k8s.io";

export const CREATED_ROWS: readonly CreatedRow[] = [
  object("services"),
  history("services"),
  { object: "services", table: "allocations", rows: 1, why: "the address with its token: what the audit compares with the owner's row" },
  { object: "owner", table: "address", rows: 3, why: "who has the address: the row, the unique address, the unique token (rules 1 to 4)" },
  { object: "owner", table: "page", rows: 1, why: "the bitmap, in the transaction of the row: a start reads pages, not all rows" },
  object(ADDRESSES),
  history(ADDRESSES),
  { object: ADDRESSES, table: "gens", rows: 1, why: "the gen of the address: a late write of an older holder is refused" },
  object(SLICES),
  history(SLICES),
  object("endpoints"),
  history("endpoints"),
  {
    object: "controllers/endpointslice-controller",
    table: "followed_rows",
    rows: 2,
    why: "facts of the Service and its slice, which share a row, and counts for metrics: a start need not read all stores",
  },
  { object: "controllers/endpoints-controller", table: "followed_rows", rows: 1, why: "facts of the Service" },
  { object: "controllers/garbage-collection", table: "nodes", rows: 1, why: "the slice names its Service as owner" },
];
