/** The command line of `npm run import`. */
import { parseArgs } from "node:util";
import { UserError } from "../serve/user-error";

interface ImportOptions {
  /** of the cluster, without a slash at its end */
  url: string;
  dryRun: boolean;
  json: boolean;
  files: string[];
}

export const usage = `Usage: npm run import -- [options] FILE...

Takes over what is in dumps of a live cluster: kubectl get namespaces,servicecidrs,ipaddresses,services -A -o json (or yaml), and
RangeAllocations of the old allocators. FILE is - for the standard input. What is there already stays as it is.

  --server URL        where Servicenet answers (http://127.0.0.1:8787)
  --cluster NAME      the cluster there (default)
  --dry-run           only says what would be done, and every conflict; changes nothing
  --json              the report as JSON
  --help              this text

Exit code: 0 everything is there now, 1 there are conflicts (the rest was imported), 2 it did not work.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export function parseOptions(args: string[]): ImportOptions | "help" {
  const { values, positionals } = parse(args);
  if (values.help) return "help";
  if (positionals.length === 0) throw new UserError("no FILE given (npm run import -- --help shows the options)");
  if (!/^https?:\/\//.test(values.server) || !URL.canParse(values.server)) throw new UserError(`--server ${values.server}: must be a URL`);
  const server = values.server.replace(/\/+$/, "");
  if (values.cluster !== undefined && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(values.cluster))
    throw new UserError(`--cluster ${values.cluster}: must be a DNS label`);
  const url = values.cluster === undefined ? server : `${server}/clusters/${values.cluster}`;
  return { url, dryRun: values["dry-run"], json: values.json, files: positionals };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        server: { type: "string", default: "http://127.0.0.1:8787" },
        cluster: { type: "string" },
        "dry-run": { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new UserError(
      `${error instanceof Error ? error.message.split("\n")[0] : String(error)} (npm run import -- --help shows the options)`,
    );
  }
}
