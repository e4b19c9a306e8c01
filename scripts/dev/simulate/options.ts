/** The command line of `npm run simulate`. */
import { availableParallelism } from "node:os";
import { poolSabotages } from "../../../test/support/sim/sabotage/pool-sabotages";
import { quotaSabotages } from "../../../test/support/sim/sabotage/quota-sabotages";
import { sabotages } from "../../../test/support/sim/sabotage/sabotages";
import { oneOf, parseCommandLine, wholeNumber } from "../../terminal/command-line";

export interface SimulateOptions {
  histories: number;
  /** seed of the first history; the others have the numbers that follow */
  first: number;
  workers: number;
  /** the protection that is taken out; "" = none */
  without: string;
}

/** The names of the protections that can be taken out. */
const protections: readonly string[] = [...Object.keys(sabotages), ...Object.keys(quotaSabotages), ...Object.keys(poolSabotages)];

export const usage = `Usage: npm run simulate -- [options]

Runs random histories of a whole simulated cluster on all cores, and prints the seeds that failed and how to run one of them again.

  --histories N       how many (1000)
  --seed N            seed of the first one (1); the others have the numbers that follow
  --workers N         processes (one for each core)
  --without NAME      takes one protection out: ${protections.join(", ")}
  --help              this text

Exit code: 0 no history failed and the faults met the steps of the protocol, 1 one failed or the faults met too few steps, 2 wrong options.
With --without: 0 a history noticed, 1 none did.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export function parseOptions(args: string[]): SimulateOptions | "help" {
  const parsed = parseCommandLine("npm run simulate", {
    args,
    options: {
      histories: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      workers: { type: "string", default: String(availableParallelism()) },
      without: { type: "string", default: "" },
    },
  });
  if (parsed === "help") return "help";
  const { histories, seed, workers, without } = parsed.values;
  return {
    histories: wholeNumber("--histories", histories, 1),
    first: wholeNumber("--seed", seed, 1),
    workers: wholeNumber("--workers", workers, 1),
    without: without && oneOf("--without", without, protections),
  };
}
