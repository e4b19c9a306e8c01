/** The command line of `npm run backup`. */
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { userPath } from "../folders/user-path";
import { UserError } from "../terminal/user-error";
import { parseCommandLine } from "../terminal/command-line";
import { assertReplaceable } from "./write-file";

interface BackupOptions {
  target: Target;
  file: string;
}

export const usage = `Usage: npm run backup -- --file FILE [options]

Writes everything that a cluster's API serves, but Events, into one file of JSON Lines, for npm run restore.

  --file FILE         where to; an earlier backup there is replaced
${targetUsage}
  --help              this text

Exit code: 0 done, 1 it did not work, 2 wrong arguments, 3 done, but the addresses of the cluster contradict each other (npm run check).`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<BackupOptions | "help"> {
  const parsed = parseCommandLine("npm run backup", {
    args,
    options: { ...targetOptions, file: { type: "string" } },
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  if (!values.file) throw new UserError("no --file FILE given (npm run backup -- --help shows the options)");
  const file = userPath(values.file);
  assertReplaceable(file);
  return { target: await targetOf(values), file };
}
