const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Leaves the signals that end a program to `stop` alone. */
export function ownSignals(stop: () => void): void {
  for (const signal of signals) process.on(signal, stop);
}
