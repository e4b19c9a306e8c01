/** What a controller has to know of the objects of one store, by key: fed by the store, and kept as rows. */
import type { KubeObject } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { FeedReader } from "./followed-store";
import type { KeptRows } from "./kept-rows";

export type FactRows = Pick<KeptRows, "saved" | "put" | "delete">;

export class KeptFacts<O extends KubeObject, Facts extends object> {
  readonly #facts = new Map<string, Facts>();
  #isLoaded = false;

  /**
   * @param kind of the rows
   * @param factsOf undefined = the controller has to know nothing of the object
   */
  constructor(
    private readonly rows: FactRows,
    private readonly kind: string,
    private readonly factsOf: (object: O) => Facts | undefined,
  ) {}

  load(): void {
    if (this.#isLoaded) return;
    for (const [key, facts] of this.rows.saved<Facts>(this.kind)) this.#enter(key, facts);
    this.#isLoaded = true;
  }

  get(key: string): Facts | undefined {
    return this.#facts.get(key);
  }

  /** of the objects that have facts */
  get keys(): Iterable<string> {
    return this.#facts.keys();
  }

  get reader(): FeedReader {
    return {
      keys: () => this.#facts.keys(),
      put: (object) => this.#put(keyOf(object), this.factsOf(object as O)),
      gone: (key) => this.#put(key, undefined),
    };
  }

  /** For a class that finds objects by more than their key: the object has these facts from now on. */
  protected entered(_key: string, _facts: Facts): void {
    // nothing by default
  }

  /** The object has these facts no longer. */
  protected left(_key: string, _facts: Facts): void {
    // nothing by default
  }

  #put(key: string, facts: Facts | undefined): void {
    const before = this.#facts.get(key);
    if (JSON.stringify(before) === JSON.stringify(facts)) return;
    if (before) {
      this.#facts.delete(key);
      this.left(key, before);
    }
    if (!facts) return this.rows.delete(this.kind, key);
    this.#enter(key, facts);
    this.rows.put(this.kind, key, facts, before === undefined);
  }

  #enter(key: string, facts: Facts): void {
    this.#facts.set(key, facts);
    this.entered(key, facts);
  }
}
