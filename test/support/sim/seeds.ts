/**
 * Which random histories run. The environment says it, as vitest.config.ts hands it on: `SEED=<n>` runs one history alone, `SIM_HISTORIES=<n>` sets how
 * many there are. `npm test` has few of them; .ci/run has hundreds.
 */
const env = (import.meta as { env?: Record<string, string | undefined> }).env ?? {};

/** 0 = all */
export const SEED = Number(env["SEED"] || "0");

/** How many histories run where `usual` are enough for `npm test`. */
export function histories(usual: number): number {
  return Number(env["SIM_HISTORIES"] || usual);
}

/** The seeds of so many histories, or the one that is asked for. */
export function seedsOf(count: number): number[] {
  return SEED ? [SEED] : firstSeeds(count);
}

export function firstSeeds(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
