/**
 * The two ends of a hand-off (rules 12 and 13). At the source the segments are frozen, so their rows do not change. The target's
 * segments are empty at the beginning. It takes the rows of the hand-off that its configuration names, in address order. The last chunk carries
 * number and checksum of the source's rows, so lost, repeated or reordered rows are noticed.
 *
 * A row keeps its gen, by which the holder of the address knows it. At the target it gets a new position: a store that reads the rows since its
 * last look finds it again.
 */
import { COPY_ROWS_MAX } from "../rpc/limits";
import { formatAddress, parseAddress } from "../../core/net/address";
import { containsPrefix, formatPrefix, hostBitsOf, IPV4_MAPPED, type Prefix } from "../../core/net/prefix";
import { assert } from "../../core/base/assert";
import { FNV_OFFSET, fnv1a } from "../../core/encoding/fnv1a";
import type { CopiedRow, CopyChunk, CopyOutResult, ReceiveResult, Receiving } from "../rpc/service-cidr";
import { type ActiveConfig, parseCanonical, someContains } from "./active-config";
import { type AddressKey, addressKey, KEY_AFTER_ALL, KEY_BEFORE_ALL, keysOf, parseAddressKey } from "./owner-key";
import { type OwnerMemory, reservePositions } from "./owner-memory";
import type { OwnerStorage, StoredRow } from "./owner-storage";

/** The rows of a hand-off cannot be taken; the transaction is to be rolled back. */
export class HandoffConflict extends Error {
  override name = "HandoffConflict";
}

/** Halves prefixes until each has at most `rowsMax` rows or is a single address; in address order. */
export function partition(storage: OwnerStorage, prefixes: readonly Prefix[], rowsMax: number): { prefix: string; rows: number }[] {
  return inKeyOrder(prefixes).flatMap((prefix) => {
    // These addresses have no text, so they are never given out and need not move.
    if (containsPrefix(IPV4_MAPPED, prefix)) return [];
    const rows = storage.rowCount(...keysOf(prefix));
    if (rows <= rowsMax || hostBitsOf(prefix) === 0) return [{ prefix: formatPrefix(prefix), rows }];
    return partition(storage, halves(prefix), rowsMax);
  });
}

/** The next rows of a hand-off at its source. `stale` unless a configuration of its epoch or a later one freezes the segments. */
export function copyOut(
  storage: OwnerStorage,
  config: ActiveConfig,
  { handoff, prefixes, after, rowsMax }: Receiving & { after: AddressKey; rowsMax: number },
): CopyOutResult {
  const frozen = new Set(config.frozen.map(formatPrefix));
  if (config.epoch < handoff || !prefixes.every((prefix) => frozen.has(prefix))) return { ok: false, reason: "stale" };
  const segments = prefixes.map(parseCanonical);
  const rows = nextRows(storage, segments, { after, rowsMax });
  const last = rows.at(-1);
  const chunk = { after, rows: rows.map(toCopied) };
  if (rows.length === rowsMax && last) return { ok: true, chunk: { ...chunk, through: last.key } };
  // Nearly always one chunk has all rows, which then need not be read twice.
  const seal = after === KEY_BEFORE_ALL ? digestOf(rows) : digest(storage, segments);
  return { ok: true, chunk: { ...chunk, through: KEY_AFTER_ALL, seal } };
}

