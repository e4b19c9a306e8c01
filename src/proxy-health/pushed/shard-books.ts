/**
 * What each shard still lacks. A row for each shard says what it has for certain: after a crash, one that has not got its last change gets everything.
 * A shard in which no Node has ever been has no row, and nobody calls it.
 *
 * Each life of the controller's memory has an epoch of its own for its changes. So cursors tell changes apart also when the rows went back to an earlier
 * time (point-in-time recovery). A shard that heard of the lost changes then has a cursor that no row names, and gets everything.
 */
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { shardOf } from "../../tenancy/cluster-objects";
import { type Cursor, sameCursor } from "./shard-change";

const KIND = "shards";
const CURSOR_KIND = "cursor";

interface CursorRow extends Cursor {
  /** sequence of the last change of the list of checks, for all shards; absent = checks and counts are not known yet */
  readonly checksChangedAt?: number;
}

interface ShardRow {
  /** sequence of the last change for the shard */
  readonly changedAt: number;
  /** what it has for certain; absent = nothing */
  readonly has?: Cursor;
}

export interface Lack {
  readonly nodes: Set<string>;
  checks: boolean;
  isWhole: boolean;
}

export class ShardBooks {
  readonly #rows = new Map<number, ShardRow>();
  readonly #lacks = new Map<number, Lack>();
  #cursor: CursorRow | undefined;
  /** The epoch of the cursor is of this life. */
  #isOwnEpoch = false;

  constructor(
    private readonly kept: Pick<KeptRows, "saved" | "put">,
    private readonly now: () => number,
  ) {}

  load(): void {
    for (const [, cursor] of this.kept.saved<CursorRow>(CURSOR_KIND)) this.#cursor = cursor;
    for (const [shard, row] of this.kept.saved<ShardRow>(KIND)) {
      this.#rows.set(Number(shard), row);
      if (!row.has || row.has.sequence < row.changedAt) this.#lackOf(Number(shard)).isWhole = true;
    }
  }

  /** undefined = nothing is known yet */
  get cursor(): Cursor | undefined {
    return this.#cursor && { epoch: this.#cursor.epoch, sequence: this.#cursor.sequence };
  }

  /** Whether checks and counts have ever been noted: before, nobody is told of any. */
  get knowsChecks(): boolean {
    return this.#cursor?.checksChangedAt !== undefined;
  }

  /** Opens the books, once: all Nodes have been read. */
  open(): void {
    this.#isOwnEpoch = true;
    this.#setCursor({ epoch: this.now(), sequence: 0 });
  }

  /** Notes a change: of these nodes, and of the list of checks. Nobody hears of it before the rows are saved. */
  note(names: Iterable<string>, areChecksOther: boolean): void {
    const shards = new Set(areChecksOther ? this.#rows.keys() : []);
    for (const name of names) {
      const shard = shardOf(name);
      shards.add(shard);
      this.#lackOf(shard).nodes.add(name);
    }
    if (shards.size === 0 && !areChecksOther) return;
    const { sequence } = this.#advance();
    if (areChecksOther && this.#cursor) this.#setCursor({ ...this.#cursor, checksChangedAt: sequence });
    for (const shard of shards) {
      const lack = this.#lackOf(shard);
      lack.checks ||= areChecksOther;
      this.#setRow(shard, { ...this.#rows.get(shard), changedAt: sequence });
    }
  }

  get lacking(): number[] {
    return [...this.#lacks.keys()];
  }

  /** What the shard lacks, to be told now: delivered, or put back. undefined = nothing. */
  take(shard: number): Lack | undefined {
    const lack = this.#lacks.get(shard);
    this.#lacks.delete(shard);
    return lack;
  }

  putBack(shard: number, { nodes, checks, isWhole }: Lack): void {
    const lack = this.#lackOf(shard);
    for (const name of nodes) lack.nodes.add(name);
    lack.checks ||= checks;
    lack.isWhole ||= isWhole;
  }

  /** What the shard has for certain; undefined = nothing. */
  startOf(shard: number): Cursor | undefined {
    return this.#rows.get(shard)?.has;
  }

  /** Whether somebody with this cursor lacks nothing of the shard. */
  isCurrent(shard: number, known: Cursor): boolean {
    const { changedAt = this.#cursor?.checksChangedAt ?? 0, has } = this.#rows.get(shard) ?? {};
    if (known.sequence < changedAt) return false;
    return (has !== undefined && sameCursor(known, has)) || this.#isOfEpoch(known);
  }

  /**
   * Takes what a shard has after it was told of everything up to `to`. Answers whether that is as much, or more.
   * What it may have more comes from an answer to its own question.
   */
  delivered(shard: number, to: Cursor, has: Cursor): boolean {
    if (!sameCursor(has, to) && !(this.#isOfEpoch(has) && this.#isOfEpoch(to) && has.sequence > to.sequence)) return false;
    this.#setRow(shard, { changedAt: this.#rows.get(shard)?.changedAt ?? 0, has });
    return true;
  }

  /** A shard has a cursor that is later than all of these books: it comes from rows that are lost, and from a clock that was set back since. */
  beginAfter({ epoch }: Cursor): void {
    this.#advance(epoch);
  }

  #isOfEpoch({ epoch, sequence }: Cursor): boolean {
    return this.#cursor !== undefined && epoch === this.#cursor.epoch && sequence <= this.#cursor.sequence;
  }

  /** Moves the cursor on. @param epoch the next one is later */
  #advance(epoch?: number): Cursor {
    const before = this.#cursor;
    if (!before) throw new Error("the books are not open");
    const goesOn = this.#isOwnEpoch && epoch === undefined;
    const own = goesOn ? before.epoch : Math.max(this.now(), before.epoch + 1, (epoch ?? 0) + 1);
    const cursor = { ...before, epoch: own, sequence: before.sequence + 1 };
    this.#isOwnEpoch = true;
    this.#setCursor(cursor);
    return cursor;
  }

  #lackOf(shard: number): Lack {
    const lack = this.#lacks.get(shard) ?? { nodes: new Set(), checks: false, isWhole: false };
    this.#lacks.set(shard, lack);
    return lack;
  }

  #setRow(shard: number, row: ShardRow): void {
    this.#rows.set(shard, row);
    this.kept.put(KIND, String(shard), row);
  }

  #setCursor(cursor: CursorRow): void {
    this.#cursor = cursor;
    this.kept.put(CURSOR_KIND, "", cursor);
  }
}
