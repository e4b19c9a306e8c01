/** What a controller has to know of Pods, by key and by Node. */
import type { Pod } from "../../api/meta/kubernetes";
import type { FedText, FeedReader } from "../../controllers/followed/followed-store";
import { type FactRows, KeptFacts } from "../../controllers/followed/kept-facts";

export class KeptPods<Facts extends { readonly node: string }> extends KeptFacts<Pod, Facts> {
  readonly #byNode = new Map<string, Set<string>>();

  /**
   * @param factsOf undefined = the controller has to know nothing of the Pod
   * @param isKnown whether the text of a Pod that exists says the same as the facts, as far as a search in it tells
   */
  constructor(
    rows: FactRows,
    factsOf: (pod: Pod) => Facts | undefined,
    private readonly isKnown: (facts: Facts, fed: FedText) => boolean,
  ) {
    super(rows, "pods", factsOf);
  }

  /** The names of Nodes that Pods stand on. */
  get nodes(): Iterable<string> {
    return this.#byNode.keys();
  }

  /** The keys of the Pods on a Node. */
  on(node: string): Iterable<string> {
    return this.#byNode.get(node) ?? [];
  }

  override get reader(): FeedReader {
    return {
      ...super.reader,
      passesOver: (fed) => {
        const facts = this.get(fed.key);
        return !fed.isDeleted && facts !== undefined && this.isKnown(facts, fed);
      },
    };
  }

  protected override entered(key: string, { node }: Facts): void {
    if (node !== "") this.#byNode.set(node, (this.#byNode.get(node) ?? new Set()).add(key));
  }

  protected override left(key: string, { node }: Facts): void {
    const there = this.#byNode.get(node);
    there?.delete(key);
    if (there?.size === 0) this.#byNode.delete(node);
  }
}
