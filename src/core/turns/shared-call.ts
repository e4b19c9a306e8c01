/**
 * A call of which one is under way at a time, and whose answer may be shared by all who asked before it was made. One that is under way already may bring
 * a view from before, which proves nothing (hazard 18): whoever comes meanwhile shares the next one.
 */
export class SharedCall<T> {
  #running: Promise<T> | undefined;
  /** the call behind the one under way, for all who came during that */
  #next: Promise<T> | undefined;

  constructor(private readonly call: () => Promise<T>) {}

  get underWay(): Promise<T> | undefined {
    return this.#running;
  }

  /** Settles as a call that began after this. */
  begin(): Promise<T> {
    // Also in the turns between the end of one call and the begin of the next.
    if (this.#next) return this.#next;
    if (!this.#running) return this.#start();
    const start = (): Promise<T> => this.#start();
    return (this.#next = this.#running.then(start, start));
  }

  #start(): Promise<T> {
    this.#next = undefined;
    const running = this.call().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
