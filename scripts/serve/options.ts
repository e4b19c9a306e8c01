/** The command line of `npm start`. */
import { parseArgs } from "node:util";
import { UserError } from "./user-error";

export interface ServeOptions {
  host: string;
  /** 0 = any free port */
  port: number;
  dataFolder: string;
  fresh: boolean;
  configPath: string;
  /** variables that replace those of the configuration file */
  vars: Record<string, string>;
}

export const usage = `Usage: npm start -- [options]

Serves Servicenet on this machine, with its data on disk.

  --port N            port to listen on (8787; 0 = any free one)
  --host ADDRESS      address to listen on (127.0.0.1)
  --data-dir FOLDER   where the data lives (.servicenet)
  --fresh             begin with empty data
  --var NAME=VALUE    replace a variable of wrangler.toml; may be repeated
  --config FILE       another wrangler configuration (wrangler.toml)
  --help              this text`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export function parseOptions(args: string[]): ServeOptions | "help" {
  const values = parse(args);
  if (values.help) return "help";
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new UserError(`--port ${values.port}: must be a number from 0 to 65535`);
  const vars: Record<string, string> = {};
  for (const assignment of values.var) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(assignment) ?? [];
    if (name === undefined || value === undefined) throw new UserError(`--var ${assignment}: must be NAME=VALUE`);
    vars[name] = value;
  }
  return { host: values.host, port, dataFolder: values["data-dir"], fresh: values.fresh, configPath: values.config, vars };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: "string", default: "8787" },
        host: { type: "string", default: "127.0.0.1" },
        "data-dir": { type: "string", default: ".servicenet" },
        fresh: { type: "boolean", default: false },
        var: { type: "string", multiple: true, default: [] },
        config: { type: "string", default: "wrangler.toml" },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${error instanceof Error ? error.message.split("\n")[0] : String(error)} (npm start -- --help shows the options)`);
  }
}
