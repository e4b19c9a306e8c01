/**
 * Which deaths an enumeration (write-path.ts) has at each await. Before a release each object dies before and after it. Otherwise it dies in one of the
 * two ways, by the number of the await and the seed: seeds that are even, and those that are odd, have each other's ways.
 */
import type { Death } from "./deaths";
import { isRelease } from "./is-release";

const env = (import.meta as { env?: Record<string, string | undefined> }).env ?? {};
const WAYS = ["before", "after"] as const;
/** All who may die; neighbours die in different ways at the same await. */
const ALL: readonly Death["who"][] = ["all", "called", "caller"];

/** .ci/run has one of the commit, and `SEED=<n>` repeats it. */
export const seed = Number(env["SEED"] || env["SIM_FIRST_SEED"] || "1");

/** The number of deaths at one await. */
export const FORMS = isRelease ? WAYS.length : 1;

export function formsOf(death: Omit<Death, "when">): Death[] {
  const first = seed + death.nth + ALL.indexOf(death.who);
  return Array.from({ length: FORMS }, (_, i) => ({ ...death, when: WAYS[(first + i) % WAYS.length] ?? "before" }));
}
