/** Signals that end the agent. */

/** `process`, or what stands in for it. */
interface Signalled {
  on(signal: string, handler: () => void): unknown;
}

/** A terminal signals the program, and npm, which passes the signal on: the second one soon after the first is the same. */
const SAME_MS = 1_000;

/**
 * @param clock steady ms
 * @param onStop called with the first signal
 * @param onHurry called with each that comes later: whoever asks twice does not want to wait
 */
export function stopSignals(process: Signalled, clock: () => number, onStop: () => void, onHurry: () => void): void {
  let askedAt: number | undefined;
  const take = (): void => {
    if (askedAt !== undefined) {
      if (clock() - askedAt >= SAME_MS) onHurry();
      return;
    }
    askedAt = clock();
    onStop();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, take);
}
