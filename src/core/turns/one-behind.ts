/** Work of which one run is under way at a time, and which sees all that came before its begin. */

export class OneBehind {
  #running: Promise<void> | undefined;
  /** the run behind the one under way, for all who came during that */
  #next: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  /** Settles as a run that began after this call. */
  run(): Promise<void> {
    if (this.#next) return this.#next;
    if (!this.#running) return this.#start();
    const start = (): Promise<void> => this.#start();
    return (this.#next = this.#running.then(start, start));
  }

  #start(): Promise<void> {
    this.#next = undefined;
    const running = this.work().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
