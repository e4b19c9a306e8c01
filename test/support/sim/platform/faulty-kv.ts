/** One KV key of which every value ever put is remembered, so that a read can be wrong in every way KV allows, and in some that it does not. */
import type { Random } from "../../../../src/core/base/ports";

export const KV_FAULTS = ["none", "lost", "delayed", "rolledBack", "damaged", "cut", "foreign", "failing"] as const;
export type KvFault = (typeof KV_FAULTS)[number];

export class FaultyKv {
  readonly #values: { at: number; bytes: Uint8Array }[] = [];

  constructor(private readonly now: () => number) {}

  /** how often anything was put */
  get puts(): number {
    return this.#values.length;
  }

  put(bytes: Uint8Array): Promise<void> {
    this.#values.push({ at: this.now(), bytes });
    return Promise.resolve();
  }

  /** What a reader gets: `foreign` is what stands under some other key. */
  read(fault: KvFault, random: Random, foreign?: Uint8Array): Promise<ArrayBuffer | null> {
    if (fault === "failing") return Promise.reject(new Error("KV is down"));
    const bytes = this.#pick(fault, random, foreign)?.slice();
    if (!bytes) return Promise.resolve(null);
    if (fault === "damaged") bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    return Promise.resolve((fault === "cut" ? bytes.slice(0, random.below(bytes.length)) : bytes).buffer);
  }

  #pick(fault: KvFault, random: Random, foreign: Uint8Array | undefined): Uint8Array | undefined {
    switch (fault) {
      case "lost":
        return undefined;
      case "foreign":
        return foreign;
      case "delayed":
        return this.#values.findLast(({ at }) => at <= this.now() - 60_000)?.bytes;
      case "rolledBack":
        return this.#values.length === 0 ? undefined : this.#values[random.below(this.#values.length)]?.bytes;
      default:
        return this.#values.at(-1)?.bytes;
    }
  }
}
