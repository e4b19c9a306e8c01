/** Whether random histories notice that a protection is missing. */
import { expect } from "vitest";

interface Search {
  /** says what is missing */
  name: string;
  /** Plays the history of a seed without it. */
  play: (seed: number) => Promise<{ violations: readonly string[] }>;
  /** where the search begins: rare histories are found at once by a seed that once noticed, and later by any other */
  first?: number | undefined;
  /** so many histories notice it, or the test fails */
  within: number;
}

export async function expectNoticed({ name, play, first = 1, within }: Search): Promise<void> {
  for (let seed = first; seed < first + within; seed++) {
    const { violations } = await play(seed);
    if (violations.length === 0) continue;
    console.log(`${name}: noticed by seed ${String(seed)}: ${violations[0] ?? ""}`);
    return;
  }
  expect.fail(`none of ${String(within)} histories from seed ${String(first)} fails`);
}
