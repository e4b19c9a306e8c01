/** A process of `npm run simulate`: runs the lots of seeds that it is sent, and ends when its parent lets go of it. */
import { runSeed } from "../../../test/support/sim/histories/seed-history";
import type { WholeReport } from "../../../test/support/sim/histories/whole-history";

interface Lot {
  first: number;
  count: number;
  without: string;
}

process.on("message", (lot) => void run(lot as Lot));

async function run({ first, count, without }: Lot): Promise<void> {
  const reports: WholeReport[] = [];
  for (let seed = first; seed < first + count; seed++) reports.push(await runSeed(seed, without));
  process.send?.(reports);
}
