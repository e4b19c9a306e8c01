/** The command line of `npm run backup`. */
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { userPath } from "../folders/user-path";
import { UserError } from "../terminal/user-error";
import { beforeOptions, callOf } from "../terminal/call";
import { parseCommandLine, type ProgramOptions } from "../terminal/command-line";
import type { AllClusters } from "./all-clusters";
import { assertReplaceable } from "./write-file";

/** One cluster into a file, or all of a server into a folder. */
type BackupOptions = { target: Target; file: string; folder?: undefined } | (AllClusters & { file?: undefined });

const COMMAND = callOf("backup");

/** For `parseArgs`. */
export const options = {
  ...targetOptions,
  file: { type: "string" },
  all: { type: "boolean" },
  folder: { type: "string" },
} satisfies ProgramOptions;

export const usage = `Usage: ${beforeOptions(COMMAND)} --file FILE [options]
       ${beforeOptions(COMMAND)} --all --folder FOLDER [options]

Writes everything that a cluster's API serves, but Events, into one file of JSON Lines, for ${callOf("restore")}.

  --file FILE         where to; an earlier backup there is replaced
  --all               each cluster of the server, one after the other, into FOLDER/NAME.jsonl; --server is the server's own address
  --folder FOLDER     of --all; made where it is not there
${targetUsage}
  --help              this text

Exit code: 0 done, 1 it did not work, 2 wrong arguments, 3 done, but the addresses of the cluster contradict each other (${callOf("check")}).
With --all: 1 where one of the clusters could not be backed up; the others are.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<BackupOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    options,
  });
  if (parsed === "help") return "help";
  const { file, all = false, folder, cluster } = parsed.values;
  if (!all && folder !== undefined) throw new UserError("--folder: goes with --all");
  if (all && (file !== undefined || cluster !== undefined)) throw new UserError("--all: goes with neither --file nor --cluster");
  if (all && !folder) throw new UserError("--all: needs --folder FOLDER");
  if (!all && !file) throw new UserError(`no --file FILE given (${beforeOptions(COMMAND)} --help shows the options)`);
  const path = userPath((all ? folder : file) ?? "");
  if (!all) assertReplaceable(path);
  const target = await targetOf(parsed.values);
  return all ? { target, folder: path } : { target, file: path };
}
