/**
 * The readiness that follows from probes (upstream pkg/kubelet/prober/worker.go). It changes when a threshold of equal results in a row is reached.
 */

export interface Thresholds {
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

export class Readiness {
  #isReady: boolean;
  #last: boolean | undefined;
  #run = 0;

  /** `isReady` holds until a threshold is reached. */
  constructor(
    private readonly thresholds: Thresholds,
    isReady: boolean,
  ) {
    this.#isReady = isReady;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Counts a result. Answers whether the readiness has changed. */
  take(isSuccess: boolean): boolean {
    this.#run = this.#last === isSuccess ? this.#run + 1 : 1;
    this.#last = isSuccess;
    const { successThreshold, failureThreshold } = this.thresholds;
    if (isSuccess === this.#isReady || this.#run < (isSuccess ? successThreshold : failureThreshold)) return false;
    this.#isReady = isSuccess;
    return true;
  }
}
