/** The command line of `npm run restore`. */
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { UserError } from "../terminal/user-error";
import { isJson, parseCommandLine } from "../terminal/command-line";

interface RestoreOptions {
  target: Target;
  file: string;
  resume: boolean;
  dryRun: boolean;
  json: boolean;
}

export const usage = `Usage: npm run restore -- --file FILE [options]

Makes an empty cluster the one that npm run backup wrote into FILE, with every address and node port, and checks it.

  --file FILE         the backup
${targetUsage}
  --resume            goes on with a restore of this file that was interrupted
  --dry-run           verifies the file and looks at the cluster; changes nothing (a new --cluster begins, empty)
  --output FORMAT     text, or json: the report on the standard output
  --help              this text

Exit code: 0 all of it is there, 1 something is not, and the report says what, 2 it did not work.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<RestoreOptions | "help"> {
  const parsed = parseCommandLine("npm run restore", {
    args,
    options: {
      ...targetOptions,
      file: { type: "string" },
      resume: { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      output: { type: "string", default: "text" },
    },
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  if (!values.file) throw new UserError("no --file FILE given (npm run restore -- --help shows the options)");
  return {
    target: await targetOf(values),
    file: values.file,
    resume: values.resume,
    dryRun: values["dry-run"],
    json: isJson(values.output),
  };
}
