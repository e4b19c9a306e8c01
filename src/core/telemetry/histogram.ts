/** Counts of observations by size, as Prometheus has them. */

export interface HistogramValue {
  /** observations of each bucket alone, in the order of the bounds; the last number counts those above all bounds */
  counts: number[];
  /** of all observations */
  sum: number;
}

/** Where an author of a metric names no buckets: those of Prometheus' clients. */
export const DEFAULT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `count` bounds, each twice the one before. */
export function doubledBounds(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first * 2 ** i);
}

export class Histogram {
  readonly #counts: number[];
  #sum: number;

  /**
   * `bounds`: the inclusive upper bounds of the buckets, ascending. `start`: what an earlier histogram had counted. A start with other
   * buckets is ignored.
   */
  constructor(
    private readonly bounds: readonly number[],
    start: HistogramValue = { counts: [], sum: 0 },
  ) {
    const goesOn = start.counts.length === bounds.length + 1;
    this.#counts = goesOn ? [...start.counts] : new Array<number>(bounds.length + 1).fill(0);
    this.#sum = goesOn ? start.sum : 0;
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  get value(): HistogramValue {
    return { counts: [...this.#counts], sum: this.#sum };
  }
}
