/** The command line of `npm run deploy`: wrangler's own, of which this program reads what it checks. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { locationNamed, locationOption, locationUsage } from "../cluster/location";
import { tableIn } from "../serve/configuration/fields";
import { readTable } from "../serve/configuration/read-file";
import { readIfThere } from "../serve/private-file";
import { parseCommandLine } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";

export interface DeployOptions {
  /** wrangler's configuration */
  config: string;
  /** names that the command line and CLOUDFLARE_ENV give; wrangler takes one */
  environments: readonly string[];
  /** where the cluster `default` is to be */
  location: string | undefined;
  /** for wrangler */
  args: readonly string[];
}

/** Where wrangler looks, in its order. */
const CONFIGURATIONS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** Where wrangler looks for variables. */
const VARIABLES = [".env", ".env.local"];

/**
 * What this program reads of wrangler's options, in each form that its parser takes: a short name may have two hyphens, and stand in a group. Wrangler itself
 * refuses names that it does not know, beginnings of names included. Source: wrangler's createCLIParser.
 */
const OPTIONS = {
  env: { type: "string", short: "e", multiple: true },
  e: { type: "string", multiple: true },
  config: { type: "string", short: "c" },
  c: { type: "string" },
  cwd: { type: "string" },
  "env-file": { type: "string", multiple: true },
  ...locationOption,
} as const;

export const usage = `Usage: npm run deploy -- [options of wrangler deploy]

Deploys to Cloudflare what wrangler.toml describes (docs/deploy.md). With an administrator's token in SERVICENET_ADMIN_TOKEN it then makes the cluster
default, unless that is there.

  --env NAME          an environment of the configuration, or what CLOUDFLARE_ENV says (the top level)
  --config FILE       another configuration (wrangler.toml)
${locationUsage}
  --dry-run           bundles, and deploys nothing
  --help              this text; npx wrangler deploy --help has all options

Exit code: wrangler's; 1 the configuration has no such environment, 2 wrong options: then nothing was deployed. 1 also where the cluster default could
not be made.`;

export function parseOptions(args: string[], env: NodeJS.ProcessEnv = process.env): DeployOptions | "help" {
  const parsed = parseCommandLine("npm run deploy", {
    args,
    strict: false,
    options: OPTIONS,
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  const given = [...(values.env ?? []), ...(values.e ?? [])].map((value) => textOf("--env", value));
  const folder = values.cwd === undefined ? "" : textOf("--cwd", values.cwd);
  if (given.length === 0) assertNoFileNamesOne(folder, values["env-file"]?.map((file) => textOf("--env-file", file)) ?? VARIABLES);
  const environments = given.length > 0 ? given : [env["CLOUDFLARE_ENV"] ?? ""];
  const named = values.config ?? values.c;
  const config = named === undefined ? CONFIGURATIONS.find((name) => existsSync(join(folder, name))) : textOf("--config", named);
  const location = values.location === undefined ? undefined : locationNamed(textOf("--location", values.location));
  // Wrangler warns of a configuration with environments where nobody says that the top level is meant.
  const isTop = given.length === 0 && environments.every((name) => name === "");
  const own = isTop ? [...withoutLocation(args), "--env="] : withoutLocation(args);
  return { config: inFolder(folder, config ?? "wrangler.toml"), environments, location, args: own };
}

/** Wrangler does not know the option. */
function withoutLocation(args: readonly string[]): string[] {
  return args.filter((arg, index) => arg !== "--location" && args[index - 1] !== "--location" && !arg.startsWith("--location="));
}

/** Wrangler takes the variable of such a file where neither the command line nor the environment has it; here it has to be said where it is seen. */
function assertNoFileNamesOne(folder: string, files: readonly string[]): void {
  const file = files.find((name) => /^\s*(export\s+)?CLOUDFLARE_ENV\s*[=:]/m.test(readIfThere(inFolder(folder, name)) ?? ""));
  if (file !== undefined) throw new UserError(`${file} has CLOUDFLARE_ENV; name the environment by --env NAME`);
}

function inFolder(folder: string, path: string): string {
  return folder === "" || isAbsolute(path) ? path : join(folder, path);
}

/** Wrangler would warn, and deploy the top level under another name. */
export function assertEnvironment(config: string, environments: readonly string[]): void {
  const names = Object.keys(tableIn(tableOf(config), "env"));
  const missing = environments.find((name) => name !== "" && !names.includes(name));
  if (missing === undefined) return;
  const there = names.length === 0 ? "none" : names.join(", ");
  throw new UserError(`--env ${missing}: ${config} has no such environment (it has ${there}); nothing was deployed`);
}

function tableOf(config: string): ReturnType<typeof readTable> {
  try {
    return readTable(config);
  } catch (error) {
    throw new UserError(`--config ${config}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** `-e=NAME` is `-e NAME` to wrangler. */
function textOf(option: string, value: string | boolean): string {
  if (typeof value === "boolean") throw new UserError(`${option}: argument missing`);
  return value.replace(/^=/, "");
}
