/** The command line of `npm start`. */
import { hostname } from "node:os";
import { join, relative, resolve } from "node:path";
import { userPath } from "../folders/user-path";
import { root } from "../running/root.mjs";
import { beforeOptions, callOf } from "../terminal/call";
import { oneOf, parseCommandLine, type ProgramOptions, wholeNumber } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";
import { checkVars } from "./check-vars";
import { type LogFormat, LOG_FORMATS } from "./log-lines";
import { isLoopback } from "./loopback";
import { ownAddress } from "./own-address";
import type { RuntimeConfig } from "./runtime";

export interface ServeOptions {
  host: string;
  /** 0 = any free port */
  port: number;
  /** names to which a server on loopback answers besides localhost and addresses */
  allowedHosts: string[];
  /** absolute path */
  dataFolder: string;
  fresh: boolean;
  /** plain HTTP on loopback, where everybody may do everything */
  isInsecure: boolean;
  /** of the Worker, with the variables of the command line */
  config: RuntimeConfig;
  log: LogFormat;
  /** how often the identity Lease is renewed */
  renewSeconds: number;
}

const PORT_MAX = 65_535;
/** All clusters share one thread here: each request under way keeps those of others waiting. */
const FAIR_REQUESTS_MIN = "3";
/** As upstream: here a renewal costs nothing. */
const LEASE_RENEW_SECONDS = "10";
const HOST_NAME = /^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$/i;

const COMMAND = callOf("serve");

/** For `parseArgs`. */
export const options = {
  port: { type: "string", default: "8787" },
  host: { type: "string", default: "127.0.0.1" },
  "allowed-host": { type: "string", multiple: true, default: [] },
  "data-dir": { type: "string" },
  fresh: { type: "boolean", default: false },
  "insecure-http": { type: "boolean", default: false },
  var: { type: "string", multiple: true, default: [] },
  config: { type: "string" },
  log: { type: "string" },
} satisfies ProgramOptions;

export const usage = `Usage: ${beforeOptions(COMMAND)} [options]

Serves Servicenet on this machine, with its data on disk. Speaks HTTPS with a certificate of its own CA, and asks for a token: the kubeconfig in the
data folder has both, and so have its files ca.crt and admin-token.

  --port N            port to listen on (8787; 0 = any free one)
  --host ADDRESS      address to listen on (127.0.0.1)
  --allowed-host NAME on loopback: answer requests to this host name, too; may be repeated
  --data-dir FOLDER   where the data lives (.servicenet)
  --fresh             begin with empty data
  --insecure-http     plain HTTP without credentials, for curl and benchmarks; on loopback alone
  --var NAME=VALUE    replace a variable of wrangler.toml; may be repeated
  --config FILE       another wrangler configuration (wrangler.toml)
  --log FORMAT        log lines as text or as json (text on a terminal, json elsewhere)
  --help              this text

Clusters are told of this machine's first address: --var ADVERTISE_ADDRESSES=192.0.2.1, or nothing behind the = for none.
So is the name of this machine in the identity Lease of the server: --var HOST_NAME=laptop, or nothing for no Lease.
Less or more of the log: --var LOG_LEVEL=warn, or debug, info, error.
Without some controllers: --var 'CONTROLLERS=*,-namespace-controller' (docs/clusters.md).
Exit code: 0 stopped, 1 it did not work, 2 wrong options or variables.`;

/** Options from the arguments, or "help". Throws UserError with one line, also for a configuration that the Worker would refuse. */
export async function parseOptions(args: string[], isTerminal = process.stdout.isTTY): Promise<ServeOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    options,
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  const port = wholeNumber("--port", values.port, 0, PORT_MAX);
  const log = oneOf("--log", values.log ?? (isTerminal ? "text" : "json"), LOG_FORMATS);
  const allowedHosts = values["allowed-host"].map(hostName);
  const vars = varsOf(values.var);
  const { host, "insecure-http": isInsecure } = values;
  if (isInsecure && !isLoopback(host))
    throw new UserError(`--insecure-http: not on ${host}; plain HTTP without credentials is for loopback alone`);
  // Help and wrong options need nothing of it.
  const { readRuntimeConfig } = await import("./runtime");
  const read = readRuntimeConfig(values.config === undefined ? ownConfig() : userPath(values.config), vars);
  const addressed = withOwn("HOST_NAME", hostname, withOwn("ADVERTISE_ADDRESSES", ownAddress, read, vars), vars);
  const fair = withOwn("FAIR_REQUESTS_MIN", () => FAIR_REQUESTS_MIN, addressed, vars);
  const config = withOwn("APISERVER_LEASE_RENEW_SECONDS", () => LEASE_RENEW_SECONDS, fair, vars);
  const { apiServerLeaseRenewSeconds: renewSeconds } = checkVars(config.vars);
  const dataFolder = resolve(values["data-dir"] === undefined ? ".servicenet" : userPath(values["data-dir"]));
  return { host, port, allowedHosts, dataFolder, fresh: values.fresh, isInsecure, config, log, renewSeconds };
}

/** The configuration of the project, wherever the program was called. */
function ownConfig(): string {
  return relative(process.cwd(), join(root, "wrangler.toml"));
}

/** The variable has what this machine says, unless the command line or the configuration has something else, or says that there is nothing. */
function withOwn(
  name: string,
  own: () => string | undefined,
  config: RuntimeConfig,
  given: Readonly<Record<string, string>>,
): RuntimeConfig {
  const value = name in given || config.vars[name] !== "" ? undefined : own();
  if (value === undefined) return config;
  const { vars, worker } = config;
  return { ...config, vars: { ...vars, [name]: value }, worker: { ...worker, bindings: { ...worker.bindings, [name]: value } } };
}

function hostName(text: string): string {
  if (HOST_NAME.test(text)) return text.toLowerCase();
  throw new UserError(`--allowed-host ${text}: must be a host name, without scheme and port`);
}

function varsOf(assignments: readonly string[]): Record<string, string> {
  const vars: Record<string, string> = {};
  for (const assignment of assignments) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(assignment) ?? [];
    if (name === undefined || value === undefined) throw new UserError(`--var ${assignment}: must be NAME=VALUE`);
    vars[name] = value;
  }
  return vars;
}
