/** The command line of `npm run fuzz`. */
import { parseCommandLine, wholeNumber } from "../../terminal/command-line";

export interface FuzzOptions {
  minutes: number;
  seed: number;
}

const SEED_MAX = 2 ** 31 - 1;

export const usage = `Usage: npm run fuzz -- [options]

Sends random requests, made of the server's own OpenAPI v3 by schemathesis, to a server of its own on loopback, with data of its own. Fails on an answer of
500, an answer that contradicts the schema, a refusal that is no Status, a connection that breaks, and an error in the server's log. Ends with a
check of the cluster. Needs Python 3.11 or newer and, the first time, PyPI.

  --minutes N         how long (60)
  --seed N            what the requests are made from (any)
  --help              this text

Exit code: 0 nothing was found, 1 something was, 2 wrong options.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export function parseOptions(args: string[]): FuzzOptions | "help" {
  const parsed = parseCommandLine("npm run fuzz", {
    args,
    options: { minutes: { type: "string", default: "60" }, seed: { type: "string" } },
  });
  if (parsed === "help") return "help";
  const { minutes, seed } = parsed.values;
  return {
    minutes: wholeNumber("--minutes", minutes, 1),
    seed: seed === undefined ? 1 + Math.floor(Math.random() * SEED_MAX) : wholeNumber("--seed", seed, 1, SEED_MAX),
  };
}
