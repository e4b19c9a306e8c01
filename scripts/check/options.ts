/** The command line of `npm run check`. */
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { UserError } from "../serve/user-error";
import { isJson, parseCommandLine } from "../terminal/command-line";

interface CheckOptions {
  target: Target;
  repair: boolean;
  /** how long a repair may take */
  waitMs: number;
  json: boolean;
}

export const usage = `Usage: npm run check -- [options]

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
  const { values } = parseCommandLine("npm run check", {
    args,
    options: {
      ...targetOptions,
      repair: { type: "boolean", default: false },
      wait: { type: "string", default: "120" },
      output: { type: "string", default: "text" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const seconds = Number(values.wait);
  if (!/^\d{1,5}$/.test(values.wait)) throw new UserError(`--wait ${values.wait}: must be a number of seconds`);
  return { target: await targetOf(values), repair: values.repair, waitMs: seconds * 1_000, json: isJson(values.output) };
}
