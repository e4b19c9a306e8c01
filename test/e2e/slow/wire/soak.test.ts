/** The short form of `npm run soak`. The seed is the commit's: `SEED=<n>` draws the load of another one. */
import { expect, it } from "vitest";
import { soak } from "../../../../scripts/dev/soak/run";
import { seedOfCommit } from "../../../../scripts/dev/testing/seed-of-commit";

const SECONDS = 20;
const RATE = 30;
const WATCHERS = 60;

const seed = Number(process.env["SEED"] ?? seedOfCommit());

it.each([
  ["without a restart", false],
  ["with kills", true],
])(
  `${String(WATCHERS)} watchers beside ${String(RATE)} creates and deletes a second, %s (seed ${String(seed)}): each gets every change once and in order`,
  { timeout: 400_000 },
  async (_, kills) => {
    const lines: string[] = [];
    const options = { seconds: SECONDS, rate: RATE, kills, seed, aliveMax: 1_000, watchers: WATCHERS };
    const report = await soak(options, { say: (line) => void lines.push(line), ends: new AbortController().signal });
    console.log(lines.join("\n"));
    expect(report.problems).toEqual([]);
    expect(report.kills > 0).toBe(kills);
    // On whichever machine: there is something to judge.
    expect(report.deleted).toBeGreaterThan(RATE);
    expect(report.watches).toBeGreaterThan(WATCHERS);
    expect(report.events).toBeGreaterThan(WATCHERS * RATE);
  },
);
