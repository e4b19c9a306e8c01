/**
 * Addresses that pools of the root have offered, and that the cluster cannot have: its own ranges or pools have them. The next writes name them, so that the
 * root goes on behind them. Memory alone, and for a while: what had them may be gone.
 */
import type { Clock } from "../core/base/ports";

const NAMED_MS = 3_600_000;
const ADDRESSES_MAX = 250;
const POOLS_MAX = 16;

export class ImpossibleAddresses {
  /** by name of the pool and address: until when it is named */
  readonly #until = new Map<string, Map<string, number>>();

  constructor(private readonly clock: Pick<Clock, "now">) {}

  of(pool: string): string[] {
    const now = this.clock.now();
    return [...(this.#until.get(pool) ?? [])].flatMap(([address, until]) => (until > now ? [address] : []));
  }

  /** The oldest one goes where there are too many. */
  add(pool: string, address: string): void {
    const known = this.#until.get(pool) ?? new Map<string, number>();
    known.delete(address);
    known.set(address, this.clock.now() + NAMED_MS);
    const [oldest] = known.keys();
    if (known.size > ADDRESSES_MAX && oldest !== undefined) known.delete(oldest);
    this.#until.delete(pool);
    this.#until.set(pool, known);
    const [first] = this.#until.keys();
    if (this.#until.size > POOLS_MAX && first !== undefined) this.#until.delete(first);
  }
}
