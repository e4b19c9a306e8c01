/**
 * Which stores of the cluster were ever written to. A controller that has read nothing of a store asks here before it reads, so that it makes no store
 * that nobody uses. A store is known as used before its first write: one that is not known when a read begins is empty then. Where the object that knows
 * was brought back to an earlier time alone, the store's own pokes say so (store-reading.ts).
 */
import { gathered } from "../../core/turns/gathered";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";

/** Who is known; null = somebody may be missing. One that rejects, or an earlier release, says nothing. */
export type EnteredNames = () => Promise<readonly string[] | null>;

export class UsedStores {
  /** No store is unused again. */
  readonly #used = new Set<string>();
  readonly #ask: (name: string) => Promise<boolean>;

  /** @param entered makes a stub for one call; absent = every store may be used */
  constructor(clock: Pick<Clock, "after">, entered: EnteredNames | undefined) {
    this.#ask = gathered<string, boolean>({
      call: async (names) => {
        const known = entered ? await withTimeout(clock, RPC_TIMEOUT_MS, entered()).catch(() => null) : null;
        return names.map((name) => known === null || known.includes(name));
      },
      weightMax: Infinity,
      weigh: () => 1,
    });
  }

  /** Whether the store of this qualified resource held nothing when this was asked. Never rejects: in doubt it is used. */
  async isUnused(name: string): Promise<boolean> {
    if (this.#used.has(name)) return false;
    const isUsed = await this.#ask(name);
    if (isUsed) this.#used.add(name);
    return !isUsed;
  }
}
