/**
 * What a controller has to know of many objects: facts that stand in its rows and are read one by one, when somebody asks for one. Memory holds the keys
 * alone, each with a number, in some bytes (core/tables/text-table.ts). So a hundred thousand objects cost a few megabytes.
 */
import { TextTable } from "../../core/tables/text-table";
import type { KeptRows } from "./kept-rows";

export type FactRowsByKey = Pick<KeptRows, "loadInto" | "get" | "put" | "delete">;

/** Finds facts by more than their key. The number of a key is its own as long as it has facts. */
export interface FactIndex<Facts> {
  /** Nothing is there. */
  clear(): void;
  entered(number: number, key: string, facts: Facts): void;
  /** `facts`: as they were */
  left(number: number, key: string, facts: Facts): void;
}

export class FactsInRows<Facts extends object> {
  readonly #keys = new TextTable();

  /**
   * To be made before the rows are loaded.
   *
   * @param kind of the rows
   */
  constructor(
    private readonly rows: FactRowsByKey,
    private readonly kind: string,
    private readonly index?: FactIndex<Facts>,
  ) {
    rows.loadInto(kind, {
      begin: () => {
        this.#keys.clear();
        this.index?.clear();
      },
      take: (key, facts) => this.#enter(key, facts as Facts),
    });
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** undefined = there are none */
  get(key: string): Facts | undefined {
    return this.#keys.has(key) ? this.rows.get<Facts>(this.kind, key) : undefined;
  }

  /** Keys may come and go while they are read; those that come may be passed over. */
  get keys(): Iterable<string> {
    return this.#keys.texts();
  }

  /** of a number that is in use */
  keyOf(number: number): string {
    return this.#keys.textOf(number);
  }

  /** undefined = it has no facts */
  numberOf(key: string): number | undefined {
    return this.#keys.numberOf(key);
  }

  put(key: string, facts: Facts): void {
    const before = this.get(key);
    const number = this.#keys.numberOf(key);
    if (before && number !== undefined) this.index?.left(number, key, before);
    this.#enter(key, facts);
    this.rows.put(this.kind, key, facts, before === undefined);
  }

  /** Answers the facts that went; undefined = there were none. */
  delete(key: string): Facts | undefined {
    const before = this.get(key);
    if (!before) return undefined;
    const number = this.#keys.delete(key);
    if (number !== undefined) this.index?.left(number, key, before);
    this.rows.delete(this.kind, key);
    return before;
  }

  #enter(key: string, facts: Facts): void {
    const number = this.#keys.add(key);
    this.index?.entered(number, key, facts);
  }
}
