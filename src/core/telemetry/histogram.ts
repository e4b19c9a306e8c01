/** Counts of observations by size, as Prometheus has them. */

export interface HistogramValue {
  /** observations of each bucket alone, in the order of the bounds; the last number counts those above all bounds */
  counts: number[];
  /** of all observations */
  sum: number;
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
