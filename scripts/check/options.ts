/** The command line of `npm run check`. */
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { beforeOptions, callOf } from "../terminal/call";
import { isJson, parseCommandLine, type ProgramOptions, wholeNumber } from "../terminal/command-line";

interface CheckOptions {
  target: Target;
  repair: boolean;
  /** how long a repair may take */
  waitMs: number;
  json: boolean;
}

const WAIT_SECONDS_MAX = 99_999;

const COMMAND = callOf("check");

/** For `parseArgs`. */
export const options = {
  ...targetOptions,
  repair: { type: "boolean", default: false },
  wait: { type: "string", default: "120" },
  output: { type: "string", default: "text" },
} satisfies ProgramOptions;

export const usage = `Usage: ${beforeOptions(COMMAND)} [options]

Checks a live cluster: whether every address and node port has one holder, every ClusterIP its IPAddress and a range, and of Servicenet whether
what its allocator has written says the same. Works with any Kubernetes API server. Changes nothing without --repair.

${targetUsage}
  --repair            begins a repair of everything, waits, and checks again
  --wait SECONDS      how long a repair may take (120)
  --output FORMAT     text, or json: the report on the standard output
  --help              this text

Exit code: 0 nothing is wrong, 1 something is, 2 it could not be checked, or not all of it.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<CheckOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    options,
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  const seconds = wholeNumber("--wait", values.wait, 0, WAIT_SECONDS_MAX);
  return { target: await targetOf(values), repair: values.repair, waitMs: seconds * 1_000, json: isJson(values.output) };
}
