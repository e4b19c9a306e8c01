/** How long a test of real objects waits for a state that has to come, and how often it looks; both in milliseconds. */
export const PATIENCE = { timeout: 25_000, interval: 20 };
