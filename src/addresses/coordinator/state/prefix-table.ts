/** The rows of a table with prefixes, by the uid that they belong to and by overlap. */
import { groupBy } from "../../../core/base/group-by";
import { PrefixIndex } from "../../topology/prefix-index";
import type { NamedPrefix } from "../../topology/stored-prefix";
import { changesOf, type Changes } from "./row-changes";

export class PrefixTable<T extends NamedPrefix> {
  readonly groups: ReadonlyMap<string, readonly T[]>;
  #index: PrefixIndex<T> | undefined;

  constructor(
    readonly rows: readonly T[],
    keyOf: (row: T) => string,
    before?: PrefixTable<T>,
  ) {
    this.groups = groupBy(rows, keyOf);
    if (before) this.#index = before.#indexAfter(changesOf(before.rows, rows));
  }

  /** The index is made on first use: many views never need it. */
  get index(): PrefixIndex<T> {
    return (this.#index ??= new PrefixIndex(this.rows.map((row) => ({ prefix: row.parsed, value: row }))));
  }

  /** This table's index, if it has one, with altered rows in the places of the old ones; undefined when prefixes have come or gone. */
  #indexAfter({ gone, come }: Changes<T>): PrefixIndex<T> | undefined {
    if (!this.#index || gone.length !== come.length || gone.some(({ prefix }, i) => prefix !== come[i]?.prefix)) return undefined;
    const now = new Map(gone.map((row, i) => [row, come[i] ?? row]));
    return this.#index.map((row) => now.get(row) ?? row);
  }
}
