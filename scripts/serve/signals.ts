const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Leaves the signals that end a program to `stop` alone. Libraries that exit the process on their own (Miniflare installs such
 * handlers when it is constructed) would cut a clean stop short, so this is called again after them.
 */
export function ownSignals(stop: () => void): void {
  for (const signal of signals) {
    process.removeAllListeners(signal);
    process.on(signal, stop);
  }
}
