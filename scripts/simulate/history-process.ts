/** A process of `npm run simulate`: runs the lots of seeds that it is sent, and ends when its parent lets go of it. */
import { sabotages } from "../../test/support/sim/sabotages";
import { runWholeHistory, type WholeReport } from "../../test/support/sim/whole-history";

interface Lot {
  first: number;
  count: number;
  without: string;
}

process.on("message", (lot) => void run(lot as Lot));

async function run({ first, count, without }: Lot): Promise<void> {
  const reports: WholeReport[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const sabotage = sabotages[without]?.();
    reports.push(await runWholeHistory({ seed, ...(sabotage ? { sabotage } : {}) }));
  }
  process.send?.(reports);
}
