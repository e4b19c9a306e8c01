/** The Nodes of the cluster as load balancers need them: one row for each. */
import type { Node } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { FeedReader } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { checkedAddresses, type NodeTarget, nodeTarget } from "./node-target";

const KIND = "nodes";

export class TargetNodes {
  readonly #targets = new Map<string, NodeTarget>();

  /** @param changed hears of each Node whose facts changed, and of each that came or went */
  constructor(
    private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">,
    private readonly changed: (name: string) => void,
  ) {}

  load(): void {
    for (const [name, target] of this.rows.saved<NodeTarget>(KIND)) {
      // Earlier releases kept any text.
      this.#targets.set(name, { ...target, addresses: checkedAddresses(target.addresses) });
    }
  }

  get(name: string): NodeTarget | undefined {
    return this.#targets.get(name);
  }

  get all(): Iterable<NodeTarget> {
    return this.#targets.values();
  }

  get reader(): FeedReader {
    return {
      keys: () => this.#targets.keys(),
      put: (object) => {
        const name = keyOf(object);
        const before = this.#targets.get(name);
        const target = nodeTarget(object as Node);
        if (JSON.stringify(before) === JSON.stringify(target)) return;
        this.#targets.set(name, target);
        this.rows.put(KIND, name, target, before === undefined);
        if (JSON.stringify(before?.facts) !== JSON.stringify(target.facts)) this.changed(name);
      },
      gone: (name) => {
        if (!this.#targets.delete(name)) return;
        this.rows.delete(KIND, name);
        this.changed(name);
      },
    };
  }
}
