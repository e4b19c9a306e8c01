/** The command line of `npm run soak`. */
import { parseCommandLine, wholeNumber } from "../../terminal/command-line";

export interface SoakOptions {
  seconds: number;
  /** creates of Services in a second, and as many deletes */
  rate: number;
  kills: boolean;
  seed: number;
  aliveMax: number;
  watchers: number;
}

const SEED_MAX = 2 ** 31 - 1;

const ALIVE_MAX = 20_000;
const WATCHERS = 200;

export const usage = `Usage: npm run soak -- [options]

Keeps one server busy for a long time, with data of its own on loopback: Services are created and deleted, at most ${String(ALIVE_MAX)} at once; ${String(WATCHERS)} watchers
follow them and what is made of them, some slowly, some from the objects on; 20 Nodes renew their Leases, Pods change, and ranges come and go.
Fails when a watcher misses a change, gets one twice or out of order, when an acknowledged write is lost, when the check of the cluster finds something,
when memory grows (last third of the run against the one before), or when the server's log has an error. Ctrl-C ends it early, and judges what there is.

  --minutes N         how long (30)
  --rate N            creates a second, and deletes a second (100); a slower machine leaves some out, and the report says how many
  --kills             kill -9 of the server now and then, and a new start on its data: watchers go on from where they were
  --seed N            what the load is drawn from (any)
  --help              this text

Exit code: 0 everything held, 1 something did not, 2 wrong options.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export function parseOptions(args: string[]): SoakOptions | "help" {
  const parsed = parseCommandLine("npm run soak", {
    args,
    options: {
      minutes: { type: "string", default: "30" },
      rate: { type: "string", default: "100" },
      kills: { type: "boolean", default: false },
      seed: { type: "string" },
    },
  });
  if (parsed === "help") return "help";
  const { minutes, rate, kills, seed } = parsed.values;
  return {
    seconds: 60 * wholeNumber("--minutes", minutes, 1),
    rate: wholeNumber("--rate", rate, 1),
    kills,
    seed: seed === undefined ? 1 + Math.floor(Math.random() * SEED_MAX) : wholeNumber("--seed", seed, 1, SEED_MAX),
    aliveMax: ALIVE_MAX,
    watchers: WATCHERS,
  };
}
