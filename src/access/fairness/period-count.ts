/**
 * A sum of what is under way. The platform may drop a request anywhere, without running its end: what was added in a period is forgotten with the
 * period after it. Periods are numbered; only the newest one and the one before it count.
 */
export class PeriodCount {
  #period = 0;
  #ofPeriod = 0;
  #ofPeriodBefore = 0;

  get sum(): number {
    return this.#ofPeriod + this.#ofPeriodBefore;
  }

  /** The newest period, which `period` becomes if it is newer: a clock that was set back does not change the period. */
  turnTo(period: number): number {
    if (period > this.#period) {
      this.#ofPeriodBefore = period === this.#period + 1 ? this.#ofPeriod : 0;
      this.#ofPeriod = 0;
      this.#period = period;
    }
    return this.#period;
  }

  /** The part of what was added in this period that still counts. */
  counted(period: number, amount: number): number {
    return period >= this.#period - 1 ? amount : 0;
  }

  add(period: number, amount: number): void {
    const newest = this.turnTo(period);
    if (period === newest) this.#ofPeriod += amount;
    else if (period === newest - 1) this.#ofPeriodBefore += amount;
  }
}
