/** The keys of objects whose creation is on its way. A second create of such a key waits for the first one's answer (hazard 15). */
import type { PendingWrite } from "./pending-write";

export class ReservedKeys<Supply> {
  readonly #writes = new Map<string, PendingWrite<Supply>>();

  /** Another write that is creating this key. */
  otherThan(operation: PendingWrite<Supply>, key: string): PendingWrite<Supply> | undefined {
    const holder = this.#writes.get(key);
    return holder === operation ? undefined : holder;
  }

  reserve(key: string, operation: PendingWrite<Supply>): void {
    operation.reservedKey = key;
    this.#writes.set(key, operation);
  }

  release(operation: PendingWrite<Supply>): void {
    if (this.#writes.get(operation.reservedKey) === operation) this.#writes.delete(operation.reservedKey);
  }
}
