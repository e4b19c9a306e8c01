import type { KubeObject, Lease } from "../../../src/api/meta/kubernetes";
import { StoreHistory } from "../../model/store-history";
import { seededRandom } from "../sim/platform/seeded-random";
import { aLease, StoreWorld, type StoreWorldOptions } from "./store-world";

const NAMESPACES = ["a", "b", "b-c"];
const NAMES = ["x", "x-1", "x1", "y", "z"];

/** A store that lives through random creates, updates, label changes and deletes, and its past as copies. */
export class RandomHistory {
  readonly world: StoreWorld;
  readonly past = new StoreHistory();
  readonly #random;

  constructor(seed: number, options: StoreWorldOptions<undefined> = {}) {
    this.world = new StoreWorld({ seed, ...options });
    this.#random = seededRandom(seed + 1_000);
    this.#remember();
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.#random.below(from.length)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  }

  below(bound: number): number {
    return this.#random.below(bound);
  }

  /** One change at least, hence one revision each. */
  async steps(count: number): Promise<void> {
    const goal = this.world.store.revision + count;
    while (this.world.store.revision < goal) {
      await this.#step();
      this.#remember();
    }
  }

  async #step(): Promise<void> {
    const { world } = this;
    const namespace = this.pick(NAMESPACES);
    const name = this.pick(NAMES);
    const labels = { color: this.pick(["red", "blue", "green"]) };
    const kind = this.below(10);
    if (kind < 4) await world.create(aLease(name, { holderIdentity: `h${this.below(100)}` }, { namespace, labels }));
    else if (kind < 6) await world.patch(name, "merge", { metadata: { labels } }, {}, namespace);
    else if (kind < 8) await world.patch(name, "merge", { spec: { holderIdentity: `h${this.below(100)}` } }, {}, namespace);
    else await world.delete(name, {}, namespace);
  }

  #remember(): void {
    this.past.remember(this.world.store.revision, this.world.storage.objectScan("", ""));
  }
}

/** A selector as a request says it and as the model applies it. */
export interface Selection {
  request: { namespace?: string; labelSelector?: string; fieldSelector?: string };
  sees(key: string, object: KubeObject): boolean;
}

export const SELECTIONS: readonly Selection[] = [
  { request: {}, sees: () => true },
  { request: { namespace: "b" }, sees: (key) => key.startsWith("b/") },
  { request: { labelSelector: "color=red" }, sees: (_, object) => object.metadata?.labels?.["color"] === "red" },
  {
    request: { namespace: "b", labelSelector: "color in (red,blue)" },
    sees: (key, object) => key.startsWith("b/") && object.metadata?.labels?.["color"] !== "green",
  },
  { request: { namespace: "a", fieldSelector: "metadata.name=x" }, sees: (key) => key === "a/x" },
  { request: { fieldSelector: "metadata.name!=x,metadata.namespace=a" }, sees: (key) => key.startsWith("a/") && key !== "a/x" },
  {
    request: { namespace: "a", fieldSelector: "metadata.name=x", labelSelector: "color=red" },
    sees: (key, object) => key === "a/x" && (object as Lease).metadata?.labels?.["color"] === "red",
  },
];
