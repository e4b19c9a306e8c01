/** Which owners may have a row that this store does not know of: those that did not answer a call for addresses, or not in time. */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import type { ServiceCIDRRpc } from "../rpc/service-cidr";

/** How long a call without an answer in time counts: it may still arrive. */
const UNANSWERED_LATELY_MS = 10 * 60_000;

type AskedOwner = Pick<ServiceCIDRRpc, "allocate" | "seed">;

export class UnansweredCalls {
  /** calls that each owner has not answered yet; what is answered is known here */
  readonly #owing = new Map<string, number>();
  /** when each owner last failed to answer one in time (ms since the epoch) */
  readonly #unansweredAt = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** The owner, with each call for addresses noted. */
  watched(uid: string, owner: AskedOwner): AskedOwner {
    return {
      allocate: (items) => this.#note(uid, owner.allocate(items)),
      seed: (epoch, items) => this.#note(uid, owner.seed(epoch, items)),
    };
  }

  /** Whether the owner owes an answer, or did lately. */
  isOwing(uid: string): boolean {
    const unansweredAt = this.#unansweredAt.get(uid) ?? -Infinity;
    return (this.#owing.get(uid) ?? 0) > 0 || unansweredAt > this.clock.now() - UNANSWERED_LATELY_MS;
  }

  /** Forgets owners that are gone. */
  keep(owners: { has(uid: string): boolean }): void {
    for (const uid of this.#unansweredAt.keys()) if (!owners.has(uid)) this.#unansweredAt.delete(uid);
  }

  async #note<T>(uid: string, call: Promise<T>): Promise<T> {
    const askedAt = this.clock.now();
    let isInTime = false;
    this.#owing.set(uid, (this.#owing.get(uid) ?? 0) + 1);
    try {
      const answer = await call;
      isInTime = this.clock.now() - askedAt < RPC_TIMEOUT_MS;
      return answer;
    } finally {
      const owing = (this.#owing.get(uid) ?? 0) - 1;
      if (owing > 0) this.#owing.set(uid, owing);
      else this.#owing.delete(uid);
      if (!isInTime) this.#unansweredAt.set(uid, this.clock.now());
    }
  }
}
