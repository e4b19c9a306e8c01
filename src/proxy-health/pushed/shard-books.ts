/**
 * What each shard still lacks. A row for each shard says up to which change it has answered: after a crash, one that has not answered its last change gets
 * everything. A shard in which no Node has ever been has no row, and nobody calls it.
 */
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { shardOf } from "../../tenancy/cluster-objects";
import type { Cursor } from "./shard-change";

const KIND = "shards";
const CURSOR_KIND = "cursor";

/** Sequences of the last change for the shard, and of the last one that it has. 0 = none. */
interface ShardRow {
  readonly changedAt: number;
  readonly hasUpTo: number;
}

export interface Lack {
  readonly nodes: Set<string>;
  checks: boolean;
  isWhole: boolean;
}

export class ShardBooks {
  readonly #rows = new Map<number, ShardRow>();
  readonly #lacks = new Map<number, Lack>();
  #cursor: Cursor | undefined;

  constructor(
    private readonly kept: Pick<KeptRows, "saved" | "put">,
    private readonly now: () => number,
  ) {}

  load(): void {
    for (const [, cursor] of this.kept.saved<Cursor>(CURSOR_KIND)) this.#cursor = cursor;
    for (const [shard, row] of this.kept.saved<ShardRow>(KIND)) {
      this.#rows.set(Number(shard), row);
      if (row.hasUpTo < row.changedAt) this.#lackOf(Number(shard)).isWhole = true;
    }
  }

  /** undefined = nothing is known yet */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  /** Opens the books, once: all that there is has been read. */
  open(): void {
    this.#setCursor({ epoch: this.now(), sequence: 0 });
  }

  /** Notes a change: of these nodes, and of the list of checks. Nobody hears of it before the rows are saved. */
  note(names: Iterable<string>, areChecksOther: boolean): void {
    const before = this.#cursor;
    if (!before) throw new Error("the books are not open");
    const shards = new Set(areChecksOther ? this.#rows.keys() : []);
    for (const name of names) {
      const shard = shardOf(name);
      shards.add(shard);
      this.#lackOf(shard).nodes.add(name);
    }
    if (shards.size === 0 && !areChecksOther) return;
    const sequence = before.sequence + 1;
    this.#setCursor({ ...before, sequence });
    for (const shard of shards) {
      const row = this.#rows.get(shard);
      const lack = this.#lackOf(shard);
      if (!row) lack.isWhole = true;
      lack.checks ||= areChecksOther;
      this.#setRow(shard, { changedAt: sequence, hasUpTo: row?.hasUpTo ?? 0 });
    }
  }

  get lacking(): [shard: number, lack: Lack][] {
    return [...this.#lacks];
  }

  /** What the shard has for certain. */
  startOf(shard: number): Cursor {
    return { epoch: this.#cursor?.epoch ?? 0, sequence: this.#rows.get(shard)?.hasUpTo ?? 0 };
  }

  /** Whether somebody with this cursor lacks nothing of the shard. */
  isCurrent(shard: number, known: Cursor): boolean {
    const cursor = this.#cursor;
    // One without a row hears of checks by its own questions alone.
    return known.epoch === cursor?.epoch && known.sequence >= (this.#rows.get(shard)?.changedAt ?? cursor.sequence);
  }

  /** The shard has everything up to the cursor. */
  delivered(shard: number, { epoch, sequence }: Cursor): void {
    if (epoch !== this.#cursor?.epoch) return;
    this.#lacks.delete(shard);
    const changedAt = this.#rows.get(shard)?.changedAt ?? 0;
    this.#setRow(shard, { changedAt, hasUpTo: sequence });
  }

  /** A shard has a cursor of a later epoch: these rows are new, and their epoch was taken from a clock that was set back. Every shard gets everything. */
  beginAfter({ epoch }: Cursor): void {
    this.#setCursor({ epoch: epoch + 1, sequence: this.#cursor?.sequence ?? 0 });
    for (const [shard, { changedAt }] of this.#rows) {
      this.#lackOf(shard).isWhole = true;
      this.#setRow(shard, { changedAt, hasUpTo: 0 });
    }
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

  #setCursor(cursor: Cursor): void {
    this.#cursor = cursor;
    this.kept.put(CURSOR_KIND, "", cursor);
  }
}
