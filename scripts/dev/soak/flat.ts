/** Whether memory stays as it is, by samples of a machine that does other things, too. */
import { median } from "../bench/figures";

/** A machine's noise: the last third of a run has at most so many times the memory of the third before it, */
const GROWTH_MAX = 1.15;
/** and so many MiB: those that a runtime takes and gives back by itself. */
const NOISE_MIB = 24;

export interface Flatness {
  /** medians of the three thirds, in MiB */
  thirds: readonly [number, number, number];
  isFlat: boolean;
}

/** `samples`: in MiB, evenly spaced. The first third is only shown: caches fill there. */
export function flatness(samples: readonly number[]): Flatness {
  const size = Math.floor(samples.length / 3);
  const third = (at: number): number => median(samples.slice(samples.length - (3 - at) * size, samples.length - (2 - at) * size));
  const thirds = [third(0), third(1), third(2)] as const;
  return { thirds, isFlat: size > 0 && thirds[2] <= thirds[1] * GROWTH_MAX + NOISE_MIB };
}
