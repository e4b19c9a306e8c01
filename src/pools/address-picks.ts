/** Addresses, and prefixes, that were picked for claims, until their objects are heard of, and those that the store has refused. Memory alone. */
import type { PoolKey } from "../api/registry/ipam/ipam";
import { leastOf } from "../core/base/extremes";
import type { Block } from "../core/net/block";
import type { PoolSpaces } from "./known-pools";

/** What was picked for a claim. */
export interface AddressPick {
  /** of the claim */
  readonly uid: string;
  readonly pool: PoolKey;
  readonly block: Block;
}

/** Claims whose addresses are under way or unheard of. Those behind them wait for a later pass. */
const PICKS_MAX = 10_000;
/** An address that the store refused is passed over for so long: what it met may be unknown here. */
const BARRED_MS = 60_000;

export class AddressPicks {
  /** by key of a claim */
  readonly #picks = new Map<string, AddressPick>();
  /** of pools of which an address is barred; each ends in its time, or with the pool */
  readonly #barredUntil = new Map<PoolKey, number>();

  constructor(private readonly spaces: PoolSpaces) {}

  has(key: string): boolean {
    return this.#picks.has(key);
  }

  /**
   * What the claim is to have, 2^bits addresses or a unit of the pool: the same as before, if that is not lost. undefined = there is no room, or too many
   * picks are under way.
   */
  pick(key: string, uid: string, pool: PoolKey, bits: number): Block | undefined {
    const space = this.spaces.of(pool);
    const earlier = this.#picks.get(key);
    const isSame = earlier?.uid === uid && earlier.pool === pool;
    if (isSame && space.gives(earlier.block) && space.isHeldBy(earlier.block, key)) return earlier.block;
    this.drop(key);
    if (this.#picks.size >= PICKS_MAX) return undefined;
    const block = space.next(bits);
    if (!block) return undefined;
    space.take(block, key);
    this.#picks.set(key, { uid, pool, block });
    return block;
  }

  /** The pick came to nothing. */
  drop(key: string): void {
    const picked = this.#picks.get(key);
    if (!picked) return;
    this.#picks.delete(key);
    this.spaces.of(picked.pool).release(picked.block, key);
  }

  /** As `drop`, and the address is not proposed again at once. */
  bar(key: string, now: number): void {
    const picked = this.#picks.get(key);
    this.drop(key);
    if (!picked) return;
    this.spaces.of(picked.pool).bar(picked.block);
    if (!this.#barredUntil.has(picked.pool)) this.#barredUntil.set(picked.pool, now + BARRED_MS);
  }

  /** Ends picks of which `fate` knows the outcome: the object has the address, or never will. What comes late all the same, the store refuses. */
  prune(fate: (key: string, pick: AddressPick) => "open" | "taken" | "lost", now: number): void {
    for (const [key, picked] of this.#picks) {
      const found = fate(key, picked);
      if (found === "taken") this.#picks.delete(key);
      else if (found === "lost") this.drop(key);
    }
    for (const [pool, until] of this.#barredUntil) {
      if (until > now) continue;
      this.#barredUntil.delete(pool);
      this.spaces.of(pool).unbar();
    }
  }

  /** The pool is not there any more, nor is any address of it. */
  forget(pool: PoolKey): void {
    this.#barredUntil.delete(pool);
  }

  /** When refused addresses are proposed again; undefined = there are none. */
  get nextAt(): number | undefined {
    return this.#barredUntil.size > 0 ? leastOf([...this.#barredUntil.values()]) : undefined;
  }
}
