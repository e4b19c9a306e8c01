/** The command line of `npm run restore`. */
import { locationNamed, locationOption, locationUsage } from "../cluster/location";
import { type Target, targetOf, targetOptions, targetUsage, type TargetValues } from "../cluster/target";
import { userPath } from "../folders/user-path";
import { UserError } from "../terminal/user-error";
import { beforeOptions, callOf } from "../terminal/call";
import { isJson, parseCommandLine, type ProgramOptions } from "../terminal/command-line";

export interface RestoreOptions {
  target: Target;
  /** where a new cluster is to be */
  location: string | undefined;
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

/** Objects that the platform is to bring back. */
export interface RecoverOptions {
  target: Target;
  objects: string[];
  to: { time: string } | { bookmark: string };
  json: boolean;
}

const COMMAND = callOf("restore");

/** For `parseArgs`. */
export const options = {
  ...targetOptions,
  ...locationOption,
  file: { type: "string" },
  recover: { type: "string" },
  bookmark: { type: "string" },
  recovered: { type: "string" },
  "as-of": { type: "string" },
  resume: { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
  output: { type: "string", default: "text" },
} satisfies ProgramOptions;

export const usage = `Usage: ${beforeOptions(COMMAND)} --file FILE [options]
       ${beforeOptions(COMMAND)} --recover OBJECTS --as-of TIME [options]
       ${beforeOptions(COMMAND)} --recovered RESOURCES --as-of TIME [options]

Makes an empty cluster the one that ${callOf("backup")} wrote into FILE, with every address and node port, and checks it.
On Cloudflare: brings single objects back to an earlier time of the last 30 days (point-in-time recovery).
After that, of stores: has them begin above every resourceVersion that clients have seen, so that clients list anew.

  --file FILE         the backup
  --recover NAMES     objects to bring back, between commas: services, owners/UID of a ServiceCIDR, controllers/NAME
  --bookmark TEXT     instead of --as-of: the way back that a --recover has printed for one object
  --recovered NAMES   resources whose stores were brought back to an earlier time, between commas, or all: services,leases.coordination.k8s.io
  --as-of TIME        that time: 2026-01-31T12:00:00Z
${targetUsage}
${locationUsage}
  --resume            goes on with a restore of this file that was interrupted
  --dry-run           verifies the file and looks at the cluster; changes nothing (a new --cluster begins, empty)
  --output FORMAT     text, or json: the report on the standard output
  --help              this text

Exit code: 0 all of it is there, 1 something is not, and the report says what, 2 it did not work.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<RestoreOptions | RecoverOptions | RecoveryOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    options,
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  if (values.recover !== undefined || values.bookmark !== undefined) return recoverOptions(values);
  if (values.recovered !== undefined || values["as-of"] !== undefined) {
    const resources = namesIn(values.recovered);
    if (resources.length === 0 || values["as-of"] === undefined) throw new UserError("--recovered NAMES and --as-of TIME need each other");
    if (values.file || values.resume || values["dry-run"] || values.location !== undefined)
      throw new UserError("--recovered takes no --file, --resume, --dry-run or --location");
    return {
      target: await targetOf(values),
      resources: resources.includes("all") ? [] : resources,
      asOf: timeOf(values["as-of"]),
      json: isJson(values.output),
    };
  }
  if (!values.file) throw new UserError(`no --file FILE given (${beforeOptions(COMMAND)} --help shows the options)`);
  return {
    target: await targetOf(values),
    location: locationNamed(values.location),
    file: userPath(values.file),
    resume: values.resume,
    dryRun: values["dry-run"],
    json: isJson(values.output),
  };
}

interface RecoverValues extends TargetValues {
  recover?: string | undefined;
  bookmark?: string | undefined;
  "as-of"?: string | undefined;
  recovered?: string | undefined;
  file?: string | undefined;
  location?: string | undefined;
  resume: boolean;
  "dry-run": boolean;
  output: string;
}

async function recoverOptions(values: RecoverValues): Promise<RecoverOptions> {
  const { bookmark, "as-of": asOf } = values;
  const objects = namesIn(values.recover);
  if (objects.length === 0 || (asOf === undefined) === (bookmark === undefined))
    throw new UserError("--recover NAMES goes with --as-of TIME or --bookmark TEXT");
  if (bookmark !== undefined && objects.length > 1) throw new UserError("--bookmark is of one object");
  if (values.file || values.resume || values["dry-run"] || values.location !== undefined || values.recovered !== undefined)
    throw new UserError("--recover takes no --file, --resume, --dry-run, --location or --recovered");
  const to = bookmark === undefined ? { time: timeOf(asOf ?? "") } : { bookmark };
  return { target: await targetOf(values), objects, to, json: isJson(values.output) };
}

function namesIn(list = ""): string[] {
  return list.split(",").flatMap((name) => name.trim() || []);
}

function timeOf(text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UserError(`--as-of ${text}: no time such as 2026-01-31T12:00:00Z`);
  return new Date(ms).toISOString();
}
