/** The command line of `npm run import`. */
import { locationNamed, locationOption, locationUsage } from "../cluster/location";
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { UserError } from "../terminal/user-error";
import { beforeOptions, callOf } from "../terminal/call";
import { parseCommandLine, type ProgramOptions } from "../terminal/command-line";

interface ImportOptions {
  target: Target;
  /** where a new cluster is to be */
  location: string | undefined;
  dryRun: boolean;
  json: boolean;
  files: string[];
}

const COMMAND = callOf("import");

/** For `parseArgs`. */
export const options = {
  ...targetOptions,
  ...locationOption,
  "dry-run": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} satisfies ProgramOptions;

export const usage = `Usage: ${beforeOptions(COMMAND)} [options] FILE...

Takes over what is in dumps of a live cluster: kubectl get namespaces,servicecidrs,ipaddresses,services -A -o json (or yaml; a cluster
without ServiceCIDRs: namespaces,services), and RangeAllocations of the old allocators. FILE is - for the standard input. What is there already stays as it is.

${targetUsage}
${locationUsage}
  --dry-run           only says what would be done, and every conflict; changes nothing (a new --cluster begins, empty)
  --json              the report as JSON
  --help              this text

Exit code: 0 everything is there now, 1 there are conflicts (the rest was imported), 2 it did not work.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<ImportOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    allowPositionals: true,
    options,
  });
  if (parsed === "help") return "help";
  const { values, positionals } = parsed;
  if (positionals.length === 0) throw new UserError(`no FILE given (${beforeOptions(COMMAND)} --help shows the options)`);
  const location = locationNamed(values.location);
  return { target: await targetOf(values), location, dryRun: values["dry-run"], json: values.json, files: positionals };
}
