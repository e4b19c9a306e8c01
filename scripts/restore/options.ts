/** The command line of `npm run restore`. */
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { userPath } from "../folders/user-path";
import { UserError } from "../terminal/user-error";
import { isJson, parseCommandLine } from "../terminal/command-line";

export interface RestoreOptions {
  target: Target;
  file: string;
  resume: boolean;
  dryRun: boolean;
  json: boolean;
}

/** Stores that were brought back in time, without a file. */
export interface RecoveryOptions {
  target: Target;
  /** [] = all */
  resources: string[];
  asOf: string;
  json: boolean;
}

export const usage = `Usage: npm run restore -- --file FILE [options]
       npm run restore -- --recovered RESOURCES --as-of TIME [options]

Makes an empty cluster the one that npm run backup wrote into FILE, with every address and node port, and checks it.
After point-in-time recovery of stores: has them begin above every resourceVersion that clients have seen, so that clients list anew.

  --file FILE         the backup
  --recovered NAMES   resources whose stores were brought back to an earlier time, between commas, or all: services,leases.coordination.k8s.io
  --as-of TIME        that time: 2026-01-31T12:00:00Z
${targetUsage}
  --resume            goes on with a restore of this file that was interrupted
  --dry-run           verifies the file and looks at the cluster; changes nothing (a new --cluster begins, empty)
  --output FORMAT     text, or json: the report on the standard output
  --help              this text

Exit code: 0 all of it is there, 1 something is not, and the report says what, 2 it did not work.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<RestoreOptions | RecoveryOptions | "help"> {
  const parsed = parseCommandLine("npm run restore", {
    args,
    options: {
      ...targetOptions,
      file: { type: "string" },
      recovered: { type: "string" },
      "as-of": { type: "string" },
      resume: { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      output: { type: "string", default: "text" },
    },
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  if (values.recovered !== undefined || values["as-of"] !== undefined) {
    const resources = (values.recovered ?? "").split(",").flatMap((name) => name.trim() || []);
    if (resources.length === 0 || values["as-of"] === undefined) throw new UserError("--recovered NAMES and --as-of TIME need each other");
    if (values.file || values.resume || values["dry-run"]) throw new UserError("--recovered takes no --file, --resume or --dry-run");
    const asOf = Date.parse(values["as-of"]);
    if (Number.isNaN(asOf)) throw new UserError(`--as-of ${values["as-of"]}: no time such as 2026-01-31T12:00:00Z`);
    return {
      target: await targetOf(values),
      resources: resources.includes("all") ? [] : resources,
      asOf: new Date(asOf).toISOString(),
      json: isJson(values.output),
    };
  }
  if (!values.file) throw new UserError("no --file FILE given (npm run restore -- --help shows the options)");
  return {
    target: await targetOf(values),
    file: userPath(values.file),
    resume: values.resume,
    dryRun: values["dry-run"],
    json: isJson(values.output),
  };
}
