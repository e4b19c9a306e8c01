import { bandOffset } from "../../src/core/net/band";
import type { Prefix } from "../../src/core/net/prefix";
import { lastOf } from "../../src/core/net/prefix";
import { isUsableIn } from "../../src/core/net/usable";

/** A naive model of the pool for small IPv4 segments: every query goes address by address, by the definitions. */
export class NaivePool {
  #owned: readonly Prefix[] = [];
  #ranges: readonly Prefix[] = [];
  #taken = new Set<bigint>();

  configure(owned: readonly Prefix[], ranges: readonly Prefix[]): void {
    this.#owned = owned;
    this.#ranges = ranges;
    this.#taken = new Set([...this.#taken].filter((address) => this.isOwned(address)));
  }

  isOwned(address: bigint): boolean {
    return this.#owned.some((prefix) => address >= prefix.base && address <= lastOf(prefix));
  }

  isAllocatable(address: bigint): boolean {
    return this.isOwned(address) && this.#ranges.some((range) => isUsableIn(range, "IPv4", address));
  }

  bandOf(address: bigint): "static" | "dynamic" {
    const isStatic = this.#ranges.some(
      (range) => this.isOwned(address) && isUsableIn(range, "IPv4", address) && address - range.base - 1n < BigInt(bandOffset(range)),
    );
    return isStatic ? "static" : "dynamic";
  }

  isTaken(address: bigint): boolean {
    return this.#taken.has(address);
  }

  take(address: bigint): boolean {
    if (this.#taken.has(address)) return false;
    this.#taken.add(address);
    return true;
  }

  release(address: bigint): boolean {
    return this.#taken.delete(address);
  }

  free(): { dynamic: number; static: number } {
    const free = { dynamic: 0, static: 0 };
    for (const prefix of this.#owned) {
      for (let address = prefix.base; address <= lastOf(prefix); address++) {
        if (this.isAllocatable(address) && !this.#taken.has(address)) free[this.bandOf(address)]++;
      }
    }
    return free;
  }

  takenIn(first: bigint, last: bigint): number {
    return this.taken().filter((address) => address >= first && address <= last).length;
  }

  taken(): bigint[] {
    return [...this.#taken].sort((a, b) => (a < b ? -1 : 1));
  }
}
