/** The rows of a table that have a prefix, by whom they belong to and by what they overlap with. */
import { groupBy } from "../../core/base/group-by";
import { PrefixIndex } from "../topology/prefix-index";
import type { NamedPrefix } from "../topology/stored-prefix";
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

  /** Made when it is first asked for: many views answer only what a row says. */
  get index(): PrefixIndex<T> {
    return (this.#index ??= new PrefixIndex(this.rows.map((row) => ({ prefix: row.parsed, value: row }))));
  }

  /** This table's index, if it has one, with altered rows in the places of what they were; undefined when prefixes have come or gone. */
  #indexAfter({ gone, come }: Changes<T>): PrefixIndex<T> | undefined {
    if (!this.#index || gone.length !== come.length || gone.some(({ prefix }, i) => prefix !== come[i]?.prefix)) return undefined;
    const now = new Map(gone.map((row, i) => [row, come[i] ?? row]));
    return this.#index.map((row) => now.get(row) ?? row);
  }
}