/** Takes a chunk at the target; to be called in a transaction. Throws HandoffConflict when a row, or all rows together, cannot be right. */
export function receive(storage: OwnerStorage, memory: OwnerMemory, handoff: number, chunk: CopyChunk): ReceiveResult {
  const receiving = memory.config.receiving.find((each) => each.handoff === handoff);
  if (!receiving) return { ok: false, reason: "stale" };
  const state = storage.receivingLoad(handoff) ?? { through: KEY_BEFORE_ALL, sealed: false };
  if (state.sealed || chunk.after !== state.through) return { ok: true, ...state };
  const inserted = chunk.rows.map((row) => insert(storage, memory, receiving.prefixes, row));
  reservePositions(storage, memory);
  const next = { through: chunk.through, sealed: chunk.seal !== undefined };
  if (chunk.seal) {
    const { rows, checksum } = chunk.after === KEY_BEFORE_ALL ? digestOf(inserted) : digest(storage, receiving.prefixes);
    if (rows !== countRows(storage, receiving.prefixes) || rows !== chunk.seal.rows || checksum !== chunk.seal.checksum) {
      throw new HandoffConflict(`${rows} rows have come and ${chunk.seal.rows} were sent, or they differ`);
    }
  }
  storage.receivingSave(handoff, next);
  return { ok: true, ...next };
}

function insert(storage: OwnerStorage, memory: OwnerMemory, prefixes: readonly Prefix[], { address, scope, ...row }: CopiedRow): StoredRow {
  const parsed = parseAddress(address);
  assert(parsed.ok && someContains(prefixes, parsed.value.family, parsed.value.value), "a chunk has rows of its hand-off only");
  // A lost answer left a row here under the same token. The store that asked releases one of the two; then the next attempt passes.
  if (storage.rowByToken(row.token)) throw new HandoffConflict(`the token of ${address} has a row here already`);
  const stored = { key: addressKey(parsed.value.family, parsed.value.value), position: ++memory.counter, ...row, band: scope };
  storage.rowInsert(stored);
  return stored;
}

function countRows(storage: OwnerStorage, segments: readonly Prefix[]): number {
  return segments.reduce((sum, segment) => sum + storage.rowCount(...keysOf(segment)), 0);
}

/** `rows` in address order. */
function digestOf(rows: readonly StoredRow[]): { rows: number; checksum: number } {
  return { rows: rows.length, checksum: rows.reduce((checksum, row) => fnv1a(checksum, textOf(row)), FNV_OFFSET) };
}

function nextRows(storage: OwnerStorage, segments: readonly Prefix[], page: { after: AddressKey; rowsMax: number }): StoredRow[] {
  const { after, rowsMax } = page;
  const rows: StoredRow[] = [];
  for (const segment of inKeyOrder(segments)) {
    const [first, last] = keysOf(segment);
    if (rows.length < rowsMax && last > after) rows.push(...storage.rowsIn({ first, last, after }, rowsMax - rows.length));
  }
  return rows;
}

/** Number of the rows in the segments, and a checksum of their contents in address order. */
function digest(storage: OwnerStorage, segments: readonly Prefix[]): { rows: number; checksum: number } {
  let rows = 0;
  let checksum = FNV_OFFSET;
  for (const segment of inKeyOrder(segments)) {
    const [first, last] = keysOf(segment);
    for (let after: AddressKey = KEY_BEFORE_ALL; ;) {
      const page = storage.rowsIn({ first, last, after }, COPY_ROWS_MAX);
      for (const row of page) checksum = fnv1a(checksum, textOf(row));
      rows += page.length;
      after = page.at(-1)?.key ?? after;
      if (page.length < COPY_ROWS_MAX) break;
    }
  }
  return { rows, checksum };
}

function textOf({ key, token, gen, band, holder }: StoredRow): string {
  return [key, token, gen.epoch, gen.counter, band, holder.kind, holder.namespace, holder.name, holder.uid].join("\n");
}

function toCopied({ key, token, gen, band, holder }: StoredRow): CopiedRow {
  const { family, address } = parseAddressKey(key);
  return { address: formatAddress(family, address), token, gen, scope: band, holder };
}

function halves({ family, base, length }: Prefix): Prefix[] {
  const low: Prefix = { family, base, length: length + 1 };
  return [low, { ...low, base: base + (1n << BigInt(hostBitsOf(low))) }];
}

function inKeyOrder(prefixes: readonly Prefix[]): Prefix[] {
  return [...prefixes].sort((a, b) => (keysOf(a)[0] < keysOf(b)[0] ? -1 : 1));
}
