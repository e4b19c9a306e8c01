import type { Random } from "../../src/base/ports";

/** Reproducible randomness for tests and benchmarks: sfc32 (Chris Doty-Humphrey, PractRand), good enough for chi-square tests. */
export class SeededRandom implements Random {
  readonly #state: Uint32Array;

  constructor(readonly seed: number) {
    this.#state = new Uint32Array([seed, 0x9e3779b9, 0x243f6a88, 1]);
    for (let i = 0; i < 16; i++) this.uint32();
  }

  uint32(): number {
    const s = this.#state;
    const [a = 0, b = 0, c = 0, d = 0] = s;
    const result = (a + b + d) | 0;
    s[3] = d + 1;
    s[0] = b ^ (b >>> 9);
    s[1] = c + (c << 3);
    s[2] = ((c << 21) | (c >>> 11)) + result;
    return result >>> 0;
  }

  next(): number {
    return (this.uint32() * 2 ** 21 + (this.uint32() >>> 11)) / 2 ** 53;
  }

  below(bound: number): number {
    if (!(bound >= 1)) throw new RangeError(`below(${bound})`);
    if (bound > 2 ** 32) return Math.floor(this.next() * bound);
    // Reject the incomplete last cycle, so that small values are not favoured.
    const limit = 2 ** 32 - (2 ** 32 % bound);
    for (;;) {
      const draw = this.uint32();
      if (draw < limit) return draw % bound;
    }
  }

  belowBig(bound: bigint): bigint {
    if (bound < 1n) throw new RangeError(`belowBig(${bound})`);
    if (bound <= 0xffff_ffffn) return BigInt(this.below(Number(bound)));
    const bits = (bound - 1n).toString(2).length;
    for (;;) {
      let draw = 0n;
      for (let have = 0; have < bits; have += 32) draw = (draw << 32n) | BigInt(this.uint32());
      draw = BigInt.asUintN(bits, draw);
      if (draw < bound) return draw;
    }
  }

  uuid(): string {
    const hex = Array.from({ length: 4 }, () => this.uint32().toString(16).padStart(8, "0")).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${"89ab"[this.below(4)]}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
