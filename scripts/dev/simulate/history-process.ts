/** A process of `npm run simulate`: runs the lots of seeds that it is sent, and ends when its parent lets go of it. */
import { runSeed } from "../../../test/support/sim/histories/seed-history";
import type { WholeReport } from "../../../test/support/sim/histories/whole-history";

interface Lot {
  first: number;
  count: number;
  without: string;
}

/** What is rejected in a history, and heard by nobody. Node.js tells it when nothing else is left to do. */
const unheard: string[] = [];
process.on("unhandledRejection", (reason) => void unheard.push(`a rejection that nobody hears: ${String(reason)}`));

process.on("message", (lot) => void run(lot as Lot));

async function run({ first, count, without }: Lot): Promise<void> {
  const reports: WholeReport[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const report = await runSeed(seed, without);
    await new Promise(setImmediate);
    reports.push({ ...report, violations: [...report.violations, ...unheard.splice(0)] });
  }
  process.send?.(reports);
}
