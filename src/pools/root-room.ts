/**
 * Pools of the root that have nothing for this cluster, as the controller of pools knows them. Memory alone: after a death each is asked once more. The root
 * wakes the controller when there may be room; a poke that is lost costs the time until the next try.
 */
import type { PoolKey } from "../api/registry/ipam/ipam";
import { ROOM_AT_ROOT } from "../api/rpc/fleet-pools";
import type { StoreNews } from "../api/rpc/store";
import { leastOf } from "../core/base/extremes";
import type { Clock } from "../core/base/ports";
import type { Followed } from "../controllers/frame/frame";
import type { ClaimFinding } from "./claim-status";

/** Until a pool is asked again, unless the root says that it may have room. */
const AGAIN_MS = 300_000;

export interface RootRefusal {
  /** what claims of the pool are told; absent = nothing */
  readonly finding?: ClaimFinding;
}

/** As a store that is followed: what the root says is read by having every pool asked again. */
export class RootRoom implements Followed {
  readonly read = 0;
  readonly failure = undefined;
  wants = false;
  readonly #refusals = new Map<PoolKey, RootRefusal & { until: number }>();

  constructor(private readonly clock: Pick<Clock, "now">) {}

  get isBehind(): boolean {
    return this.wants;
  }

  hears({ store }: StoreNews): void {
    if (store === ROOM_AT_ROOT) this.wants = true;
  }

  pull(): Promise<boolean> {
    this.wants = false;
    this.#refusals.clear();
    return Promise.resolve(true);
  }

  refused(pool: PoolKey, refusal: RootRefusal): void {
    this.#refusals.set(pool, { ...refusal, until: this.clock.now() + AGAIN_MS });
  }

  /** undefined = the pool may be asked */
  refusal(pool: PoolKey): RootRefusal | undefined {
    const known = this.#refusals.get(pool);
    if (!known || known.until > this.clock.now()) return known;
    this.#refusals.delete(pool);
    return undefined;
  }

  /** When a pool is asked again, in milliseconds since the epoch; undefined = none waits. */
  get nextAt(): number | undefined {
    return this.#refusals.size > 0 ? leastOf([...this.#refusals.values()].map(({ until }) => until)) : undefined;
  }
}
