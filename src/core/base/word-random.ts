import { assert } from "./assert";
import type { Random } from "./ports";

const WORD = 2 ** 32;
/** Number of the integers from 0 that a Number represents exactly. */
const SAFE = 2 ** 53;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * The Random port over a source of uniform 32-bit words: the platform's cryptographic one in production, a seeded one in tests.
 * `below` and `belowBig` draw and reject instead of taking a remainder, so every value is exactly equally likely.
 */
export class WordRandom implements Random {
  readonly #word: () => number;

  /** @param word answers integers uniform in [0, 2^32) */
  constructor(word: () => number) {
    this.#word = word;
  }

  next(): number {
    return this.#bits53() / SAFE;
  }

  below(bound: number): number {
    assert(Number.isSafeInteger(bound) && bound >= 1, "a bound is a positive safe integer");
    const space = bound <= WORD ? WORD : SAFE;
    const limit = space - (space % bound);
    for (;;) {
      const drawn = space === WORD ? this.#word() : this.#bits53();
      if (drawn < limit) return drawn % bound;
    }
  }

  belowBig(bound: bigint): bigint {
    assert(bound >= 1n, "a bound is at least 1");
    if (bound <= BigInt(Number.MAX_SAFE_INTEGER)) return BigInt(this.below(Number(bound)));
    const bits = (bound - 1n).toString(2).length;
    for (;;) {
      let drawn = 0n;
      for (let have = 0; have < bits; have += 32) drawn = (drawn << 32n) | BigInt(this.#word());
      drawn = BigInt.asUintN(bits, drawn);
      if (drawn < bound) return drawn;
    }
  }

  uuid(): string {
    const [a, b, c, d] = [this.#word(), this.#word(), this.#word(), this.#word()] as const;
    const version = (b & 0xffff_0fff) | 0x4000;
    const variant = (c & 0x3fff_ffff) | 0x8000_0000;
    return `${hex(a, 24)}${hex(a, 16)}${hex(a, 8)}${hex(a, 0)}-${hex(b, 24)}${hex(b, 16)}-${hex(version, 8)}${hex(version, 0)}-${hex(variant, 24)}${hex(variant, 16)}-${hex(c, 8)}${hex(c, 0)}${hex(d, 24)}${hex(d, 16)}${hex(d, 8)}${hex(d, 0)}`;
  }

  #bits53(): number {
    return (this.#word() >>> 11) * WORD + this.#word();
  }
}

/** The byte of `word` that starts at bit `shift`, as two digits. */
function hex(word: number, shift: number): string {
  return HEX[(word >>> shift) & 255] ?? "";
}
