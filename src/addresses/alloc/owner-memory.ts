/**
 * An owner's memory: its configuration and the bitmap of its active segments. Storage can rebuild all of it at any time: rows are the truth, and
 * stored pages only save reading every row at a start. Frozen segments have rows but no bitmap, because nothing is decided in them; thawing
 * builds the bitmap from the rows.
 */
import { InvariantError } from "../../core/base/assert";
import type { Random, Recorder } from "../../core/base/ports";
import { type Prefix, formatPrefix } from "../../core/net/prefix";
import { coverOf } from "../../core/net/prefix-set";
import { type ActiveConfig, readOwnerConfig } from "./active-config";
import { KEY_AFTER_ALL, KEY_BEFORE_ALL, keysOf, parseAddressKey } from "./owner-key";
import type { OwnerStorage, StoredConfig } from "./owner-storage";
import { Pool } from "./pool";
import { ReleasedTokens } from "./released-tokens";

/** Positions reserved at once: a row of a table for so many addresses. */
const RESERVED_POSITIONS = 1_000;

export interface OwnerMemory {
  config: ActiveConfig;
  pool: Pool;
  /** no row has had a greater position, deleted rows included */
  counter: number;
  /** the position up to which all are reserved, as it is on disk (reservePositions) */
  reserved: number;
  released: ReleasedTokens;
}

/**
 * Reads memory from storage. The stored pages count only with `trustPages`, and if they hold as many addresses as there are rows; else they are
 * rebuilt from the rows and stored again.
 */
export function loadMemory(storage: OwnerStorage, ports: { random: Random; recorder: Recorder }, trustPages: boolean): OwnerMemory {
  const config = readOwnerConfig(storage.configLoad());
  const reserved = storage.reservedLoad();
  const released = new ReleasedTokens(storage);
  const memory: OwnerMemory = { config, pool: new Pool(ports.random), counter: reserved, reserved, released };
  configurePool(memory.pool, config);
  const rows = rowsIn(storage, config.active);
  if (trustPages && loadPages(storage, memory) && memory.pool.takenCount() === rows) return memory;
  if (trustPages)
    ports.recorder.log("warn", "pages of an owner were rebuilt", { epoch: config.epoch, rows, inPages: memory.pool.takenCount() });
  memory.pool = new Pool(ports.random);
  configurePool(memory.pool, config);
  storage.transaction(() => {
    storage.pagesClear();
    for (const segment of config.active) takeRows(storage, memory.pool, segment);
    savePages(storage, memory.pool);
  });
  return memory;
}

/**
 * Puts an accepted configuration in force, in storage and in `memory`; to be called in a transaction, and memory is to be reloaded when that fails.
 * Rows of segments that are no longer owned or received are deleted, because their new owner has them. If the segment ever came back, old rows would
 * stand against its new ones. A hand-off begins with an empty segment.
 */
export function applyConfig(storage: OwnerStorage, memory: OwnerMemory, next: StoredConfig): void {
  const before = memory.config;
  const config = readOwnerConfig(next);
  storage.configSave(next);
  const isActiveBefore = setOf(before.active);
  const isActive = setOf(config.active);
  const vanished = before.active.filter((segment) => !isActive.has(formatPrefix(segment)));
  // The pool itself moves what was active and is only cut differently.
  const wasCovered = coverOf(before.active);
  const appeared = config.active.filter((segment) => !isActiveBefore.has(formatPrefix(segment)) && !wasCovered(segment));
  const begun = new Set(before.receiving.map(({ handoff }) => handoff));
  const received = config.receiving.filter(({ handoff }) => begun.has(handoff)).flatMap(({ prefixes }) => prefixes);
  const kept = [...config.owned, ...received];
  const keptBefore = [...before.owned, ...before.receiving.flatMap(({ prefixes }) => prefixes)];
  if (!equalSets(setOf(keptBefore), setOf(kept))) deleteRowsOutside(storage, kept);
  storage.receivingRetain(config.receiving.map(({ handoff }) => handoff));
  for (const segment of vanished) storage.pagesDelete(formatPrefix(segment));
  if (config.retired) memory.released.clear();

  memory.config = config;
  configurePool(memory.pool, config);
  for (const segment of appeared) takeRows(storage, memory.pool, segment);
  savePages(storage, memory.pool);
}

/** Stores the pages that changed since the last call; to be called in the transaction of the rows that changed them. */
export function savePages(storage: OwnerStorage, pool: Pool): void {
  for (const page of pool.takeDirtyPages()) storage.pageSave(page);
}

/**
 * Reserves positions for rows that were given new ones, in the transaction of these rows (rule 3). A start begins behind what is reserved, whatever became of
 * the rows. So no position, and no gen, is ever given out twice, and most creates write nothing here.
 */
export function reservePositions(storage: OwnerStorage, memory: OwnerMemory): void {
  if (memory.counter <= memory.reserved) return;
  memory.reserved = memory.counter + RESERVED_POSITIONS;
  storage.reservedSave(memory.reserved);
}

function configurePool(pool: Pool, config: ActiveConfig): void {
  pool.configure(config.active, config.ranges, !config.withoutBands, config.zones);
}

/** Answers false when a stored page is damaged, or belongs to a segment that is not active. */
function loadPages(storage: OwnerStorage, { pool, config }: OwnerMemory): boolean {
  const active = setOf(config.active);
  try {
    for (const { segment, page, bytes } of storage.pagesLoad()) {
      if (!active.has(segment)) return false;
      pool.loadPage(segment, page, bytes);
    }
    return true;
  } catch (error) {
    if (error instanceof InvariantError) return false;
    throw error;
  }
}

/** The number of rows in segments. */
export function rowsIn(storage: OwnerStorage, segments: readonly Prefix[]): number {
  return segments.reduce((sum, segment) => sum + storage.rowCount(...keysOf(segment)), 0);
}

function takeRows(storage: OwnerStorage, pool: Pool, segment: Prefix): void {
  for (const key of storage.rowKeys(...keysOf(segment))) {
    const { family, address } = parseAddressKey(key);
    pool.take(family, address);
  }
}

function deleteRowsOutside(storage: OwnerStorage, kept: readonly Prefix[]): void {
  const intervals = kept.map(keysOf).sort(([a], [b]) => (a < b ? -1 : 1));
  let after = KEY_BEFORE_ALL;
  for (const [first, last] of intervals) {
    storage.rowsDeleteBetween(after, first);
    after = last;
  }
  storage.rowsDeleteBetween(after, KEY_AFTER_ALL);
}

function setOf(prefixes: readonly Prefix[]): Set<string> {
  return new Set(prefixes.map(formatPrefix));
}

function equalSets(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((text) => b.has(text));
}
