/** Facts of Pods by key and by Node: fed by the Pods' store, and kept as rows. */
import type { Pod } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { FeedReader, FedText } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";

const KIND = "pods";

export class KeptPods<Facts extends { readonly node: string }> {
  readonly #pods = new Map<string, Facts>();
  readonly #byNode = new Map<string, Set<string>>();
  #isLoaded = false;

  /**
   * @param factsOf undefined = nothing has to be known of the Pod
   * @param isKnown whether the text of a Pod that exists says what is known, as far as a search in it tells
   */
  constructor(
    private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">,
    private readonly factsOf: (pod: Pod) => Facts | undefined,
    private readonly isKnown: (facts: Facts, fed: FedText) => boolean,
  ) {}

  load(): void {
    if (this.#isLoaded) return;
    for (const [key, facts] of this.rows.saved<Facts>(KIND)) this.#enter(key, facts);
    this.#isLoaded = true;
  }

  get(key: string): Facts | undefined {
    return this.#pods.get(key);
  }

  /** The names of Nodes that Pods stand on. */
  get nodes(): Iterable<string> {
    return this.#byNode.keys();
  }

  on(node: string): Iterable<string> {
    return this.#byNode.get(node) ?? [];
  }

  get reader(): FeedReader {
    return {
      keys: () => this.#pods.keys(),
      passesOver: (fed) => {
        const facts = this.#pods.get(fed.key);
        return !fed.isDeleted && facts !== undefined && this.isKnown(facts, fed);
      },
      put: (object) => this.#put(keyOf(object), this.factsOf(object as Pod)),
      gone: (key) => this.#put(key, undefined),
    };
  }

  /** What is known of the Pod has begun to be, or ends to be. */
  protected entered(_key: string, _facts: Facts): void {
    // for those who look Pods up by more than their Node
  }
  protected left(_key: string): void {
    // as above
  }

  #put(key: string, facts: Facts | undefined): void {
    const before = this.#pods.get(key);
    if (JSON.stringify(before) === JSON.stringify(facts)) return;
    if (before) this.#leave(key, before);
    if (!facts) return this.rows.delete(KIND, key);
    this.#enter(key, facts);
    this.rows.put(KIND, key, facts, before === undefined);
  }

  #enter(key: string, facts: Facts): void {
    this.#pods.set(key, facts);
    if (facts.node !== "") this.#byNode.set(facts.node, (this.#byNode.get(facts.node) ?? new Set()).add(key));
    this.entered(key, facts);
  }

  #leave(key: string, { node }: Facts): void {
    this.#pods.delete(key);
    const there = this.#byNode.get(node);
    there?.delete(key);
    if (there?.size === 0) this.#byNode.delete(node);
    this.left(key);
  }
}
