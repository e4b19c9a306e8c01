/**
 * Which random histories run. The environment says it, as the configurations of Vitest hand it on: `SEED=<n>` runs one history alone, `SIM_HISTORIES=<n>`
 * sets how many there are, `SIM_FIRST_SEED=<n>` where they begin. `npm test` and .ci/run begin at a seed of the commit; .ci/run has more of them.
 */
import { expect, it } from "vitest";

const env = (import.meta as { env?: Record<string, string | undefined> }).env ?? {};

/** 0 = all */
export const SEED = Number(env["SEED"] || "0");

/** Of all seeds of a row: SIM_HISTORIES may ask for many. */
const FURTHER_MS_MAX = 600_000;

const FIRST_SEED = Number(env["SIM_FIRST_SEED"] || "1");

/** How many histories run where `usual` are enough for `npm test`. */
export function histories(usual: number): number {
  return Number(env["SIM_HISTORIES"] || usual);
}

/** The seeds of so many histories of this run, or the one that is asked for. */
export function seedsOf(count: number): number[] {
  return SEED ? [SEED] : consecutive(FIRST_SEED, count);
}

/** The seeds of so many histories that are the same in each run, since what they meet is asserted, or the one that is asked for. */
export function fixedSeedsOf(count: number): number[] {
  return SEED ? [SEED] : firstSeeds(count);
}

export function firstSeeds(count: number): number[] {
  return consecutive(1, count);
}

/** Plays one history after the other. A failure names its seed and the command that plays it alone. */
export async function playEach(seeds: readonly number[], play: (seed: number) => void | Promise<void>): Promise<void> {
  for (const seed of seeds) {
    try {
      await play(seed);
    } catch (error) {
      throw new Error(`${commandOf(seed)}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

/** A row for each fixed seed, whose title has it as `seed %i`, and one row for so many seeds of this run, whose title is the same in each. */
export function itOfSeeds(
  title: string,
  seeds: { fixed: readonly number[]; further: number },
  play: (seed: number) => void | Promise<void>,
): void {
  it.each(seeds.fixed)(title, (seed) => playEach([seed], play));
  it(title.replace("seed %i", "further seeds"), () => playEach(seedsOf(histories(seeds.further)), play), FURTHER_MS_MAX);
}

/** The command that plays the history of a seed in the file whose test runs now. */
export function commandOf(seed: number): string {
  const file = (expect.getState().testPath ?? "").slice(process.cwd().length + 1);
  return `SEED=${String(seed)} npx vitest run -c vitest.pure.config.ts ${file}`;
}

function consecutive(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}
