/** How long a test waits for a state of a real server that has to come, and how often it looks; both in milliseconds. */
export const PATIENCE = { timeout: 60_000, interval: 50 };
/** The same for what crons, Leases or programs that start bring. */
export const LONG_PATIENCE = { timeout: 120_000, interval: 200 };
