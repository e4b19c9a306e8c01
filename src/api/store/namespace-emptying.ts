/** A store's side of the deletion of a namespace (rule 20): nothing more is created in it, then its objects go. */
import type { NamespaceRemains } from "../rpc/store";
import type { BatchedDeletion } from "./write/batched-deletion";
import { type KeyRange, namespaceRange } from "./state/keys";
import { matchingKeys } from "./list/matching-keys";
import type { NamespaceGuard } from "./write/namespace-guard";
import type { StoreEngine } from "./engine/store-engine";

/** Finalizers that the status of a namespace names, per resource: clients choose them, and the status must stay readable. */
const FINALIZERS_TOLD_MAX = 100;

export class NamespaceEmptying {
  constructor(
    private readonly store: Pick<StoreEngine<unknown>, "storage" | "internally">,
    private readonly namespaces: NamespaceGuard,
    private readonly deletion: BatchedDeletion,
  ) {}

  /**
   * Asks for the namespace first, unless it is open here. A store that has just started does not know of a successor of that name, whose objects must
   * stay. A store that has missed the end of a namespace takes the successor for it. Throws without an answer of the namespaces store; the next pass
   * closes.
   */
  async close(name: string, uid: string): Promise<void> {
    if (!(await this.namespaces.learn(name, uid)))
      throw new Error(`the namespaces store did not answer: whose name ${name} is now is unknown`);
    await this.store.internally(() => this.namespaces.close(name, uid));
  }

  /** Looks before each batch whether the namespace is still closed: a late call must not touch a successor of the same name. */
  async empty(name: string, uid: string): Promise<NamespaceRemains | "notClosed"> {
    const range = namespaceRange(name);
    const isClosed = (): boolean => this.namespaces.isClosed(name, uid);
    const keys = isClosed() ? matchingKeys(this.store, { range }) : [];
    for (const batch of this.deletion.batches(keys)) {
      if (!isClosed()) break;
      await this.deletion.delete(batch);
    }
    return isClosed() ? this.#remains(range) : "notClosed";
  }

  #remains(range: KeyRange): NamespaceRemains {
    let objects = 0;
    const finalizers = new Map<string, number>();
    matchingKeys(this.store, {
      range,
      matches({ metadata }) {
        objects++;
        for (const finalizer of new Set(metadata?.finalizers)) {
          const count = finalizers.get(finalizer) ?? 0;
          if (count > 0 || finalizers.size < FINALIZERS_TOLD_MAX) finalizers.set(finalizer, count + 1);
        }
        return false;
      },
    });
    return { objects, finalizers: [...finalizers] };
  }
}
